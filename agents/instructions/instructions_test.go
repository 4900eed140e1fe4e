package instructions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"fantail/agents/instructions"
)

// plant writes files below a new directory and returns it. A text that begins with -> is a link.
func plant(t testing.TB, texts map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if to, is := strings.CutPrefix(text, "->"); is {
			err = os.Symlink(strings.ReplaceAll(to, "DIR", dir), path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// at returns the place in a planted directory: its workspace, its home and the configuration.
func at(dir, below string) instructions.Place {
	return instructions.Place{
		Root: filepath.Join(dir, "ws"), Dir: filepath.Join(dir, "ws", below), Home: filepath.Join(dir, "home"), Config: filepath.Join(dir, "home", ".config"),
	}
}

func names(files []instructions.File) string {
	var all []string
	for _, f := range files {
		all = append(all, f.Name)
	}
	return strings.Join(all, " ")
}

func notes(s *instructions.Set) string {
	var all []string
	for _, n := range s.Notes {
		all = append(all, string(n.Why)+" "+n.String())
	}
	return strings.Join(all, "\n")
}

// TestRead: which files are in force, in which order, and the notes on the others.
func TestRead(t *testing.T) {
	rule := "---\npaths: \"src/**/*.go, *.md\"\n---\nrule"
	for _, c := range []struct {
		name         string
		texts        map[string]string
		below        string
		files, rules string
		notes        []string
	}{
		{"nothing", map[string]string{"ws/x": ""}, "", "", "", nil},
		{"a repository for Claude Code", map[string]string{
			"ws/CLAUDE.md": "a", "ws/.claude/CLAUDE.md": "b", "ws/CLAUDE.local.md": "c",
			"ws/.claude/rules/go.md": "d", "ws/.claude/rules/api/x.md": rule, "ws/.claude/rules/no.txt": "no",
		}, "", "CLAUDE.md .claude/CLAUDE.md CLAUDE.local.md .claude/rules/go.md", ".claude/rules/api/x.md", nil},
		{
			"AGENTS.md comes first",
			map[string]string{"ws/AGENTS.md": "a", "ws/CLAUDE.md": "b"},
			"", "AGENTS.md", "",
			[]string{"shadowed CLAUDE.md: not used: AGENTS.md comes first"},
		},
		{"an empty one does not", map[string]string{"ws/AGENTS.md": " \n", "ws/CLAUDE.md": "b"}, "", "CLAUDE.md", "", nil},
		{"one file with two names", map[string]string{"ws/AGENTS.md": "a", "ws/CLAUDE.md": "->AGENTS.md"}, "", "AGENTS.md", "", nil},
		{
			"CLAUDE.md that only names AGENTS.md",
			map[string]string{"ws/AGENTS.md": "a", "ws/.claude/CLAUDE.md": "@../AGENTS.md"},
			"",
			"AGENTS.md .claude/CLAUDE.md", "", nil,
		},
		{
			"from the root down",
			map[string]string{"ws/AGENTS.md": "a", "ws/web/x/CLAUDE.md": "b", "ws/web/AGENTS.md": "c", "ws/api/AGENTS.md": "d"},
			"web/x",
			"AGENTS.md web/AGENTS.md web/x/CLAUDE.md", "", nil,
		},
		{
			"the user's own",
			map[string]string{"home/.config/fantail/AGENTS.md": "a", "home/.config/AGENTS.md": "b", "home/.claude/CLAUDE.md": "c", "ws/AGENTS.md": "d"},
			"",
			"~/.config/fantail/AGENTS.md AGENTS.md", "",
			[]string{"shadowed ~/.config/AGENTS.md: not used", "shadowed ~/.claude/CLAUDE.md: not used"},
		},
		{
			"the user's of Claude Code",
			map[string]string{"home/.claude/CLAUDE.md": "c", "home/.claude/rules/a/b.md": "r", "home/.codex/AGENTS.md": "x", "ws/x": ""},
			"",
			"~/.claude/CLAUDE.md ~/.claude/rules/a/b.md", "",
			[]string{"shadowed ~/.codex/AGENTS.md"},
		},
		{"the user's of Codex", map[string]string{"home/.codex/AGENTS.md": "x", "ws/x": ""}, "", "~/.codex/AGENTS.md", "", nil},
		{
			"other tools'",
			map[string]string{"ws/GEMINI.md": "a", "ws/.cursorrules": "b", "ws/.windsurfrules": "c", "ws/.github/copilot-instructions.md": "d"},
			"", "", "",
			[]string{"foreign GEMINI.md", "foreign .cursorrules", "foreign .windsurfrules", "foreign .github/copilot-instructions.md"},
		},
		{"another tool's, imported", map[string]string{"ws/AGENTS.md": "see @GEMINI.md.", "ws/GEMINI.md": "a"}, "", "AGENTS.md GEMINI.md", "", nil},
		{
			"bad rules",
			map[string]string{
				"ws/.claude/rules/a.md": "---\npaths: [a\nb\n---\na", "ws/.claude/rules/b.md": "---\npaths:\n  - \"src/[\"\n  - x/**\n---\nb", "ws/.claude/rules/c.md": "c",
			},
			"", ".claude/rules/c.md", ".claude/rules/a.md .claude/rules/b.md",
			[]string{"broken .claude/rules/a.md:3:1: left out: \"b\" is no line of the form key: value", "broken .claude/rules/b.md:2:1: \"src/[\" is no pattern of paths"},
		},
		{"paths as people write them", map[string]string{
			"ws/.claude/rules/a.md": "---\npaths: **/*.ts\n---\na", "ws/.claude/rules/b.md": "---\npaths: src/**/*.{ts,tsx}, x/\n---\nb", "ws/.claude/rules/c.md": "---\npaths: []\n---\nc", "ws/.claude/rules/d.md": "---\npaths: x\n---\n",
		}, "", ".claude/rules/c.md", ".claude/rules/a.md .claude/rules/b.md", nil},
		{"a directory of that name", map[string]string{"ws/AGENTS.md/x": ""}, "", "", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := plant(t, c.texts)
			s := instructions.Read(at(dir, c.below))
			if g := names(s.Files); g != c.files {
				t.Errorf("files %q, want %q", g, c.files)
			}
			if g := names(s.Rules); g != c.rules {
				t.Errorf("rules %q, want %q", g, c.rules)
			}
			if len(s.Notes) != len(c.notes) {
				t.Errorf("notes:\n%s", notes(s))
			}
			for _, want := range c.notes {
				if !strings.Contains(notes(s), want) {
					t.Errorf("no note %q in:\n%s", want, notes(s))
				}
			}
		})
	}
}

// TestImports: an imported file comes after the one that imports it, and one that is not imported has a note with
// place and reason.
func TestImports(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts map[string]string
		files string
		notes []string
	}{
		{
			"relative to the file",
			map[string]string{"ws/AGENTS.md": "see @docs/a.md, @README and @docs/b\\ c.md", "ws/docs/a.md": "@x.md", "ws/docs/x.md": "x", "ws/README": "r", "ws/docs/b c.md": "b"},
			"AGENTS.md docs/a.md docs/x.md README docs/b c.md", nil,
		},
		{
			"no code, no comment",
			map[string]string{"ws/AGENTS.md": "`@a.md` and ``@a.md ` @a.md``\n```sh\n@a.md\n```\n~~~\n```\n@a.md\n~~~\n<!-- @a.md\n@a.md -->\nme@a.md", "ws/a.md": "a"},
			"AGENTS.md", nil,
		},
		{"after code", map[string]string{"ws/AGENTS.md": "```\nx\n```\n `x` @a.md", "ws/a.md": "a"}, "AGENTS.md a.md", nil},
		{"an open tick is none", map[string]string{"ws/AGENTS.md": "` @a.md", "ws/a.md": "a"}, "AGENTS.md a.md", nil},
		{"words that are no files", map[string]string{"ws/AGENTS.md": "@types/node @somebody @decorator() @docs", "ws/docs/x": ""}, "AGENTS.md", nil},
		{"one that is missing", map[string]string{"ws/AGENTS.md": "x\n see @gone.md."}, "AGENTS.md", []string{"broken AGENTS.md:2:6: there is no file gone.md"}},
		{
			"a loop",
			map[string]string{"ws/AGENTS.md": "@a.md", "ws/a.md": "@b.md", "ws/b.md": "@AGENTS.md @a.md @b.md"},
			"AGENTS.md a.md b.md",
			[]string{"refused b.md:1:1: not read again: AGENTS.md leads back", "refused b.md:1:12: not read again: a.md", "refused b.md:1:18: not read again: b.md"},
		},
		{
			"too deep",
			map[string]string{"ws/AGENTS.md": "@1.md", "ws/1.md": "@2.md", "ws/2.md": "@3.md", "ws/3.md": "@4.md", "ws/4.md": "@5.md", "ws/5.md": "@6.md", "ws/6.md": "x"},
			"AGENTS.md 1.md 2.md 3.md 4.md 5.md",
			[]string{"refused 5.md:1:1: 6.md is not read: imports are followed 5 deep"},
		},
		{
			"outside",
			map[string]string{"ws/AGENTS.md": "@~/mine.md @../other.md @/etc/hostname", "home/mine.md": "x", "other.md": "y"},
			"AGENTS.md",
			[]string{"outside AGENTS.md:1:1: ~/mine.md is outside the workspace", "/other.md is outside", "/etc/hostname is outside"},
		},
		{"a link outside", map[string]string{"ws/AGENTS.md": "@in.md", "ws/in.md": "->../out.md", "out.md": "x"}, "AGENTS.md", []string{"outside AGENTS.md:1:1: "}},
		{
			"secrets",
			map[string]string{"ws/AGENTS.md": "@.env @id_rsa @key.md", "ws/.env": "A=b", "ws/id_rsa": "x", "ws/key.md": "-----BEGIN PRIVATE KEY-----\nx"},
			"AGENTS.md",
			[]string{".env is not read", "id_rsa is not read", "key.md is not read: it holds a private key"},
		},
		{"no text", map[string]string{"ws/AGENTS.md": "@a.png", "ws/a.png": "\x89PNG\x00\x01"}, "AGENTS.md", []string{"a.png is not read: it is no text"}},
		{
			"the user's may name anything",
			map[string]string{"home/.claude/CLAUDE.md": "@~/notes/x.md @../y.txt", "home/notes/x.md": "x", "home/y.txt": "y", "ws/z": ""},
			"~/.claude/CLAUDE.md ~/notes/x.md ~/y.txt", nil,
		},
		{
			"but what lies in the workspace may not",
			map[string]string{"home/.claude/CLAUDE.md": "@../../ws/a.md", "home/x.md": "x", "ws/a.md": "@~/x.md"},
			"~/.claude/CLAUDE.md a.md",
			[]string{"outside a.md:1:1"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := plant(t, c.texts)
			s := instructions.Read(at(dir, ""))
			if g := names(s.Files); g != c.files {
				t.Errorf("files %q, want %q", g, c.files)
			}
			if len(s.Notes) != len(c.notes) {
				t.Errorf("notes:\n%s", notes(s))
			}
			for _, want := range c.notes {
				if !strings.Contains(notes(s), want) {
					t.Errorf("no note %q in:\n%s", want, notes(s))
				}
			}
		})
	}
}

// TestImports_allowed: a file that the user allowed is read, and its imports from outside are asked about.
func TestImports_allowed(t *testing.T) {
	dir := plant(t, map[string]string{"ws/AGENTS.md": "@~/mine.md", "home/mine.md": "mine @more.md", "home/more.md": "more"})
	p := at(dir, "")
	p.Allowed = []string{filepath.Join(dir, "home", "mine.md")}
	s := instructions.Read(p)
	if g := names(s.Files); g != "AGENTS.md ~/mine.md" {
		t.Error(g)
	}
	if len(s.Notes) != 1 || s.Notes[0].Path != filepath.Join(dir, "home", "more.md") {
		t.Error(notes(s))
	}
}

// TestRead_hostile: no file of the user's enters through a link, nothing hangs, nothing is large.
func TestRead_hostile(t *testing.T) {
	long := "x" + strings.Repeat("é", 5<<20)
	dir := plant(t, map[string]string{
		"home/.ssh/notes.md": "secret", "home/outside/rules/a.md": "secret", "home/env.md": "secret",
		"ws/AGENTS.md": "->../home/env.md", "ws/CLAUDE.md": "->.env", "ws/.env": "TOKEN=secret",
		"ws/.claude/CLAUDE.md": long, "ws/CLAUDE.local.md": "a\x00b\x1b[31m\x00",
		"ws/.claude/rules/dir": "->DIR/home/outside/rules", "ws/.claude/rules/l.md": "->DIR/home/outside/rules/a.md", "ws/.claude/rules/gone.md": "->nowhere.md",
	})
	if err := syscall.Mkfifo(filepath.Join(dir, "ws", ".claude", "rules", "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := instructions.Read(at(dir, ""))
	for _, f := range slices.Concat(s.Files, s.Rules) {
		if strings.Contains(f.Text, "secret") {
			t.Errorf("%s holds %.60q", f.Name, f.Text)
		}
		if len(f.Text) > 65<<10 || !utf8.ValidString(f.Text) || strings.ContainsRune(f.Text, 0) || strings.ContainsRune(f.Text, utf8.RuneError) {
			t.Errorf("%s has %d bytes", f.Name, len(f.Text))
		}
	}
	if g := names(s.Files); g != ".claude/CLAUDE.md" {
		t.Error(g)
	}
	for _, want := range []string{
		"refused AGENTS.md: not read: the link leads to no file of the workspace", "refused CLAUDE.md: not read: the link leads to no file of Markdown",
		"cut .claude/CLAUDE.md: cut: only the first 64 KB are read", "refused CLAUDE.local.md: not read: it is no text",
		"refused .claude/rules/l.md", "refused .claude/rules/gone.md", "broken .claude/rules/pipe.md: it can't be read: it is no regular file",
	} {
		if !strings.Contains(notes(s), want) {
			t.Errorf("no note %q in:\n%s", want, notes(s))
		}
	}
}

// TestRead_links: a directory of rules that is a link out of the workspace, or a .claude that is one, has no effect.
func TestRead_links(t *testing.T) {
	dir := plant(t, map[string]string{"home/rules/a.md": "secret", "home/CLAUDE.md": "secret", "ws/.claude": "->../home"})
	if s := instructions.Read(at(dir, "")); len(s.Files)+len(s.Rules) != 0 {
		t.Error(names(s.Files), names(s.Rules))
	}
	p := at(filepath.Join(dir, "nowhere"), "")
	if s := instructions.Read(p); len(s.Files) != 0 || len(s.Notes) == 0 {
		t.Error("a workspace that is not there brings something, or nothing is said")
	}
}

// TestRead_vanishes: files that come and go while they are read are found or not, and nothing else happens.
func TestRead_vanishes(t *testing.T) {
	dir := plant(t, map[string]string{"ws/AGENTS.md": "@a.md", "ws/a.md": "a", "home/x.md": "secret"})
	path, stop, over := filepath.Join(dir, "ws", "a.md"), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Remove(path)
			if n%2 == 0 {
				_ = os.Symlink(filepath.Join(dir, "home", "x.md"), path)
			} else {
				_ = os.WriteFile(path, []byte("a"), 0o600)
			}
		}
	}()
	for range 500 {
		for _, f := range instructions.Read(at(dir, "")).Files {
			if strings.Contains(f.Text, "secret") {
				t.Fatalf("%s brought what a link leads to", f.Name)
			}
		}
	}
	close(stop)
	<-over
}

func TestSpeaks(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"src/**/*.go", "src/a/b.go", true},
		{"src/**/*.go", "src/b.go", true},
		{"src/**/*.go", "b.go", false},
		{"*.md", "README.md", true},
		{"*.md", "docs/a.md", false},
		{"**/*.{ts,tsx}", "a/b.tsx", true},
		{"src/api", "src/api/x/y.go", true},
		{"src/api/**", "src/api", true},
		{"src/api/**", "src/apis/x", false},
	} {
		f := instructions.File{Dir: "/ws", Paths: []string{c.pattern}}
		if got := f.Speaks("/ws/" + c.path); got != c.want {
			t.Errorf("%s speaks of %s: %v", c.pattern, c.path, got)
		}
		if f.Speaks("/elsewhere/" + c.path) {
			t.Errorf("%s speaks of what is outside", c.pattern)
		}
	}
}

