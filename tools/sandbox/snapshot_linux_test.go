package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// nobody is a user that nothing else in a test uses.
const nobody = 65534

// ordinary gives the files to another user, and makes the rest of the test that user. The test's thread ends with it.
func ordinary(t *testing.T, g *ground) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Cleanup(func() { // else a directory that the test closed could not be removed
			_ = filepath.WalkDir(g.base, func(p string, d fs.DirEntry, err error) error {
				if err == nil && d.IsDir() {
					err = os.Chmod(p, 0o700)
				}
				return err
			})
		})
		return
	}
	for p := filepath.Dir(filepath.Dir(g.base)); p != filepath.Dir(p); p = filepath.Dir(p) {
		if i, err := os.Stat(p); err != nil || i.Mode().Perm()&0o001 == 0 {
			t.Skip("the temporary directory is root's alone")
		}
	}
	g.must(os.Chmod(filepath.Dir(g.base), 0o755))
	g.must(filepath.WalkDir(g.base, func(p string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(p, nobody, nobody)
		}
		return err
	}))
	runtime.LockOSThread()
	t.Cleanup(func() { // else the directories that the test closed could not be removed
		_, _ = unix.SetfsuidRetUid(0)
		_, _ = unix.SetfsgidRetGid(0)
	})
	_, _ = unix.SetfsgidRetGid(nobody)
	_, _ = unix.SetfsuidRetUid(nobody)
	if now, err := unix.SetfsuidRetUid(-1); err != nil || now != nobody {
		t.Fatalf("the thread is user %d, %v", now, err)
	}
}

