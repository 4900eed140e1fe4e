package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/.ci/long"
)

// ground is a workspace with protected files in it, and a file beside it that must not change.
type ground struct {
	t     testing.TB
	base  string
	paths []string
}

func (g *ground) at(rel string) string { return filepath.Join(g.base, "work", rel) }

func (g *ground) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *ground) write(rel, text string) {
	g.t.Helper()
	g.must(os.MkdirAll(filepath.Dir(g.at(rel)), 0o755))
	g.must(os.WriteFile(g.at(rel), []byte(text), 0o644))
}

// swap writes a new file and renames it to rel, as editors do.
func (g *ground) swap(rel, text string) {
	g.t.Helper()
	g.write("new", text)
	g.must(os.Rename(g.at("new"), g.at(rel)))
}

func (g *ground) mode(rel string, m fs.FileMode) { g.t.Helper(); g.must(os.Chmod(g.at(rel), m)) }
func (g *ground) move(from, to string)           { g.t.Helper(); g.must(os.Rename(g.at(from), g.at(to))) }
func (g *ground) remove(rel string)              { g.t.Helper(); g.must(os.RemoveAll(g.at(rel))) }
func (g *ground) link(target, rel string)        { g.t.Helper(); g.must(os.Symlink(target, g.at(rel))) }
func (g *ground) pipe(rel string)                { g.t.Helper(); g.must(syscall.Mkfifo(g.at(rel), 0o644)) }

func (g *ground) dir(rel string) {
	g.t.Helper()
	g.must(os.MkdirAll(g.at(rel), 0o755))
}

func newGround(t testing.TB) *ground {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &ground{t: t, base: base}
	for rel, text := range map[string]string{
		".git/HEAD": "ref", ".git/config": "[core]\n", ".git/info/exclude": "", ".git/objects/a": "a", ".git/hooks/commit.sample": "#!/bin/sh\n",
		".git/hooks/update": "exit", ".envrc": "use go\n", ".vscode/settings.json": "{}", ".vscode/a/b/c": "deep", "AGENTS.md": "be good", "main.go": "package main",
		"../outside/secret": "secret", ".idea/x": "y",
	} {
		g.write(rel, text)
	}
	for i := range 12 {
		g.write(".git/hooks/sample-"+strconv.Itoa(i), strings.Repeat("# comment\n", 250))
	}
	g.mode(".git/hooks/update", 0o755)
	g.mode(".envrc", 0o600)
	g.mode(".vscode/a", 0o750)
	g.link("AGENTS.md", "CLAUDE.md")
	g.link("../AGENTS.md", ".vscode/link")
	g.pipe("pipe")
	for _, rel := range []string{
		".git/hooks", ".git/config", ".git/info", ".git/commondir", ".gitconfig", ".envrc", ".vscode", ".husky", "AGENTS.md", "CLAUDE.md", "pipe",
		".mise/config", ".idea", ".agents", ".fantail", ".claude", ".codex", ".cursor", ".gemini", ".opencode", ".crush", ".mcp.json", ".windsurf", ".exrc",
		".zed", ".fleet", ".devcontainer", ".githooks", ".lefthook", ".bashrc", ".profile", ".zshrc",
	} {
		g.paths = append(g.paths, g.at(rel))
	}
	return g
}

// seen describes a tree, one line for each path.
func seen(t testing.TB, paths ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, root := range paths {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				if os.IsNotExist(err) {
					return nil
				}
				return err
			}
			i, err := d.Info()
			if err != nil {
				return err
			}
			what := i.Mode().String()
			switch {
			case i.Size() > 1<<30:
				what += " too large to read"
			case i.Mode().IsRegular():
				text, err := os.ReadFile(p)
				if err != nil {
					return err
				}
				what += " " + string(text)
			case i.Mode()&fs.ModeSymlink != 0:
				target, err := os.Readlink(p)
				if err != nil {
					return err
				}
				what += " -> " + target
			}
			all[p] = what
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// unlike says how two trees differ.
func unlike(was, is map[string]string) string {
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(was)) {
		if is[p] != was[p] {
			fmt.Fprintf(&b, "%s was %.60q, is %.60q\n", p, was[p], is[p])
		}
	}
	for _, p := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[p]; !ok {
			fmt.Fprintf(&b, "%s is there: %.60q\n", p, is[p])
		}
	}
	return b.String()
}

func said(g *ground, all []Change) string {
	var words []string
	for _, c := range all {
		words = append(words, string(c.What)+" "+strings.TrimPrefix(c.Path, g.at("")+"/"))
	}
	return strings.Join(words, ", ")
}

