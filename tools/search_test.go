package tools

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/tools/files"
	"fantail/tools/permission"
)

// tree fills the workspace with files that searches must tell apart.
func tree(t testing.TB) *Runtime {
	t.Helper()
	e := place(t)
	for p, s := range map[string]string{
		".gitignore": "*.log\n/build/\n!keep.log\nnode_modules/\r\n# note\nsub/only.txt\n", "main.go": "package main\n\nfunc main() {\n\tneedle()\n}\n", "a/b.go": "needle a\n", "a.go": "needle dot\n",
		"sub/.gitignore": "secret-free.txt\n*.tmp\n", "sub/x.txt": "one\nneedle two\nthree\nNEEDLE four\nfive\nsix\nneedle seven\n", "sub/y.tmp": "needle\n", "sub/secret-free.txt": "needle\n", "sub/only.txt": "needle\n",
		"drop.log": "needle\n", "keep.log": "needle kept\n", "build/out.go": "needle\n", "a/build/in.go": "needle inner build\n", "node_modules/m/i.js": "needle\n", ".github/ci.yml": "needle ci\n",
		".git/config": "needle\n", ".git/info/exclude": "excluded.txt\n", "excluded.txt": "needle\n", ".env": "needle=SECRET\n", "conf/credentials.json": "needle SECRET\n", "bin.dat": "needle\x00\n", "crlf.txt": "needle crlf\r\nx\r\n", "long.txt": "needle " + strings.Repeat("x", 5000) + "\n", "last.txt": "no newline needle", "empty.txt": "",
	} {
		put(t, e.Root+"/"+p, s)
	}
	link(t, "main.go", e.Root+"/link.go")
	link(t, "../else", e.Root+"/outside")
	link(t, ".", e.Root+"/around")
	put(t, top(e)+"/else/n.txt", "needle OUTSIDE\n")
	return e
}

func TestGrep(t *testing.T) {
	const all = ".github/ci.yml\na/b.go\na/build/in.go\na.go\ncrlf.txt\nkeep.log\nlast.txt\nlong.txt\nmain.go\nsub/x.txt\n"
	const passed = "[2 files that may hold secrets were passed over; read_file asks for them]\n"
	for _, c := range []struct {
		name, want string
		kv         []any
	}{
		{"files", all + passed, []any{"pattern", "needle", "files_only", true}},
		{"case", "sub/x.txt:2:needle two\nsub/x.txt:4:NEEDLE four\nsub/x.txt:7:needle seven\n", []any{"pattern", "needle", "path", "sub", "ignore_case", true}},
		{"context", "sub/x.txt-3-three\nsub/x.txt:4:NEEDLE four\nsub/x.txt-5-five\n", []any{"pattern", "NEEDLE", "path", "sub", "context", 1}},
		{"two contexts", "sub/x.txt-1-one\nsub/x.txt:2:needle two\nsub/x.txt-3-three\n--\nsub/x.txt-6-six\nsub/x.txt:7:needle seven\n", []any{"pattern", "needle", "path", "sub", "context", 1}},
		{"joined contexts", "sub/x.txt-1-one\nsub/x.txt:2:needle two\nsub/x.txt-3-three\nsub/x.txt-4-NEEDLE four\nsub/x.txt-5-five\nsub/x.txt-6-six\nsub/x.txt:7:needle seven\n", []any{"pattern", "needle", "path", "sub", "context", 2}},
		{"one file", "sub/x.txt:2:needle two\nsub/x.txt:7:needle seven\n", []any{"pattern", "^needle", "path", "sub/x.txt"}},
		{"glob by name", "a/b.go:1:needle a\na/build/in.go:1:needle inner build\na.go:1:needle dot\nmain.go:4:\tneedle()\n", []any{"pattern", "needle", "glob", "*.go"}},
		{"glob by path", "a/b.go:1:needle a\na/build/in.go:1:needle inner build\n", []any{"pattern", "needle", "glob", "a/**/*.go"}},
		{"a line end", "crlf.txt:1:needle crlf\n", []any{"pattern", "crlf$", "glob", "*.txt"}},
		{"no newline", "last.txt:1:no newline needle\n", []any{"pattern", "needle$", "glob", "la*"}},
		{"a long line", "long.txt:1:needle " + strings.Repeat("x", files.SearchLineWidth-7) + " […]\n", []any{"pattern", "x{9}", "glob", "long.txt"}},
		{"an ignored directory that is named", "build/out.go:1:needle\n", []any{"pattern", "needle", "path", "build"}},
		{"below an ignored directory", "node_modules/m/i.js:1:needle\n", []any{"pattern", "needle", "path", "node_modules/m"}},
		{"nothing", "[no match in files that match *.rs]\n", []any{"pattern", "needle", "glob", "*.rs"}},
		{"limit", ".github/ci.yml:1:needle ci\na/b.go:1:needle a\n[only the first 2 matches; narrow the search with path or glob]\n", []any{"pattern", "needle", "limit", 2}},
		{"a pattern like an option", "[no match]\n", []any{"pattern", "--pre=x", "path", "sub"}},
		{"a directory through a link", "a/b.go:1:needle a\n", []any{"pattern", "needle a", "path", "around/a"}},
	} {
		for _, how := range []string{"walk", "ripgrep"} {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				e := tree(t)
				if how == "walk" {
					e.Environ = []string{"PATH=", "HOME=" + e.home()}
				} else if e.tree().Program("rg", e.path()) == "" {
					t.Skip("no ripgrep")
				}
				if got := ok(t, e, "grep", c.kv...).Text; got != c.want && strings.TrimSuffix(got, passed) != c.want && strings.TrimSuffix(got, strings.Replace(passed, "2 files", "1 files", 1)) != c.want {
					t.Errorf("%v gave\n%s\nwant\n%s", c.kv, got, c.want)
				}
			})
		}
	}
}

