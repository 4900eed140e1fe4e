package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fantail/.ci/house/tree"
)

// names returns the rules on names and places.
func (plan Plan) names() []Rule {
	return []Rule{
		{Name: "names say what a thing is", Check: checkNames, Bad: []string{
			"-- a.go --\npackage main\ntype MailManager struct{}\n", "-- a.go --\npackage main\ntype Room struct{}\n", "-- ui/utils.go --\npackage ui\n", "-- store/common/a.go --\npackage common\n",
		}, Good: []string{"-- a.go --\npackage main\ntype Mailbox struct{}\n"}},
		{Name: "the top level holds what it may", Check: plan.checkTop, Bad: []string{"-- util/a.go --\npackage util\n", "-- Makefile --\n"}, Good: []string{"-- main.go --\npackage main\n-- .gitignore --\n"}},
		{Name: "a tool is its code and its text", Check: checkTools, Bad: []string{
			"-- tools/a.md --\nText.\n", "-- tools/a.go --\npackage tools\nvar _ = tool{name: \"a\"}\n", "-- tools/a.md --\n-- tools/all.go --\npackage tools\nvar _ = tool{name: \"a\"}\n",
		}, Good: []string{"-- tools/a.md --\n-- tools/a.go --\npackage tools\nvar _ = tool{name: \"a\"}\n"}},
		{Name: "no machine is named", Check: checkPlaces, Bad: []string{
			"-- a.go --\npackage main\nconst p = \"/root/.cache\"\n", "-- a.go --\npackage main\n// see /work/main\n", "-- README.md --\nclone it to /home/me\n",
			"-- .ci/run --\nGOPROXY=https://proxy.golang.org\n",
		}, Good: []string{"-- a_test.go --\npackage main\nconst p = \"/home/me\"\n", "-- a.go --\npackage main\nconst p = \"~/work/x /tmp /usr/bin\"\n"}},
	}
}

var badName = regexp.MustCompile(`(Manager|Handler|Service|Utils?|Common|Helpers?|Impl|Base|Room|Desk|Book|Seat)$`)

func checkNames(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		for _, part := range strings.Split(strings.TrimSuffix(s.Path, ".go"), "/") {
			switch strings.TrimSuffix(part, "_test") {
			case "util", "utils", "common", "helper", "helpers", "misc", "base", "types":
				f.Add("%s: %q names nothing; name the file or package after what is in it", s.Path, part)
			}
		}
		for _, d := range s.Syntax.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				if n := spec.(*ast.TypeSpec).Name; badName.MatchString(n.Name) {
					f.Add("%s: the type %s says what it is for software, not what it is; take a plain noun", t.At(n), n.Name)
				}
			}
		}
	}
	return f
}

func (plan Plan) checkTop(t *tree.Tree) (f tree.Findings) {
	entries, err := fs.ReadDir(t.FS, ".")
	if err != nil {
		f.Add("%v", err)
	}
	for _, e := range entries {
		if n := e.Name(); !strings.HasPrefix(n, ".") && !slices.Contains(plan.Top, n) && !strings.HasSuffix(n, ".test") && !strings.HasSuffix(n, ".out") && !strings.HasSuffix(n, ".prof") {
			f.Add("%s: the top level is fixed (%s); put it into one of the folders", n, strings.Join(plan.Top[:len(plan.Top)-1], ", "))
		}
	}
	return f
}

// checkTools pairs each tool's code with its description for the model.
func checkTools(t *tree.Tree) (f tree.Findings) {
	for _, p := range slices.Sorted(maps.Keys(t.Texts)) {
		if path.Dir(p) == "tools" && path.Ext(p) == ".md" {
			if code := strings.TrimSuffix(p, ".md") + ".go"; !t.Exists(code) {
				f.Add("%s: a description without its tool; write %s or remove it", p, code)
			}
		}
	}
	for _, s := range t.Files {
		if s.Dir != "tools" || s.Test {
			continue
		}
		ast.Inspect(s.Syntax, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || tree.Name(lit.Type) != "tool" {
				return true
			}
			for _, e := range lit.Elts {
				kv, ok := e.(*ast.KeyValueExpr)
				if !ok || tree.Name(kv.Key) != "name" {
					continue
				}
				l, ok := kv.Value.(*ast.BasicLit)
				if !ok {
					f.Add("%s: name the tool with a plain string", t.At(kv))
					continue
				}
				tool, _ := strconv.Unquote(l.Value)
				for _, ext := range []string{".go", ".md"} {
					if !t.Exists("tools/" + tool + ext) {
						f.Add("%s: the tool %s lacks tools/%s%s; one tool is one .go and one .md", t.At(l), tool, tool, ext)
					}
				}
			}
			return true
		})
	}
	return f
}

// The paths of one machine, and the hosts of package registries. Test data may name a home
// directory.
var (
	machine  = regexp.MustCompile(`(^|[^\w.~$}/:-])/(root|work|workspace|home|Users)/[A-Za-z.]`)
	homeDir  = regexp.MustCompile(`/(home|Users|root|work|workspace)/[A-Za-z.]`)
	registry = regexp.MustCompile(`(?i)(proxy|sum)\.golang\.org|goproxy\.|registry\.npmjs|pypi\.org|files\.pythonhosted|deb\.debian\.org|crates\.io`)
)

func checkPlaces(t *tree.Tree) (f tree.Findings) {
	look := func(at, text string, test bool) {
		if machine.MatchString(text) && !(test && homeDir.MatchString(text)) {
			f.Add("%s: an absolute path of one machine; take it from the environment or a temporary directory", at)
		}
		if m := registry.FindString(text); m != "" {
			f.Add("%s: %s is where one machine gets its packages; leave that to the tools' own settings", at, m)
		}
	}
	for _, s := range t.Files {
		if tree.Under(s.Dir, []string{".ci/house/..."}) {
			continue
		}
		s.Literals(func(n ast.Node, text string) { look(t.At(n), text, s.Test) })
		for _, g := range s.Syntax.Comments {
			look(t.At(g), g.Text(), s.Test)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(t.Texts)) {
		for i, line := range strings.Split(t.Texts[p], "\n") {
			look(fmt.Sprintf("%s:%d", p, i+1), line, false)
		}
	}
	return f
}
