package shell

import (
	"regexp"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// inert are variables that no program obeys as code, as a path or as options: they only affect how output looks, or who
// it is for. A variable in no table may change what runs, as GOFLAGS, PATH, LD_PRELOAD and GIT_DIR do.
var inert = map[string]bool{
	"CI": true, "TZ": true, "NO_COLOR": true, "FORCE_COLOR": true, "CLICOLOR": true, "CLICOLOR_FORCE": true, "COLUMNS": true, "LINES": true, "TERM": true,
	"LANG": true, "LC_ALL": true, "LC_COLLATE": true, "LC_CTYPE": true, "LC_MESSAGES": true, "LC_NUMERIC": true, "LC_TIME": true, "SOURCE_DATE_EPOCH": true,
	"CGO_ENABLED": true, "GOMAXPROCS": true, "GOGC": true, "GOTRACEBACK": true,
	"RUST_BACKTRACE": true, "CARGO_TERM_COLOR": true, "CARGO_INCREMENTAL": true,
	"PYTHONUNBUFFERED": true, "PYTHONDONTWRITEBYTECODE": true, "PYTHONHASHSEED": true, "PY_COLORS": true,
}

// plainValue is a value that is a word, a number or a time zone.
var plainValue = regexp.MustCompile(`^([A-Za-z0-9_,+-][A-Za-z0-9_.,+-]*(/[A-Za-z0-9_+-]+)*)?$`)

// delimiter matches the word of a here-document in which nothing is expanded.
const delimiter = `('[A-Za-z_][A-Za-z0-9_]*'|"[A-Za-z_][A-Za-z0-9_]*")`

var (
	quotedWord = regexp.MustCompile(`^` + delimiter + `$`)
	catHead    = regexp.MustCompile(`^\$\(cat[ \t]*<<[ \t]*` + delimiter + `[ \t]*\n`)
)

// constants replaces each "$(cat <<'WORD' … WORD)" in double quotes by its text: it runs and expands nothing in the
// text. It returns their number.
func constants(f *syntax.File, src string) (n int) {
	syntax.Walk(f, func(node syntax.Node) bool {
		q, is := node.(*syntax.DblQuoted)
		if !is {
			return true
		}
		for i, part := range q.Parts {
			c, is := part.(*syntax.CmdSubst)
			if !is {
				continue
			}
			if text, is := catText(c, src); is {
				q.Parts[i] = &syntax.SglQuoted{Left: c.Left, Right: c.Right, Value: text}
				n++
			}
		}
		return true
	})
	return n
}

// catText is the text of such a substitution. Besides the parsed tree it checks the letters: they must be cat, one
// here-document with a quoted word, and blanks.
func catText(c *syntax.CmdSubst, src string) (string, bool) {
	raw := src[c.Pos().Offset():c.End().Offset()]
	head := catHead.FindStringSubmatch(raw)
	if head == nil || len(c.Stmts) != 1 || len(c.Stmts[0].Redirs) != 1 || c.Stmts[0].Redirs[0].Hdoc == nil || strings.ContainsAny(raw, "\r\x00") {
		return "", false
	}
	word, rest := strings.Trim(head[1], `'"`), strings.TrimSuffix(raw[len(head[0]):], ")")
	if strings.HasPrefix(rest, word+"\n") { // the text is empty
		return "", false
	}
	body, behind, ended := strings.Cut(rest, "\n"+word+"\n")
	switch body += "\n"; {
	case strings.Contains(body, word): // bash ends the text at a line that begins so, if a bracket follows
		return "", false
	case !ended || strings.Trim(behind, " \t\n") != "" || c.Stmts[0].Redirs[0].Hdoc.Lit() != body:
		return "", false
	case runtime.GOOS == "darwin" && strings.Contains(body, ")"): // its bash ends the substitution there
		return "", false
	}
	return strings.TrimRight(body, "\n"), true
}

// document returns the text of a here-document that is standard input, if nothing in it is expanded.
func document(r *syntax.Redirect, src string) (string, bool) {
	word := src[r.Word.Pos().Offset():r.Word.End().Offset()]
	if r.Op != syntax.Hdoc || r.N != nil && r.N.Value != "0" || !quotedWord.MatchString(word) {
		return "", false
	}
	text := r.Hdoc.Lit()
	at := int(r.Hdoc.Pos().Offset())
	line, _, _ := strings.Cut(src[min(len(src), at+len(text)):], "\n")
	word = strings.Trim(word, `'"`)
	return text, strings.HasPrefix(src[at:], text) && line == word && !strings.Contains(text, word)
}

// assign records why an assignment before a command can't be covered, if so.
func (s *Script) assign(a *syntax.Assign) {
	name := a.Name.Value
	if a.Append || a.Naked || a.Index != nil || a.Array != nil || !inert[name] {
		s.Fault("an assignment to %s, which may change what runs", name)
		s.count(a)
		return
	}
	if a.Value == nil {
		return
	}
	if w := s.word(a.Value); !plainValue.MatchString(w.Text) {
		s.Fault("an assignment to %s of more than a plain word", name)
	}
}