// A path that the human allowed is searched, secrets or not.
func TestGrep_namedSecrets(t *testing.T) {
	e := tree(t)
	put(t, top(e)+"/home/.ssh/config", "Host needle\n")
	for _, rg := range []bool{true, false} {
		if !rg {
			e.Environ = []string{"PATH=", "HOME=" + e.home()}
		}
		if r := ok(t, e, "grep", "pattern", "needle", "path", ".env"); r.Text != ".env:1:needle=SECRET\n" {
			t.Errorf("a named file gave %s", r.Text)
		}
		if r := ok(t, e, "grep", "pattern", "needle", "path", "../home/.ssh"); !strings.Contains(r.Text, "Host needle") {
			t.Errorf("a named directory gave %s", r.Text)
		}
	}
}

// A file called token is guarded as its kin are; a directory of that name is not.
func TestSecrets_bareNames(t *testing.T) {
	for _, rg := range []bool{true, false} {
		e := tree(t)
		for _, name := range []string{"token", "deploy/password", "passwd", "secret", "passwd.txt"} {
			put(t, filepath.Join(e.Root, name), "needle=SECRET\n")
			if got, err := e.tree().Target(name, permission.Read); err != nil || got.Sensitive == "" {
				t.Errorf("%s is read freely: %v", name, err)
			}
		}
		put(t, e.Root+"/pkg/token/scan.go", "needle := 1\n")
		if got, err := e.tree().Target("pkg/token", permission.Read); err != nil || got.Sensitive != "" {
			t.Errorf("a directory: %s, %v", got.Sensitive, err)
		}
		if !rg {
			e.Environ = []string{"PATH=", "HOME=" + e.home()}
		}
		if got := ok(t, e, "grep", "pattern", "needle").Text; strings.Contains(got, "SECRET") || !strings.Contains(got, "pkg/token/scan.go:1:needle") {
			t.Errorf("grep gave %s", got)
		}
	}
}

