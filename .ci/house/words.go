package house

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fantail/.ci/house/tree"
)

// words returns the rules on texts for people.
func (plan Plan) words() []Rule {
	text := func(s string) string { return "-- ui/a.go --\npackage ui\nconst a = " + strconv.Quote(s) + "\n" }
	hint := func(s string) string {
		return "-- ui/a.go --\npackage ui\nvar a = verb{Hint: " + strconv.Quote(s) + "}\n"
	}
	return []Rule{{
		Name: "a text on the screen is plain English", Check: checkWords,
		Bad: []string{
			text("enter takes · space picks"), text("esc closes"), text("y copies · esc back"), text(" w w wraps up "), text("Ctrl+C again leaves"), text("; u takes it back"),
			text("k kills"), text("/ finds"), text("p peeks"), text("alt+u handles"), hint("lets hold"), hint("goes there"), hint("runs now"),
			text("nobody asks"), text("it begins anew"), text("the mail is to be read"), text("it lets hold"), text("what comes is held"), text("what stands above is sent"),
			text("it shows what waits"), text("let go of it"), text("balance the books"), text("it stands in a file"), text("the turn behind it"), text("%q is no number"),
		},
		Good: []string{
			text("enter take · space select"), text("m message · / command · w w wrap up"), text("1–4 views"), text("? keys"), text("the table has keys"), hint("inbox"), hint("take"),
			text("SELECT anew FROM nobody"), text("there is no message"), text("it is no longer open"), text("x"), "-- ui/a_test.go --\npackage ui\nconst a = \"esc closes\"\n", "-- .ci/a.go --\npackage a\nconst a = \"esc closes\"\n",
		},
	}}
}

var (
	// keyDoes is a hint in the third person. Its verb may end in s if it is one of plurals.
	keyDoes = regexp.MustCompile(`(?i)(?:^|[·;]) *(?:(?:enter|esc|space|tab|delete|(?:ctrl|alt|shift)\+\S+|f\d+|w w|[b-hj-z?/!])(?: again)?) ([a-z]+s)\b`)
	does    = regexp.MustCompile(`^[a-z]+s\b`)
	plurals = []string{"keys", "views", "agents", "schedules", "tools", "tokens", "dismiss", "less", "address", "process", "is", "was", "has", "as", "this", "its", "messages", "lines"}
	// sql is a statement, and odd are words and riddles that no text uses.
	sql = regexp.MustCompile(`\b(SELECT|UPDATE|INSERT|DELETE|CREATE|PRAGMA)\b`)
	odd = regexp.MustCompile(`(?i)\b(nobody|anew|is to be|lets? hold|let go of|yet to come|balance the books|the books|stands? (in|at|above|behind|there|on)|behind (it|an?|the)|sooner|` +
		`what (stands|waits|came|comes|shows|it speaks|goes on|follows is|becomes|became))\b|(?:^|%[qs]=?|it) is no (?:[a-km-z]|l[^o])`)
)

// checkWords refuses odd words and hints in the third person.
func checkWords(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		if s.Test || !tree.Under(s.Dir, []string{"ui/..."}) || tree.Under(s.Dir, []string{"ui/cli", "ui/slash"}) || strings.HasSuffix(s.Dir, "test") {
			continue
		}
		ast.Inspect(s.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.KeyValueExpr:
				if k := tree.Name(n.Key); k == "Hint" || k == "Many" {
					if l, ok := n.Value.(*ast.BasicLit); ok && third(does.FindString(strings.Trim(l.Value, `"`))) {
						f.Add("%s: the hint %s is in the third person; write an imperative, such as \"open\"", t.At(n), l.Value)
					}
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && !sql.MatchString(text) {
					checkText(&f, t.At(n), text)
				}
			}
			return true
		})
	}
	return f
}

func checkText(f *tree.Findings, at, text string) {
	for _, m := range keyDoes.FindAllStringSubmatch(text, -1) {
		if third(m[1]) {
			f.Add("%s: %q is a hint in the third person; write an imperative, such as \"enter open\"", at, m[0])
		}
	}
	if m := odd.FindString(text); m != "" {
		f.Add("%s: %q says %q; say who does it, with a common word", at, text, m)
	}
}

func third(word string) bool { return word != "" && !slices.Contains(plurals, strings.ToLower(word)) }