func TestOrdinary(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for _, r := range []struct {
		name   string
		before func(g *ground)
		do     func(g *ground)
		want   string // the expected changes
		fault  string // of putting it back
	}{
		{"a closed file", func(g *ground) { g.mode(".envrc", 0) }, func(*ground) {}, "", ""},
		{"a closed file is written", func(g *ground) { g.must(os.Chtimes(g.at(".envrc"), old, old)); g.mode(".envrc", 0) }, func(g *ground) {
			g.mode(".envrc", 0o600)
			g.write(".envrc", "use no\n")
			g.mode(".envrc", 0)
		}, "changed .envrc", "could not be read"},
		{"a file is written and closed", nil, func(g *ground) { g.write(".envrc", "use no\n"); g.mode(".envrc", 0) }, "changed .envrc", ""},
		{"a file is closed", nil, func(g *ground) { g.mode(".vscode/a/b/c", 0) }, "changed .vscode/a/b/c", ""},
		{"a hook is made and the directory closed", nil, func(g *ground) {
			g.write(".git/hooks/a/b", "x")
			g.write(".git/hooks/update", "x")
			g.mode(".git/hooks", 0)
		}, "changed .git/hooks", ""},
		{"and cannot be written", nil, func(g *ground) { g.write(".git/hooks/a", "x"); g.mode(".git/hooks", 0o555) }, "mode .git/hooks, made .git/hooks/a", ""},
		{"a closed directory", func(g *ground) { g.mode(".vscode/a", 0) }, func(*ground) {}, "", ""},
		{"a closed directory is opened", func(g *ground) { g.mode(".vscode/a", 0) }, func(g *ground) { g.mode(".vscode/a", 0o755) }, "changed .vscode/a", "nobody could look"},
		{"a closed directory is filled", func(g *ground) { g.must(os.Chtimes(g.at(".vscode/a"), old, old)); g.mode(".vscode/a", 0) }, func(g *ground) {
			g.mode(".vscode/a", 0o700)
			g.write(".vscode/a/x", "x")
			g.mode(".vscode/a", 0)
		}, "changed .vscode/a", "nobody could look"},
		{"a closed directory is made", nil, func(g *ground) { g.write(".husky/x", "x"); g.mode(".husky", 0) }, "made .husky", ""},
		{"a closed directory takes a file's place", nil, func(g *ground) {
			g.remove(".envrc")
			g.write(".envrc/x", "x")
			g.mode(".envrc", 0)
		}, "replaced .envrc", ""},
		{"a directory nobody may write is removed", func(g *ground) { g.mode(".vscode/a/b", 0o555) }, func(g *ground) {
			g.mode(".vscode/a/b", 0o755)
			g.remove(".vscode")
		}, "removed .vscode", ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			g := newGround(t)
			ordinary(t, g)
			was := seen(t, g.paths...)
			if r.before != nil {
				r.before(g)
			}
			s := mustTake(t, g.paths)
			r.do(g)
			found := mustChanges(t, s)
			if got := said(g, found); got != r.want {
				t.Fatalf("found %q\n want %q", got, r.want)
			}
			err := s.PutBack(found, filepath.Join(g.base, "aside"))
			if r.fault != "" {
				if err == nil || !strings.Contains(err.Error(), r.fault) || !strings.Contains(err.Error(), found[0].Path) {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if left := mustChanges(t, s); len(left) != 0 {
				t.Errorf("it still finds %s", said(g, left))
			}
			if r.before == nil {
				if d := unlike(was, seen(t, g.paths...)); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

func TestOrdinary_closedWay(t *testing.T) {
	g := newGround(t)
	ordinary(t, g)
	s := mustTake(t, g.paths)
	g.write(".husky", "x")
	g.mode(".git", 0)
	found, err := s.Changes()
	if err == nil || !strings.Contains(err.Error(), "look at "+g.at(".git/")) || !strings.Contains(err.Error(), "give yourself the right") {
		t.Error(err)
	}
	if said(g, found) != "made .husky" {
		t.Errorf("found %s", said(g, found))
	}
}

// TestChanges_lease holds a lease on a file, so that opening it would block.
func TestChanges_lease(t *testing.T) {
	g := newGround(t)
	s := mustTake(t, g.paths)
	f, err := os.OpenFile(g.at(".envrc"), os.O_WRONLY, 0)
	g.must(err)
	defer f.Close()
	if _, err := f.WriteString("use no\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("no leases here: %v", err)
	}
	begin := time.Now()
	switch found, err := s.Changes(); {
	case err == nil && said(g, found) != "changed .envrc":
		t.Errorf("found %s", said(g, found))
	case err != nil && !errors.Is(err, errRaced):
		t.Error(err)
	}
	if d := time.Since(begin); d > 40*time.Second { // the kernel breaks a lease after 45
		t.Errorf("it waited %v", d)
	}
}

// TestPutBack_elsewhere moves aside to another file system.
func TestPutBack_elsewhere(t *testing.T) {
	g := newGround(t)
	at := "/dev/shm"
	if strings.HasPrefix(g.base, at+"/") {
		at = "/tmp"
	}
	into, err := os.MkdirTemp(at, "keep-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(into) })
	var here, there unix.Stat_t
	g.must(unix.Stat(g.base, &here))
	g.must(unix.Stat(into, &there))
	if here.Dev == there.Dev {
		t.Skip("it is the same file system")
	}
	was := seen(t, g.paths...)
	s := mustTake(t, g.paths)
	g.write(".husky/a/b", "made")
	g.link("../../outside", ".husky/a/out")
	g.pipe(".husky/pipe")
	g.mode(".husky/a/b", 0)
	g.mode(".husky/a", 0)
	g.write(".git/config", "theirs")
	g.write(".mcp.json", "{}")
	g.remove("CLAUDE.md")
	g.link("evil", "CLAUDE.md")
	ordinary(t, g)
	if os.Getuid() == 0 {
		t.Log("as an ordinary user")
		into = filepath.Join(into, "mine")
		_, _ = unix.SetfsuidRetUid(0)
		g.must(os.Mkdir(into, 0o700))
		g.must(os.Chmod(filepath.Dir(into), 0o755))
		g.must(os.Chown(into, nobody, nobody))
		_, _ = unix.SetfsuidRetUid(nobody)
	}
	found := mustChanges(t, s)
	if err := s.PutBack(found, into); err != nil {
		t.Fatal(err)
	}
	if d := unlike(was, seen(t, g.paths...)); d != "" {
		t.Error(d)
	}
	name := func(rel string) string { return filepath.Join(into, strings.ReplaceAll(g.at(rel), "/", "!")) }
	for p, want := range map[string]string{name(".git/config"): "theirs", name(".husky") + "/a/b": "made", name(".mcp.json"): "{}"} {
		if text, err := os.ReadFile(p); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", p, text, err)
		}
	}
	for p, want := range map[string]string{name("CLAUDE.md"): "evil", name(".husky") + "/a/out": "../../outside"} {
		if target, err := os.Readlink(p); err != nil || target != want {
			t.Errorf("%s: %q, %v", p, target, err)
		}
	}
}

func TestChmod_otherKind(t *testing.T) {
	g := newGround(t)
	l := newLook(&Snapshot{}, taking)
	defer l.close()
	dir, err := l.passage(g.at(""))
	g.must(err)
	if err := chmod(dir, g.at(".vscode"), unix.S_IFREG|0o700); err != errRaced {
		t.Errorf("of a directory that was a file: %v", err)
	}
	if i, err := os.Stat(g.at(".vscode")); err != nil || i.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", i.Mode(), err)
	}
}
