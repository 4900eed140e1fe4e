package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/tools/permission"
)

// place makes a workspace, and next to it a home and a private directory.
func place(t testing.TB) *Tree {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for p, text := range map[string]string{
		"data/fantail.db": "SECRET-DB", "data/fantail.db-wal": "SECRET-WAL", "data/fantail.db-shm": "SECRET-SHM", "config/config.toml": "SECRET-CONFIG",
		"home/.ssh/id_rsa": "SECRET-KEY", "home/.netrc": "SECRET-NETRC", "else/other.txt": "other\n", "data/outputs/1/call.out": "output\n", "data/outputs/2.out": "SECRET-OTHER",
	} {
		putFile(t, filepath.Join(top, p), text)
	}
	return &Tree{Root: top + "/work", Outputs: top + "/data/outputs/1", Private: []string{top + "/data", top + "/config"}, Home: top + "/home"}
}

// top is the directory that place made everything in.
func top(tr *Tree) string { return filepath.Dir(tr.Root) }

func putFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func TestTarget(t *testing.T) {
	tr := place(t)
	putFile(t, tr.Root+"/sub/a.txt", "a")
	link(t, "sub", tr.Root+"/in")
	link(t, top(tr)+"/else", tr.Root+"/out")
	link(t, "../else/other.txt", tr.Root+"/out.txt")
	link(t, "../else/new.txt", tr.Root+"/dangling")
	link(t, "loop", tr.Root+"/loop")
	link(t, top(tr)+"/data/fantail.db", tr.Root+"/db")
	link(t, top(tr)+"/home/.ssh", tr.Root+"/keys")
	link(t, ".git/hooks", tr.Root+"/hooks")
	putFile(t, tr.Root+"/.git/hooks/x", "")
	for _, p := range []string{"data/fantail.db", "data/fantail.db-shm"} {
		if err := os.Link(filepath.Join(top(tr), p), tr.Root+"/hard-"+filepath.Base(p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(top(tr)+"/home/.ssh/id_rsa", tr.Root+"/notes"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		raw, abs                              string
		inside, sensitive, forbidden, noWrite bool
	}{
		{raw: "sub/a.txt", abs: "work/sub/a.txt", inside: true},
		{raw: "./sub//a.txt", abs: "work/sub/a.txt", inside: true},
		{raw: "sub/../sub/./a.txt/", abs: "work/sub/a.txt", inside: true},
		{raw: ".", abs: "work", inside: true},
		{raw: "in/a.txt", abs: "work/sub/a.txt", inside: true},
		{raw: "in/../x", abs: "work/x", inside: true},
		{raw: "new/dir/file", abs: "work/new/dir/file", inside: true},
		{raw: "new/../../else/x", abs: "else/x"},
		{raw: "../else/other.txt", abs: "else/other.txt"},
		{raw: "../work/sub/a.txt", abs: "work/sub/a.txt", inside: true},
		{raw: "../work2", abs: "work2"},
		{raw: "out/other.txt", abs: "else/other.txt"},
		{raw: "out/../x", abs: "x"},
		{raw: "out.txt", abs: "else/other.txt"},
		{raw: "dangling", abs: "else/new.txt"},
		{raw: "db", abs: "data/fantail.db", forbidden: true},
		{raw: "../data/fantail.db-wal", abs: "data/fantail.db-wal", forbidden: true},
		{raw: "../data", abs: "data", forbidden: true},
		{raw: "../data/outputs/2.out", abs: "data/outputs/2.out", forbidden: true},
		{raw: "../config/config.toml", abs: "config/config.toml", forbidden: true},
		{raw: "../config/new", abs: "config/new", forbidden: true},
		{raw: "hard-fantail.db", abs: "work/hard-fantail.db", inside: true, forbidden: true},
		{raw: "hard-fantail.db-shm", abs: "work/hard-fantail.db-shm", inside: true, forbidden: true},
		{raw: "../data/outputs/1/call.out", abs: "data/outputs/1/call.out", inside: true, noWrite: true},
		{raw: "keys/id_rsa", abs: "home/.ssh/id_rsa", sensitive: true},
		{raw: "notes", abs: "work/notes", inside: true, sensitive: true},
		{raw: "~/.ssh/id_rsa", abs: "home/.ssh/id_rsa", sensitive: true},
		{raw: "~/.netrc", abs: "home/.netrc", sensitive: true},
		{raw: ".env", abs: "work/.env", inside: true, sensitive: true},
		{raw: "sub/.env.local", abs: "work/sub/.env.local", inside: true, sensitive: true},
		{raw: ".git/hooks/x", abs: "work/.git/hooks/x", inside: true, noWrite: true},
		{raw: "hooks/x", abs: "work/.git/hooks/x", inside: true, noWrite: true},
		{raw: ".git/config", abs: "work/.git/config", inside: true, noWrite: true},
		{raw: "sub/.GIT/config", abs: "work/sub/.GIT/config", inside: true, noWrite: true},
		{raw: ".gitignore", abs: "work/.gitignore", inside: true},
	} {
		for _, k := range []permission.Kind{permission.Read, permission.Write} {
			got, err := tr.Target(c.raw, k)
			if err != nil {
				t.Errorf("%s: %v", c.raw, err)
				continue
			}
			inside := c.inside && (k == permission.Read || !strings.HasPrefix(c.abs, "data/"))
			forbidden := c.forbidden || c.noWrite && k == permission.Write
			if got.Abs != filepath.Join(top(tr), c.abs) || got.Inside != inside || (got.Sensitive != "") != c.sensitive || (got.forbidden != "") != forbidden {
				t.Errorf("%s %s is %+v, want %+v", k, c.raw, got, c)
			}
		}
	}
	for raw, says := range map[string]string{
		"": "empty", "a\x00b": "NUL", strings.Repeat("a/", 3000): "bytes", "loop": "loop", "loop/x": "loop", "sub/a.txt/b": "not a directory", strings.Repeat("a", 300): "too long",
	} {
		if _, err := tr.Target(raw, permission.Read); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20q: %v, want %q", raw, err, says)
		}
	}
}

func FuzzTarget(f *testing.F) {
	for _, s := range []string{"a", "../a", "in/../..", "out/x", "/etc/passwd", "~/x", ".git/x", "a//b/./c", "loop/x", "/proc/self/root/etc", "\xff", "a/../../data/fantail.db", "dangling/.."} {
		f.Add(s)
	}
	tr := place(f)
	putFile(f, tr.Root+"/sub/a.txt", "a")
	link(f, "sub", tr.Root+"/in")
	link(f, top(tr)+"/else", tr.Root+"/out")
	link(f, "../data/new", tr.Root+"/dangling")
	link(f, "loop", tr.Root+"/loop")
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := tr.Target(raw, permission.Write)
		if err != nil {
			return
		}
		if !filepath.IsAbs(got.Abs) || filepath.Clean(got.Abs) != got.Abs {
			t.Fatalf("%q resolves to %q", raw, got.Abs)
		}
		real, err := filepath.EvalSymlinks(got.Abs)
		if err == nil && real != got.Abs {
			t.Errorf("%q resolves to %q, which is %q", raw, got.Abs, real)
		}
		if _, in := below(tr.Root, got.Abs); in != got.Inside {
			t.Errorf("%q resolves to %q, inside is %v", raw, got.Abs, got.Inside)
		}
		if _, in := below(top(tr)+"/data", got.Abs); in && got.forbidden == "" {
			t.Errorf("%q resolves to %q and is not forbidden", raw, got.Abs)
		}
	})
}