func TestGrep_trustsNoRipgrepOfTheWorkspace(t *testing.T) {
	e := tree(t)
	fake := "#!/bin/sh\ntouch " + top(e) + "/ran\n"
	for _, d := range []string{e.Root + "/tools", top(e) + "/else/bin", top(e) + "/else/linked"} {
		put(t, d+"/rg", fake)
		if err := os.Chmod(d+"/rg", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(top(e)+"/else/bin/rg", 0o777); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(top(e) + "/else/linked/rg")
	link(t, e.Root+"/tools/rg", top(e)+"/else/linked/rg")
	for _, p := range []string{e.Root + "/tools", "tools", ".", "", top(e) + "/else/bin", top(e) + "/else/linked", e.Root + "/../work/tools"} {
		e.Environ = []string{"PATH=" + p, "HOME=" + e.home()}
		if rg := e.tree().Program("rg", e.path()); rg != "" {
			t.Errorf("PATH=%s runs %s", p, rg)
		}
		ok(t, e, "grep", "pattern", "needle")
	}
	if _, err := os.Stat(top(e) + "/ran"); err == nil {
		t.Error("the workspace's ripgrep ran")
	}
}

func TestGrep_isBoundedAndStops(t *testing.T) {
	e := place(t)
	for i := range 30 {
		put(t, fmt.Sprintf("%s/f%02d.txt", e.Root, i), strings.Repeat("needle and some more text on the line\n", 1000))
	}
	for _, path := range []string{os.Getenv("PATH"), ""} {
		e.Environ = []string{"PATH=" + path}
		r := ok(t, e, "grep", "pattern", "needle", "limit", 1000, "context", 5)
		if len(r.Text) > files.MaxText+2000 || !strings.Contains(r.Text, "only the first") {
			t.Errorf("%d bytes", len(r.Text))
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if r := parse(t, e, "grep", "pattern", "nothing").Run(ctx); !r.Error || !strings.Contains(r.Text, "canceled") {
			t.Errorf("a stopped search gave %+v", r)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		kv   []any
		want string
	}{
		{[]any{"pattern", "**/*.go"}, "a/b.go\na/build/in.go\na.go\nlink.go\nmain.go\n"},
		{[]any{"pattern", "*.go"}, "a.go\nlink.go\nmain.go\n"},
		{[]any{"pattern", "a/*.go"}, "a/b.go\n"},
		{[]any{"pattern", "./a/**"}, "a/b.go\na/build/in.go\n"},
		{[]any{"pattern", "*.go", "path", "a"}, "a/b.go\n"},
		{[]any{"pattern", "**/*.{go,yml}", "path", "."}, ".github/ci.yml\na/b.go\na/build/in.go\na.go\nlink.go\nmain.go\n"},
		{[]any{"pattern", "main.go"}, "main.go\n"},
		{[]any{"pattern", "**/x.txt"}, "sub/x.txt\n"},
		{[]any{"pattern", "*.rs"}, "[no file matches *.rs; to look in all directories begin the pattern with **/]\n"},
		{[]any{"pattern", "**/y.tmp"}, "[no file matches **/y.tmp; what git ignores is left out]\n"},
		{[]any{"pattern", "build/*"}, "build/out.go\n"},
		{[]any{"pattern", ".e*"}, ".env\n"},
	} {
		e := tree(t)
		if r := ok(t, e, "glob", c.kv...); r.Text != c.want {
			t.Errorf("%v gave\n%s\nwant\n%s", c.kv, r.Text, c.want)
		}
	}
	e := tree(t)
	if r := ok(t, e, "glob", "pattern", top(e)+"/else/*.txt"); r.Text != top(e)+"/else/n.txt\n"+top(e)+"/else/other.txt\n" {
		t.Errorf("an absolute pattern gave %s", r.Text)
	}
	if says := refuses(t, e, "glob", "pattern", "none/*"); !strings.Contains(says, "none does not exist") {
		t.Errorf("a missing directory: %s", says)
	}
}

// A .gitignore in a repository need not be a file: ripgrep would wait for a pipe and read /dev/zero to the end of
// memory.
func TestGrep_ignoreFilesThatAreNone(t *testing.T) {
	for _, at := range []string{".gitignore", "a/b/.gitignore", "a/.gitignore"} {
		for _, kind := range []string{"pipe", "zero"} {
			e := place(t)
			put(t, e.Root+"/a/b/x.txt", "needle")
			if kind == "zero" {
				link(t, "/dev/zero", e.Root+"/"+at)
			} else if err := syscall.Mkfifo(e.Root+"/"+at, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, from := range []string{".", "a/b"} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				r := parse(t, e, "grep", "pattern", "needle", "path", from).Run(ctx)
				cancel()
				if r.Error || !strings.Contains(r.Text, "a/b/x.txt:1:needle") {
					t.Errorf("%s as a %s, from %s: %s", at, kind, from, r.Text)
				}
			}
		}
	}
}

// A glob that takes for ever is refused: nothing could stop it.
func TestGlob_hostilePatternsEnd(t *testing.T) {
	e := place(t)
	put(t, e.Root+"/"+strings.Repeat("a", 200), "x")
	for _, glob := range []string{"**/" + strings.Repeat("{a,aa}", 25) + "b", strings.Repeat("{", 400) + strings.Repeat("}", 400), strings.Repeat("*", 5000), "{" + strings.Repeat("a,", 500) + "b}"} {
		if s := refuses(t, e, "glob", "pattern", glob); !strings.Contains(s, "at most") {
			t.Errorf("%.40s: %s", glob, s)
		}
		if s := refuses(t, e, "grep", "pattern", "x", "glob", glob); !strings.Contains(s, "at most") {
			t.Errorf("%.40s: %s", glob, s)
		}
	}
	for _, glob := range []string{"**/" + strings.Repeat("{"+strings.Repeat("*a,", 9)+"*aa}", 4) + "b", "**/" + strings.Repeat("*a", 400) + "b", strings.Repeat("**/", 300) + "b"} {
		ok(t, e, "glob", "pattern", glob)
	}
}

func TestList(t *testing.T) {
	e := tree(t)
	r := ok(t, e, "list_files")
	for _, want := range []string{"a/\n", "main.go  40\n", "link.go -> main.go\n", "outside -> ../else\n", ".env  14\n", ".github/\n"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("%q is missing in\n%s", want, r.Text)
		}
	}
	for _, not := range []string{"drop.log", "build/\n", ".git/\n", "node_modules", "excluded.txt", "a/b.go"} {
		if strings.Contains("\n"+r.Text, "\n"+not) {
			t.Errorf("%q stands in\n%s", not, r.Text)
		}
	}
	if r := ok(t, e, "list_files", "all", true); !strings.Contains(r.Text, "drop.log") || strings.Contains(r.Text, ".git/\n") {
		t.Errorf("all gave\n%s", r.Text)
	}
	if r := ok(t, e, "list_files", "path", "a", "depth", 2); r.Text != "b.go  9\nbuild/\nbuild/in.go  19\n" {
		t.Errorf("depth 2 gave\n%s", r.Text)
	}
	if says := refuses(t, e, "list_files", "path", "main.go"); !strings.Contains(says, "not a directory") {
		t.Errorf("a file: %s", says)
	}
	for i := range listMax + 5 {
		put(t, fmt.Sprintf("%s/many/%04d", e.Root, i), "")
	}
	if r := ok(t, e, "list_files", "path", "many"); strings.Count(r.Text, "\n") != listMax+1 || !strings.Contains(r.Text, "only the first") {
		t.Errorf("many files gave %d lines", strings.Count(r.Text, "\n"))
	}
}

// Git itself decides which files a list of ignore patterns leaves.
func TestWalk_ignoresAsGitDoes(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	e := tree(t)
	for _, p := range []string{".git/config", ".git/info/exclude"} {
		_ = os.Remove(e.Root + "/" + p)
	}
	cmd := exec.Command(git, "init", "-q")
	cmd.Dir = e.Root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	put(t, e.Root+"/.git/info/exclude", "excluded.txt\n")
	cmd = exec.Command(git, "ls-files", "--others", "--exclude-standard")
	cmd.Dir, cmd.Env = e.Root, []string{"HOME=" + top(e) + "/none", "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, l := range strings.Fields(string(out)) {
		want[l] = true
	}
	got := strings.Fields(ok(t, e, "glob", "pattern", "**").Text)
	for _, l := range got {
		if !want[l] {
			t.Errorf("git ignores %s", l)
		}
		delete(want, l)
	}
	for l := range want {
		t.Errorf("git lists %s", l)
	}
}
