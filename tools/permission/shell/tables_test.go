package shell

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// hostileLines are command lines that must ask under any rules, by class: each does harm, or is of a kind that does.
func hostileLines(t testing.TB) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("../testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines, class := map[string][]string{}, ""
	for l := range strings.SplitSeq(string(data), "\n") {
		switch name, head := strings.CutPrefix(l, "# "); {
		case head:
			class = name
		case l != "":
			lines[class] = append(lines[class], l)
		}
	}
	return lines
}

// One entry too many in a table, or one too few that narrows it, fails the corpus.
func TestForms_corpusFindsARowTooMany(t *testing.T) {
	more := func(opts string) func(*form) { return func(f *form) { f.opts += " " + opts } }
	args := func(kinds string) func(*form) { return func(f *form) { f.args = kinds } }
	lines := map[string][]Command{} // by the words of the form they are of
	for _, class := range hostileLines(t) {
		for _, l := range class {
			s, err := Parse(l)
			if err != nil || s.Why != "" {
				continue
			}
			for _, c := range s.Commands {
				c = Unwrap(c)
				_, depth := known(c.Words)
				name := strings.Join(Texts(c.Words[:depth]), " ")
				lines[name] = append(lines[name], Command{Words: c.Words[depth:]})
			}
		}
	}
	for _, m := range []struct {
		of   string
		mend func(*form)
	}{
		{"go test", more("-coverprofile=path")},
		{"go test", more("-exec=path")},
		{"go test", more("-o=path")},
		{"go build", more("-ldflags=text")},
		{"go build", more("-gcflags=text")},
		{"go build", args("pkg...")},
		{"go vet", more("-vettool=path")},
		{"go list", more("-export")},
		{"go doc", more("-http")},
		{"go env", more("-w")},
		{"go env", args("word...")},
		{"go mod tidy", more("-modfile=path")},
		{"gofmt", more("-w")},
		{"gofmt", func(f *form) { f.one = "" }},
		{"staticcheck", more("-debug.trace=path")},
		{"git log", more("-p")},
		{"git log", more("--output=path")},
		{"git diff", more("-U=num")},
		{"git diff", more("--no-index")},
		{"git diff", func(f *form) { f.narrow = "" }},
		{"git diff", func(f *form) { f.after = &form{args: "path...", least: 1} }},
		{"git show", func(f *form) { f.one = "" }},
		{"git show", args("text...")},
		{"git grep", func(f *form) { f.narrow = "" }},
		{"git grep", more("-O")},
		{"git branch", more("-D=text")},
		{"git branch", args("text")},
		{"git tag -l", more("-d")},
		{"git status", more("-v")},
		{"git add", more("-f")},
		{"git commit", more("--amend")},
		{"git commit", func(f *form) { f.one = "" }},
		{"git blame", more("--contents=text")},
		{"git stash list", more("-p")},
		{"git shortlog", more("--stdin")},
		{"cat", func(f *form) { f.names = true }},
		{"tail", more("-f")},
		{"wc", more("--files0-from=path")},
		{"du", more("-X=path")},
		{"file", more("-C")},
		{"file", more("-f=path")},
		{"tree", more("-o=path")},
		{"tree", func(f *form) { f.style = gnu }},
		{"sort", more("-o=path")},
		{"sort", more("--compress-program=path")},
		{"sort", func(f *form) { f.tame = true }},
		{"uniq", args("path...")},
		{"printf", args("text...")},
		{"date", args("word")},
		{"touch", more("-r=path")},
		{"mkdir", func(f *form) { f.writes = false }},
		{"sha256sum", more("-c")},
		{"grep", func(f *form) { f.narrow, f.deep = "", "" }},
		{"grep", more("-R")},
		{"grep", more("-f=path")},
		{"grep", more("--exclude=text")},
		{"rg", func(f *form) { f.narrow = "" }},
		{"rg", more("--json")},
		{"rg", more("--pre=path")},
		{"rg", more("-u")},
		{"rg", func(f *form) { f.pattern = "--none" }},
		{"fd", more("-x")},
		{"fd", more("-H")},
		{"find", more("-delete")},
		{"find", more("-fprint=path")},
		{"jq", args("text path...")},
		{"jq", more("-f")},
		{"cargo test", more("--config=text")},
		{"cargo clippy", func(f *form) { f.after = &form{opts: "-C=text"} }},
		{"cargo test", func(f *form) { f.after = nil; f.args = "text..." }},
		{"pytest", more("-p=word")},
		{"pytest", more("--basetemp=path")},
		{"mypy", more("--html-report=path")},
		{"ruff check", more("--fix")},
		{"black --check", more("--config=path")},
		{"eslint", more("--fix")},
		{"eslint", more("-c=path")},
		{"prettier --check", more("--write")},
		{"tsc --noEmit", args("path...")},
		{"tsc --noEmit", more("--outDir=path")},
		{"gh pr list", more("--jq=text")},
		{"docker ps", more("--host=text")},
		{"shellcheck", more("-x")},
	} {
		path := strings.Fields(m.of)
		f := forms[path[0]]
		for _, sub := range path[1:] {
			f = f.subs[sub]
		}
		m.mend(&f)
		found := slices.ContainsFunc(lines[m.of], func(c Command) bool { return f.uncovered(c.Words, "/w") == "" })
		if !found {
			t.Errorf("%s with %q, operands %q: the corpus finds nothing", m.of, f.opts[max(0, len(f.opts)-20):], f.args)
		}
	}
}

// Every kind in the tables is known, and no option is listed twice: the first would hide the second, and with it
// whether a value follows.
func TestForms(t *testing.T) {
	var walk func(name string, f form)
	walk = func(name string, f form) {
		seen := map[string]bool{}
		once := func(id string) {
			if seen[id] {
				t.Errorf("%s: %s is there twice", name, id)
			}
			seen[id] = true
		}
		for _, o := range strings.Fields(f.opts) {
			id, kind, must := strings.Cut(o, "=")
			if !must {
				id, kind, _ = strings.Cut(o, "[")
				kind = strings.TrimSuffix(kind, "]")
			}
			if kind != "" && kinds[kind] == nil {
				t.Errorf("%s: %s has the unknown kind %q", name, id, kind)
			}
			if kind == "" && f.style <= apart && id[1] != '-' {
				for _, c := range id[1:] {
					once("-" + string(c))
				}
				continue
			}
			once(id)
		}
		for _, k := range strings.Fields(f.args) {
			if kinds[strings.TrimSuffix(k, "...")] == nil {
				t.Errorf("%s: an operand has the unknown kind %q", name, k)
			}
		}
		for _, o := range strings.Fields(f.one + " " + f.narrow + " " + f.deep + " " + f.pattern) {
			if _, ok := f.option(o); !ok {
				t.Errorf("%s: %s is wanted and not listed", name, o)
			}
		}
		if f.after != nil {
			walk(name+" --", *f.after)
		}
		for sub, g := range f.subs {
			if f.never[sub] != "" {
				t.Errorf("%s %s is listed and never covered", name, sub)
			}
			walk(name+" "+sub, g)
		}
	}
	for name, f := range forms {
		walk(name, f)
	}
}