func mustTake(t testing.TB, paths []string) *Snapshot {
	t.Helper()
	s, err := TakeSnapshot(paths)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustChanges(t testing.TB, s *Snapshot) []Change {
	t.Helper()
	all, err := s.Changes()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var rows = []struct {
	name string
	do   func(g *ground)
	want string
}{
	{"nothing", func(*ground) {}, ""},
	{"elsewhere", func(g *ground) { g.write("main.go", "x"); g.write(".git/objects/b", "b"); g.write(".git/index", "i") }, ""},
	{"a file is rewritten", func(g *ground) { g.write(".git/config", "[core]\nfsmonitor = x\n") }, "changed .git/config"},
	{"with as many bytes", func(g *ground) { g.write(".git/config", "[evil]\n") }, "changed .git/config"},
	{"and old times", func(g *ground) {
		i, err := os.Stat(g.at(".git/config"))
		g.must(err)
		g.write(".git/config", "[evil]\n")
		g.must(os.Chtimes(g.at(".git/config"), i.ModTime(), i.ModTime()))
	}, "changed .git/config"},
	{"a file is touched", func(g *ground) { g.must(os.Chtimes(g.at(".envrc"), time.Now(), time.Now())) }, ""},
	{"a file is replaced by the same bytes", func(g *ground) { g.swap(".git/config", "[core]\n") }, ""},
	{"a file is replaced by other bytes", func(g *ground) { g.swap(".git/config", "[kernel]\n") }, "changed .git/config"},
	{"a file is emptied", func(g *ground) { g.write(".envrc", "") }, "changed .envrc"},
	{"an empty file is filled", func(g *ground) { g.write(".git/info/exclude", "x") }, "changed .git/info/exclude"},
	{"a file grows without end", func(g *ground) { g.must(os.Truncate(g.at(".envrc"), 1<<42)) }, "changed .envrc"},
	{"a file is removed", func(g *ground) { g.remove(".envrc") }, "removed .envrc"},
	{"a file gets another mode", func(g *ground) { g.mode(".envrc", 0o644) }, "mode .envrc"},
	{"a file gets bits that count", func(g *ground) { g.mode(".git/hooks/update", 0o755|fs.ModeSetuid) }, "mode .git/hooks/update"},
	{"a sample becomes a hook", func(g *ground) { g.mode(".git/hooks/commit.sample", 0o755) }, "mode .git/hooks/commit.sample"},
	{"a sample is renamed to a hook", func(g *ground) { g.move(".git/hooks/commit.sample", ".git/hooks/commit") }, "made .git/hooks/commit, removed .git/hooks/commit.sample"},
	{"bytes and mode", func(g *ground) { g.write(".envrc", "x"); g.mode(".envrc", 0o777) }, "changed .envrc"},
	{"a file becomes a directory", func(g *ground) { g.remove(".envrc"); g.write(".envrc/x", "x") }, "replaced .envrc"},
	{"a file becomes a link", func(g *ground) { g.remove(".envrc"); g.link("../outside/secret", ".envrc") }, "replaced .envrc"},
	{"a file becomes a link to its bytes", func(g *ground) { g.move(".envrc", "else"); g.link("else", ".envrc") }, "replaced .envrc"},
	{"a file becomes a pipe", func(g *ground) { g.remove(".git/config"); g.pipe(".git/config") }, "replaced .git/config"},
	{"a file becomes a socket", func(g *ground) {
		g.remove(".envrc")
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		g.must(err)
		defer syscall.Close(fd)
		g.t.Chdir(g.at("")) // the path is too long for a socket's
		g.must(syscall.Bind(fd, &syscall.SockaddrUnix{Name: ".envrc"}))
	}, "replaced .envrc"},
	{"two files change places", func(g *ground) { g.move("AGENTS.md", "x"); g.move(".envrc", "AGENTS.md"); g.move("x", ".envrc") }, "changed .envrc, changed AGENTS.md"},
	{"a file is made by another name of it", func(g *ground) {
		g.must(os.Link(g.at(".envrc"), g.at("other")))
		g.write("other", "evil")
	}, "changed .envrc"},
	{"a file is made", func(g *ground) { g.write(".gitconfig", "x") }, "made .gitconfig"},
	{"an empty file is made", func(g *ground) { g.write(".git/commondir", "") }, "made .git/commondir"},
	{"a directory is made", func(g *ground) { g.write(".husky/pre-commit", "x"); g.write(".husky/_/h", "x") }, "made .husky"},
	{"a link is made", func(g *ground) { g.link("../outside", ".husky") }, "made .husky"},
	{"a pipe is made", func(g *ground) { g.pipe(".husky") }, "made .husky"},
	{"a file is made where a directory had to be made", func(g *ground) { g.write(".mise/config", "x") }, "made .mise/config"},
	{"that directory is made", func(g *ground) { g.dir(".mise") }, ""},
	{"a link is made there", func(g *ground) { g.link("../outside", ".mise") }, "made .mise"},
	{"a hook is made", func(g *ground) { g.write(".git/hooks/pre-push", "x") }, "made .git/hooks/pre-push"},
	{"deep down", func(g *ground) { g.write(".vscode/a/b/d", "x"); g.write(".vscode/a/b/c", "x") }, "changed .vscode/a/b/c, made .vscode/a/b/d"},
	{"names that sort badly", func(g *ground) { g.write(".vscode/a-b", "x"); g.write(".vscode/a/b.c", "x") }, "made .vscode/a-b, made .vscode/a/b.c"},
	{"a directory is removed", func(g *ground) { g.remove(".vscode") }, "removed .vscode"},
	{"a directory below is removed", func(g *ground) { g.remove(".vscode/a/b") }, "removed .vscode/a/b"},
	{"a directory is emptied", func(g *ground) { g.remove(".git/info/exclude") }, "removed .git/info/exclude"},
	{"a directory gets another mode", func(g *ground) { g.mode(".git/hooks", 0o777) }, "mode .git/hooks"},
	{"a directory becomes a file", func(g *ground) { g.remove(".vscode"); g.write(".vscode", "x") }, "replaced .vscode"},
	{"a directory becomes a link", func(g *ground) { g.remove(".git/hooks"); g.link("../../outside", ".git/hooks") }, "replaced .git/hooks"},
	{"a directory becomes a link to itself", func(g *ground) { g.move(".vscode", "v"); g.link("v", ".vscode") }, "replaced .vscode"},
	{"a directory is replaced", func(g *ground) { g.dir("new"); g.write("new/x", "y"); g.move(".idea", "old"); g.move("new", ".idea") }, "replaced .idea"},
	{"a directory is replaced by another", func(g *ground) {
		g.dir("new")
		g.write("new/z", "z")
		g.mode("new", 0o700)
		g.move(".idea", "old")
		g.move("new", ".idea")
	}, "replaced .idea, removed .idea/x, made .idea/z"},
	{"a link leads elsewhere", func(g *ground) { g.remove("CLAUDE.md"); g.link("../outside/secret", "CLAUDE.md") }, "changed CLAUDE.md"},
	{"a link below leads elsewhere", func(g *ground) { g.remove(".vscode/link"); g.link("x", ".vscode/link") }, "changed .vscode/link"},
	{"a link is another one", func(g *ground) { g.link("AGENTS.md", "n"); g.move("n", "CLAUDE.md") }, "replaced CLAUDE.md"},
	{"a link becomes a file", func(g *ground) { g.remove("CLAUDE.md"); g.write("CLAUDE.md", "be good") }, "replaced CLAUDE.md"},
	{"a link becomes a directory", func(g *ground) { g.remove("CLAUDE.md"); g.dir("CLAUDE.md") }, "replaced CLAUDE.md"},
	{"a link is removed", func(g *ground) { g.remove("CLAUDE.md") }, "removed CLAUDE.md"},
	{"where a link leads something changes", func(g *ground) { g.write("../work/main.go", "y") }, ""},
	{"a pipe gets another mode", func(g *ground) { g.mode("pipe", 0o600) }, "mode pipe"},
	{"the way is renamed and another put there", func(g *ground) {
		g.write("new/hooks/x", "x")
		g.move(".git", "old")
		g.move("new", ".git")
	}, "replaced .git, removed .git/config, replaced .git/hooks, removed .git/hooks/commit.sample, SAMPLES, removed .git/hooks/update, made .git/hooks/x, removed .git/info"},
	{"the way is a link", func(g *ground) { g.move(".git", "old"); g.link("old", ".git") }, "replaced .git"},
	{"the way is a link outside", func(g *ground) { g.remove(".git"); g.link("../outside", ".git") }, "replaced .git"},
	{"the way is a file", func(g *ground) { g.move(".git", "old"); g.write(".git", "gitdir: old") }, "replaced .git"},
	{"the way is a pipe", func(g *ground) { g.move(".git", "old"); g.pipe(".git") }, "replaced .git"},
	{"the way is gone", func(g *ground) { g.remove(".git") }, "removed .git/config, removed .git/hooks, removed .git/info"},
	{"the way is gone and back", func(g *ground) { g.move(".git", "old"); g.move("old", ".git") }, ""},
	{"the way gets another mode", func(g *ground) { g.mode(".git", 0o700) }, ""},
	{"many at once", func(g *ground) {
		g.remove(".vscode/a")
		g.write(".husky/x", "x")
		g.mode(".envrc", 0)
		g.write(".git/hooks/update", "evil")
	}, "mode .envrc, changed .git/hooks/update, made .husky, removed .vscode/a"},
	{"two made with one name aside", func(g *ground) { g.write(".git/hooks/a!b", "x"); g.write(".git/hooks/a/b", "x") }, "made .git/hooks/a, made .git/hooks/a!b"},
}

func TestChanges(t *testing.T) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if os.Getuid() != 0 && strings.Contains(r.want, "mode .envrc,") {
				t.Skip("who is not root can't read it")
			}
			g := newGround(t)
			was := seen(t, g.paths...)
			s := mustTake(t, g.paths)
			r.do(g)
			is := seen(t, g.base)
			found := mustChanges(t, s)
			want := strings.Replace(r.want, "SAMPLES", samples(), 1)
			if got := said(g, found); got != want {
				t.Fatalf("found %q\n want %q", got, want)
			}
			into := filepath.Join(g.base, "aside")
			if err := s.PutBack(found, into); err != nil {
				t.Fatal(err)
			}
			if d := unlike(was, seen(t, g.paths...)); d != "" {
				t.Error(d)
			}
			if left := mustChanges(t, s); len(left) != 0 {
				t.Errorf("it still finds %s", said(g, left))
			}
			if text, err := os.ReadFile(filepath.Join(g.base, "outside/secret")); err != nil || string(text) != "secret" {
				t.Errorf("outside: %q, %v", text, err)
			}
			kept := strings.Join(slices.Collect(maps.Values(seen(t, g.base))), "\n")
			for _, c := range found {
				if text := is[c.Path]; c.What == Made && !strings.Contains(kept, text) {
					t.Errorf("%s was deleted", c.Path)
				}
			}
			if after := mustChanges(t, mustAgain(t, s, g.paths)); len(after) != 0 {
				t.Errorf("a later look finds %s", said(g, after))
			}
		})
	}
	if len(rows) < 40 {
		t.Errorf("%d changes are too few", len(rows))
	}
}