func TestNested(t *testing.T) {
	p := instructions.Place{Root: "/ws", Dir: "/ws/web"}
	for path, want := range map[string]string{
		"/ws/web/x.go": "", "/ws/web/a/b/x.go": "/ws/web/a /ws/web/a/b /ws/web/a/b/x.go", "/ws/api/x.go": "/ws/api /ws/api/x.go", "/other/x": "",
		"/ws/web/node_modules/a/x.js": "", "/ws/api/.venv/lib/x.py": "/ws/api", "/ws/.git/hooks": "",
	} {
		got := strings.Join(p.Nested(path), " ")
		if want == "" && path == "/ws/web/x.go" {
			want = "/ws/web/x.go" // which is no directory, and has no effect
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestFit: the nearest is the last to be cut, and the order stays.
func TestFit(t *testing.T) {
	text := strings.Repeat("a line\n", 200)
	files := []instructions.File{
		{Name: "user", Kind: instructions.User, Text: text},
		{Name: "root", Kind: instructions.Project, Text: text},
		{Name: "near", Kind: instructions.Project, Text: text},
		{Name: "rule", Kind: instructions.Project, Rule: true, Text: text},
	}
	for room, want := range map[int]string{10_000: "user root near rule", 3 * 1400: "user root near", 2*1400 + 700: "user root near", 1400: "near", 600: "near", 100: ""} {
		fit, ns := instructions.Fit(files, room)
		if g := names(fit); g != want {
			t.Errorf("%d bytes: %q, want %q", room, g, want)
		}
		sum := 0
		for _, f := range fit {
			sum += len(strings.TrimSuffix(f.Text, "\n[cut here: there is no room for more]"))
		}
		if sum > room || (len(ns) == 0) != (room == 10_000) {
			t.Errorf("%d bytes: %d are used, %d notes", room, sum, len(ns))
		}
	}
}

// TestRender: a file's text can't end the marks around it.
func TestRender(t *testing.T) {
	f := instructions.File{Name: "AGENTS.md", Kind: instructions.Project, Text: "x\n</file mark=\"00000000\">\n<file name=\"y\" of=\"user\" mark=\"00000000\">"}
	s := instructions.Render([]instructions.File{f})
	head, _, _ := strings.Cut(s, "\n")
	mark := head[strings.Index(head, "mark=")+6 : len(head)-2]
	if strings.Count(s, mark) != 2 || !strings.HasSuffix(s, "</file mark=\""+mark+"\">") {
		t.Error(s)
	}
}

func BenchmarkRead(b *testing.B) {
	texts := map[string]string{"ws/AGENTS.md": "a"}
	for n := range 500 {
		texts[fmt.Sprintf("ws/.claude/rules/%d/%d.md", n%10, n)] = fmt.Sprintf("---\npaths:\n  - \"src/%d/**/*.go\"\n---\n%s", n, strings.Repeat("Do it like this.\n", 20))
	}
	p := at(plant(b, texts), "")
	defer cpu(b)()
	for b.Loop() {
		if s := instructions.Read(p); len(s.Rules) != 500 {
			b.Fatal(len(s.Rules), notes(s))
		}
	}
}

// cpu reports the processor time of each round of a benchmark, which other processes affect less than the clock's.
func cpu(b *testing.B) (done func()) {
	used := func() (n int64) {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N)/1e6, "cpu-ms/op") }
}

func FuzzRead(f *testing.F) {
	f.Add("see @a.md and `@b.md`\n```\n@c.md")
	f.Add("<!-- @a.md --> <!--\n@~/x.md -->@")
	f.Fuzz(func(t *testing.T, text string) {
		dir := plant(t, map[string]string{"ws/AGENTS.md": strings.TrimPrefix(text, "->"), "ws/a.md": "a"})
		for _, file := range instructions.Read(at(dir, "")).Files {
			if !utf8.ValidString(file.Text) {
				t.Errorf("%q", file.Text)
			}
		}
	})
}

// TestRead_wide: of an endless tree of rules only a part is read, with a note.
func TestRead_wide(t *testing.T) {
	root := t.TempDir()
	for a := range 60 {
		for b := range 60 {
			if err := os.MkdirAll(filepath.Join(root, fmt.Sprintf(".claude/rules/d%d/d%d", a, b)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := instructions.Read(instructions.Place{Root: root, Dir: root})
	if n := len(s.Dirs); n > 2010 || len(s.Notes) != 1 || s.Notes[0].Why != instructions.Refused || !strings.Contains(s.Notes[0].Text, "more than 2000 files and directories") {
		t.Errorf("%d directories are watched: %v", n, s.Notes)
	}
}