func mustAgain(t testing.TB, s *Snapshot, paths []string) *Snapshot {
	t.Helper()
	n, err := s.Again(paths)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func samples() string {
	var all []string
	for i := range 12 {
		all = append(all, "removed .git/hooks/sample-"+strconv.Itoa(i))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func TestPutBack_keepsWhatItReplaces(t *testing.T) {
	g := newGround(t)
	s := mustTake(t, g.paths)
	g.write(".git/config", "theirs")
	g.write(".husky/deep/hook", "made")
	g.remove("CLAUDE.md")
	g.link("evil", "CLAUDE.md")
	into := filepath.Join(g.base, "aside")
	for range 2 {
		if err := s.PutBack(mustChanges(t, s), into); err != nil {
			t.Fatal(err)
		}
		g.write(".husky/deep/hook", "made again")
	}
	name := func(rel string) string { return filepath.Join(into, strings.ReplaceAll(g.at(rel), "/", "!")) }
	for p, want := range map[string]string{name(".git/config"): "theirs", name(".husky") + "/deep/hook": "made", name(".husky") + ".2/deep/hook": "made again"} {
		if text, err := os.ReadFile(p); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", p, text, err)
		}
	}
	if target, err := os.Readlink(name("CLAUDE.md")); err != nil || target != "evil" {
		t.Errorf("the link: %q, %v", target, err)
	}
}

// A directory that leads to paths of a snapshot holds more than that: if it was only renamed, it comes back unchanged.
func TestPutBack_renames(t *testing.T) {
	for name, do := range map[string]func(g *ground){
		"gone":    func(g *ground) { g.move(".git", "old") },
		"a link":  func(g *ground) { g.move(".git", "old"); g.link("old", ".git") },
		"a file":  func(g *ground) { g.move(".git", "old"); g.write(".git", "gitdir: old") },
		"another": func(g *ground) { g.write("new/hooks/x", "x"); g.move(".git", "old"); g.move("new", ".git") },
		"and evil": func(g *ground) {
			g.move(".git", "old")
			g.link("old", ".git")
			g.write("old/hooks/x", "x")
			g.write("old/config", "x")
		},
		"gone evil": func(g *ground) { g.move(".git", "old"); g.write("old/hooks/x", "x"); g.remove("old/info") },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			was := seen(t, g.at(".git"))
			s := mustTake(t, g.paths)
			do(g)
			if err := s.PutBack(mustChanges(t, s), g.base+"/aside"); err != nil {
				t.Fatal(err)
			}
			if d := unlike(was, seen(t, g.at(".git"), g.at("old"))); d != "" {
				t.Error(d)
			}
			if left := mustChanges(t, s); len(left) != 0 {
				t.Errorf("it still finds %s", said(g, left))
			}
			if list, err := os.ReadDir(g.base + "/aside"); name == "gone" && !os.IsNotExist(err) {
				t.Errorf("it moves aside what is as it was: %v, %v", list, err)
			}
		})
	}
	g := newGround(t)
	s := mustTake(t, g.paths)
	g.remove(".git")
	g.write("stranger/config", "x")
	i, err := os.Stat(g.at("stranger"))
	g.must(err)
	s.entries[g.at(".git")].ino = i.Sys().(*syscall.Stat_t).Ino // as file systems use numbers again
	if err := s.PutBack(mustChanges(t, s), g.base+"/aside"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(g.at("stranger/config")); err != nil {
		t.Error(err)
	}
}

func TestPutBack_refuses(t *testing.T) {
	g := newGround(t)
	s := mustTake(t, g.paths)
	g.write("../outside/hooks/update", "theirs")
	g.move(".git", "old")
	g.link("../outside", ".git")
	into := filepath.Join(g.base, "aside")
	for _, c := range []struct {
		change Change
		want   string
	}{
		{Change{g.at(".git/hooks/update"), Changed}, "is no directory, and what it leads to is not touched: put that back first"},
		{Change{g.at(".git/hooks/new"), Made}, "is no directory"},
		{Change{g.at("main.go"), Made}, "nobody looked at it"},
		{Change{g.base + "/outside/secret", Made}, "nobody looked at it"},
	} {
		err := s.PutBack([]Change{c.change}, into)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.change.Path) {
			t.Errorf("%v: %v", c.change, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(g.base, "outside/hooks/update")); err != nil || string(text) != "theirs" {
		t.Errorf("outside: %q, %v", text, err)
	}
	g.write(".envrc", "theirs")
	if err := s.PutBack([]Change{{g.at(".envrc"), Changed}}, g.at("main.go")); err == nil || !strings.Contains(err.Error(), g.at(".envrc")) {
		t.Errorf("it moves things into a file: %v", err)
	}
	list, err := filepath.Glob(g.at(".keep-*"))
	if text, e := os.ReadFile(g.at(".envrc")); len(list) != 0 || err != nil || string(text) != "theirs" {
		t.Errorf("what it could not move is %q, %v; it leaves %v, %v", text, e, list, err)
	}
	g.remove("pipe")
	if err := s.PutBack([]Change{{g.at("pipe"), Removed}}, into); err == nil || !strings.Contains(err.Error(), "make it again") {
		t.Error(err)
	}
	if err := s.PutBack(nil, "aside"); err == nil {
		t.Error("it takes a place that depends on where the process is")
	}
}

// PutBack reports a file that does not stay as it restored it.
func TestPutBack_looksAgain(t *testing.T) {
	g := newGround(t)
	s := mustTake(t, g.paths)
	g.write(".envrc", "theirs again")
	b := &back{state: s, done: []string{g.at(".envrc")}}
	b.adopt()
	if len(b.errs) != 1 || !errors.Is(b.errs[0], errRaced) || !strings.Contains(b.errs[0].Error(), g.at(".envrc")) {
		t.Errorf("%v", b.errs)
	}
}

func TestTake_nested(t *testing.T) {
	g := newGround(t)
	s := mustTake(t, []string{g.at(".vscode/a"), g.at(".vscode"), g.at(".vscode/a/b/c"), g.at(".vscode") + "/"})
	g.write(".vscode/a/b/c", "x")
	g.write(".vscode/x", "x")
	if got := said(g, mustChanges(t, s)); got != "changed .vscode/a/b/c, made .vscode/x" {
		t.Errorf("found %s", got)
	}
	g.remove(".vscode")
	if got := said(g, mustChanges(t, s)); got != "removed .vscode" {
		t.Errorf("found %s", got)
	}
}

func TestTake_refuses(t *testing.T) {
	for _, p := range []string{"", "x", "./x", "/", "/.."} {
		if _, err := TakeSnapshot([]string{p}); err == nil {
			t.Errorf("%q is taken", p)
		}
	}
}

func TestBounds(t *testing.T) {
	g := newGround(t)
	big := strings.Repeat("x", maxContent/2+1)
	g.write(".husky/a", big)
	g.write(".husky/b", big)
	s := mustTake(t, []string{g.at(".husky")})
	if len(s.Was(g.at(".husky/a"))) != len(big) || s.Was(g.at(".husky/b")) != nil {
		t.Fatalf("it keeps %d and %d bytes", len(s.Was(g.at(".husky/a"))), len(s.Was(g.at(".husky/b"))))
	}
	g.mode(".husky/b", 0o600)
	found := mustChanges(t, s)
	if got := said(g, found); got != "mode .husky/b" {
		t.Errorf("found %s", got)
	}
	if err := s.PutBack(found, g.base+"/aside"); err != nil || len(mustChanges(t, s)) != 0 {
		t.Errorf("its mode: %v", err)
	}
	g.write(".husky/b", "y"+big[1:])
	if found = mustChanges(t, s); said(g, found) != "changed .husky/b" {
		t.Errorf("found %s", said(g, found))
	}
	if err := s.PutBack(found, g.base+"/aside"); err == nil || !strings.Contains(err.Error(), g.at(".husky/b")+": its content was too large to keep") {
		t.Error(err)
	}

	for i := range maxFiles + 5 {
		g.write(".agents/"+strconv.Itoa(100_000+i), "x")
	}
	s = mustTake(t, []string{g.at(".agents")})
	if s.Was(g.at(".agents/100000")) == nil || s.Was(g.at(".agents/"+strconv.Itoa(100_000+maxFiles))) != nil {
		t.Error("it keeps another number of files")
	}

	g.must(os.Truncate(g.at(".envrc"), 1<<42))
	s = mustTake(t, []string{g.at(".envrc")})
	if found = mustChanges(t, s); len(found) != 0 {
		t.Errorf("found %s", said(g, found))
	}
	g.must(os.Truncate(g.at(".envrc"), 1<<42+1))
	if found = mustChanges(t, s); said(g, found) != "changed .envrc" {
		t.Errorf("found %s", said(g, found))
	}
}

func TestTake_largeDirectory(t *testing.T) {
	g := newGround(t)
	g.dir(".husky")
	s := mustTake(t, g.paths)
	g.remove(".husky")
	g.dir(".claude")
	for i := range maxEntries + 100 {
		fd, err := syscall.Open(g.at(".claude/"+strconv.Itoa(i)), syscall.O_CREAT|syscall.O_WRONLY, 0o600)
		g.must(err)
		g.must(syscall.Close(fd))
	}
	if _, err := TakeSnapshot(g.paths); err == nil || !strings.Contains(err.Error(), g.at(".claude")+": there are more than 10000 files") {
		t.Error(err)
	}
	if got := said(g, mustChanges(t, s)); got != "made .claude, removed .husky" {
		t.Errorf("found %s", got)
	}
	g.move(".claude", ".husky")
	found, err := s.Changes()
	if err == nil || !strings.Contains(err.Error(), g.at(".husky")) {
		t.Errorf("%s, %v", said(g, found), err)
	}

	deep := g.at(".codex")
	for range maxDepth + 2 {
		deep += "/d"
	}
	g.must(os.MkdirAll(deep, 0o755))
	if _, err := TakeSnapshot([]string{g.at(".codex")}); err == nil || !strings.Contains(err.Error(), "directories deep") {
		t.Error(err)
	}
}

func TestAgain_readsWhatMayHaveChanged(t *testing.T) {
	g := newGround(t)
	later := time.Now().Add(time.Hour)
	s, err := take(g.paths, later)
	g.must(err)
	if s.read < 15 {
		t.Fatalf("the first look read %d files", s.read)
	}
	n := mustAgain(t, s, g.paths)
	if n.read != 0 || !bytes.Equal(n.Was(g.at(".envrc")), []byte("use go\n")) || len(mustChanges(t, n)) != 0 {
		t.Errorf("it read %d files again, and knows %q", n.read, n.Was(g.at(".envrc")))
	}
	g.write(".envrc", "use no\n")
	if n = mustAgain(t, s, g.paths); n.read != 1 || string(n.Was(g.at(".envrc"))) != "use no\n" {
		t.Errorf("it read %d files, and knows %q", n.read, n.Was(g.at(".envrc")))
	}
	i, err := os.Stat(g.at(".envrc"))
	g.must(err)
	if s, err = take(g.paths, later); err != nil {
		t.Fatal(err)
	}
	g.write(".envrc", "use na\n")
	g.must(os.Chtimes(g.at(".envrc"), i.ModTime(), i.ModTime()))
	if got := said(g, mustChanges(t, s)); got != "changed .envrc" {
		t.Errorf("of what gets its old time back it finds %q", got)
	}
	fresh := mustTake(t, g.paths) // the file system's clock may not have ticked since these files were written
	if n = mustAgain(t, fresh, g.paths); n.read != fresh.read {
		t.Errorf("it read %d files of %d", n.read, fresh.read)
	}
	if s, err = take(g.paths, time.Now().Add(coarse-time.Second)); err != nil || mustAgain(t, s, g.paths).read != s.read {
		t.Errorf("it trusts what was written a second ago: %v", err)
	}
}

// TestOpen opens a name that became something else after it was looked at.
func TestOpen(t *testing.T) {
	g := newGround(t)
	g.link(".vscode", "dir")
	l := newLook(&Snapshot{}, taking)
	defer l.close()
	dir, err := l.passage(filepath.Dir(g.at("x")))
	g.must(err)
	for _, c := range []struct {
		name string
		how  int
	}{{"CLAUDE.md", reading}, {"dir", listing}, {"dir", passing}, {"dir", reading}, {"main.go", listing}, {"main.go", passing}, {"none", reading}} {
		if fd, err := open(dir, g.at(c.name), c.how); err != errRaced {
			t.Errorf("%s: %d, %v", c.name, fd, err)
		}
	}
	for _, name := range []string{"pipe", ".vscode"} { // each replaced a file after that was looked at
		if e, err := l.file(dir, g.at(name), &entry{mode: syscall.S_IFREG}); err != errRaced {
			t.Errorf("%s: %v, %v", name, e, err)
		}
	}
}

func TestWas(t *testing.T) {
	g := newGround(t)
	s := mustTake(t, g.paths)
	g.remove(".envrc")
	s.Was(g.at(".envrc"))[0] = 'X'
	if string(s.Was(g.at(".envrc"))) != "use go\n" || s.Was(g.at(".vscode")) != nil || s.Was(g.at(".husky")) != nil || s.Was(g.at(".git/info/exclude")) == nil {
		t.Errorf("%q", s.Was(g.at(".envrc")))
	}
}

// TestChanges_random changes random trees at random, and compares with a plain walk.
func TestChanges_random(t *testing.T) {
	for seed := range uint64(long.Times(20, 80)) {
		r := rand.New(rand.NewPCG(seed, 7))
		g := newGround(t)
		some := func() string {
			p := []string{".vscode", ".husky", ".git/hooks", ".git/info", ".agents"}[r.IntN(5)]
			for range r.IntN(4) {
				p += "/" + string(rune('a'+r.IntN(3)))
			}
			return p
		}
		mutate := func() {
			p, q := g.at(some()), g.at(some())
			_ = os.MkdirAll(filepath.Dir(p), 0o755) // each may fail: then nothing happens
			switch r.IntN(9) {
			case 0, 1:
				_ = os.WriteFile(p, []byte{byte('a' + r.IntN(2))}, 0o644)
			case 2:
				_ = os.Mkdir(p, 0o755)
			case 3:
				_ = os.Symlink([]string{"a", "../b", g.base + "/outside"}[r.IntN(3)], p)
			case 4:
				_ = os.RemoveAll(p)
			case 5:
				_ = os.Rename(p, q)
			case 6:
				if i, err := os.Lstat(p); err == nil && i.Mode()&fs.ModeSymlink == 0 {
					_ = os.Chmod(p, []fs.FileMode{0o700, 0o755, 0o711}[r.IntN(3)])
				}
			case 7:
				_ = os.WriteFile(p, []byte("a"), 0o600)
			case 8:
				_ = os.Rename(p, g.at("park"))
				_ = os.RemoveAll(g.at("park"))
			}
		}
		for range 25 {
			mutate()
		}
		was, before := seen(t, g.paths...), plain(t, g)
		s := mustTake(t, g.paths)
		for range r.IntN(12) {
			mutate()
		}
		found := mustChanges(t, s)
		if got, want := said(g, found), said(g, expected(before, plain(t, g))); got != want {
			t.Fatalf("seed %d: found %q\n want %q", seed, got, want)
		}
		if err := s.PutBack(found, g.base+"/aside"); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if d := unlike(was, seen(t, g.paths...)); d != "" {
			t.Fatalf("seed %d: %s\n%s", seed, said(g, found), d)
		}
		if left := mustChanges(t, s); len(left) != 0 {
			t.Fatalf("seed %d: it still finds %s", seed, said(g, left))
		}
	}
}

// thing is what a plain walk sees.
type thing struct {
	line string
	info fs.FileInfo
}

func plain(t *testing.T, g *ground) map[string]thing {
	all := map[string]thing{}
	for p, line := range seen(t, g.paths...) {
		i, err := os.Lstat(p)
		if err != nil {
			t.Fatal(err)
		}
		all[p] = thing{strings.TrimPrefix(line, i.Mode().String()), i}
	}
	return all
}

func expected(was, is map[string]thing) (all []Change) {
	both := maps.Clone(was)
	maps.Copy(both, is)
	whole := "\x00"
	for _, p := range slices.Sorted(maps.Keys(both)) {
		o, there := was[p]
		n, here := is[p]
		covered := false
		for d := p; d != "/"; d = filepath.Dir(d) {
			covered = covered || strings.Contains(whole, "\x00"+d+"\x00")
		}
		var w ChangeKind
		switch {
		case covered:
			continue
		case !there:
			w = Made
		case !here:
			w = Removed
		case o.info.Mode().Type() != n.info.Mode().Type():
			w = Replaced
		case o.line != n.line:
			w = Changed
		case !o.info.Mode().IsRegular() && !os.SameFile(o.info, n.info):
			w = Replaced
		case o.info.Mode() != n.info.Mode():
			w = Mode
		default:
			continue
		}
		if all = append(all, Change{p, w}); !there || !here || o.info.Mode().Type() != n.info.Mode().Type() {
			whole += p + "\x00"
		}
	}
	return all
}

// TestRaces looks and restores while files are being swapped: it never blocks, and touches no file outside.
func TestRaces(t *testing.T) {
	g := newGround(t)
	s := mustTake(t, g.paths)
	was := seen(t, filepath.Join(g.base, "outside"))
	g.write("gitfile", "gitdir: x")
	g.pipe("fifo")
	g.link("../outside", "gitlink")
	g.link("../../outside", "hookslink")
	g.link("../../outside/secret", "filelink")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		swap := func(a, b string) { // each may fail during a restore
			_ = os.Rename(g.at(a), g.at("parked"))
			_ = os.Rename(g.at(b), g.at(a))
			_ = os.Rename(g.at(a), g.at(b))
			_ = os.RemoveAll(g.at(a))
			_ = os.Rename(g.at("parked"), g.at(a))
		}
		for {
			select {
			case <-stop:
				return
			default:
			}
			swap(".git", "gitlink")
			swap(".git/hooks", "hookslink")
			swap(".git/hooks/update", "filelink")
			swap(".git/config", "fifo")
			swap(".envrc", "fifo")
			swap(".git", "gitfile")
		}
	}()
	into := filepath.Join(g.base, "aside")
	for range long.Times(25, 100) {
		_, _ = TakeSnapshot(g.paths) // it may report changes meanwhile
		found, _ := s.Changes()      // so may this
		_ = s.PutBack(found, into)   // and this
		_, _ = s.Again(g.paths)      //
		_ = s.PutBack([]Change{{g.at(".git/hooks/update"), Changed}, {g.at(".git/config"), Changed}}, into)
	}
	close(stop)
	<-ended
	if d := unlike(was, seen(t, filepath.Join(g.base, "outside"))); d != "" {
		t.Error(d)
	}
	if err := s.PutBack(mustChanges(t, s), into); err != nil || len(mustChanges(t, s)) != 0 {
		t.Errorf("at rest: %v", err)
	}
}

func BenchmarkAgain(b *testing.B) {
	g := newGround(b)
	s, err := take(g.paths, time.Now().Add(time.Hour))
	g.must(err)
	for b.Loop() {
		if s, err = s.Again(g.paths); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChanges(b *testing.B) {
	for name, first := range map[string]time.Time{"untouched": time.Now().Add(time.Hour), "read again": time.Now()} {
		b.Run(name, func(b *testing.B) {
			g := newGround(b)
			s, err := take(g.paths, first)
			g.must(err)
			for b.Loop() {
				if found, err := s.Changes(); err != nil || len(found) > 0 {
					b.Fatal(found, err)
				}
			}
		})
	}
}
