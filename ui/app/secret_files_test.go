package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fantail/tools/permission"
)

// later returns a time at which no directory was just changed.
func later() time.Time { return time.Now().Add(time.Hour) }

// rules are rules that deny.
func rules(t testing.TB, root string, texts ...string) (v permission.DeniedPatterns) {
	t.Helper()
	for _, text := range texts {
		r, err := permission.ParseToolRule(text, permission.Places{Root: root, Base: root})
		if err != nil {
			t.Fatal(err)
		}
		v = append(v, r)
	}
	return v
}

func write(t testing.TB, root string, names ...string) {
	t.Helper()
	for _, n := range names {
		p := filepath.Join(root, n)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFind: files that patterns deny are found when a command begins, whole directories as one, and directories that
// can't hold any are not read.
func TestFind(t *testing.T) {
	root := t.TempDir()
	at := func(rel string) string { return filepath.Join(root, rel) }
	for _, f := range []string{"a.pem", "x/y/B.PEM", "x/y/key", "x/keys/one", "x/z/keys/two", "src/.env.local", ".env.local", ".git/c.pem"} {
		if err := os.MkdirAll(filepath.Dir(at(f)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(f), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("x"), at("link.pem")); err != nil {
		t.Fatal(err)
	}
	for rules, want := range map[string][]string{
		"":                        nil,
		"Read(./x/**)":            nil, // it names a directory, which is hidden without looking
		"Read(*.pem)":             {"a.pem", "x/y/B.PEM"},
		"Read(./.env.*)":          {".env.local", "src/.env.local"},
		"Read(x/*/keys/**)":       {"x/z/keys"},
		"Read(keys) Read(./**/y)": {"x/keys", "x/y", "x/z/keys"},
	} {
		gate, err := permission.NewGate(permission.Ask, nil)
		if err != nil {
			t.Fatal(err)
		}
		var ls permission.Limits
		for text := range strings.FieldsSeq(rules) {
			r, err := permission.ParseToolRule(text, permission.Places{Root: root, Base: root})
			if err != nil {
				t.Fatal(err)
			}
			ls = append(ls, permission.Limit{ToolRule: r, List: permission.DenyList, From: "x:1:1"}, permission.Limit{ToolRule: r, List: permission.AskList, From: "x:1:1"})
		}
		gate.Limit(ls)
		var got []string
		all, short := NewSecretFinder(root).find(gate.DeniedPatterns())
		if short != "" {
			t.Errorf("%s: %s", rules, short)
		}
		for _, p := range all {
			rel, err := filepath.Rel(root, p)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s hides %q, want %q", rules, got, want)
		}
	}
}

// tick waits until the clock of the file system has moved on, so that a change from now on has another time.
func tick(t *testing.T) {
	t.Helper()
	p := filepath.Join(t.TempDir(), "x")
	now := func() (s unix.Stat_t) {
		if err := errors.Join(os.WriteFile(p, []byte("x"), 0o600), unix.Stat(p, &s)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for first := now().Ctim; first == now().Ctim; {
		runtime.Gosched()
	}
}

// TestFind_again: a directory is read again only if an entry was made, renamed or removed in it, or that happened just
// before it was read, or the rules changed.
func TestFind_again(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a/one.pem", "a/b/two", "c/d/e")
	f, v := NewSecretFinder(root), rules(t, root, "Read(*.pem)")
	find := func(what string, v permission.DeniedPatterns, read int, want ...string) {
		t.Helper()
		all, short := f.find(v)
		for i, p := range all {
			all[i], _ = filepath.Rel(root, p)
		}
		if short != "" || !slices.Equal(all, want) || f.last.read != read {
			t.Errorf("%s: found %q (%s), %d directories read; want %q and %d", what, all, short, f.last.read, want, read)
		}
	}
	find("at first", v, 5, "a/one.pem")
	find("when they may have just changed", v, 5, "a/one.pem")
	f.now = later
	find("when they have not", v, 5, "a/one.pem")
	find("when that is known", v, 0, "a/one.pem")
	tick(t)
	write(t, root, "c/d/three.pem")
	find("when one was made", v, 1, "a/one.pem", "c/d/three.pem")
	tick(t)
	if err := os.Rename(filepath.Join(root, "a/b"), filepath.Join(root, "a/f")); err != nil {
		t.Fatal(err)
	}
	find("when a directory was renamed", v, 2, "a/one.pem", "c/d/three.pem")
	tick(t)
	if err := os.Remove(filepath.Join(root, "a/one.pem")); err != nil {
		t.Fatal(err)
	}
	find("when one was removed", v, 1, "c/d/three.pem")
	find("with another rule", rules(t, root, "Read(e)"), 5, "c/d/e")
	find("without rules", nil, 5)
}

// TestFind_bounds: exceeding a limit is reported, and fetched files are searched last.
func TestFind_bounds(t *testing.T) {
	root := t.TempDir()
	for i := range 50 {
		write(t, root, fmt.Sprintf("node_modules/m%d/.env", i))
	}
	write(t, root, "src/deep/.env", "zoo/.env")
	f, v := NewSecretFinder(root), rules(t, root, "Read(./.env)")
	f.now = later
	f.most = 40
	for range 2 { // from what it knows, too
		all, short := f.find(v)
		if want := []string{filepath.Join(root, "src/deep/.env"), filepath.Join(root, "zoo/.env")}; !slices.Equal(all, want) || !strings.Contains(short, "more than the 40 files") {
			t.Errorf("%q, %q", all, short)
		}
	}
	if text := f.Lacks(v); !strings.Contains(text, "more than the 40 files") || len(f.Find(v)) != 2 {
		t.Error(text)
	}
	f.most = maxSeen
	if text := f.Lacks(v); text != "" {
		t.Error(text)
	}
	if all, short := f.find(v); len(all) != 52 || short != "" {
		t.Errorf("%d, %q", len(all), short)
	}
	for i := range maxFound {
		write(t, root, fmt.Sprintf("many/%d.env", i))
	}
	if all, short := f.find(rules(t, root, "Read(**/*.env)")); len(all) != maxFound || !strings.Contains(short, "at most") {
		t.Errorf("%d, %q", len(all), short)
	}
}

// BenchmarkFind: three rules with patterns over a tree of 45,000 files.
func BenchmarkFind(b *testing.B) {
	root := b.TempDir()
	for d := range 500 {
		dir := filepath.Join(root, "some", strconv.Itoa(d%10), "package", strconv.Itoa(d))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		for f := range 90 {
			if err := os.WriteFile(filepath.Join(dir, "file"+strconv.Itoa(f)+".go"), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	denied := rules(b, root, "Read(**/*.pem)", "Read(./.env)", "Read(.env.*)")
	f := NewSecretFinder(root)
	f.now = later
	for name, fresh := range map[string]bool{"first": true, "again": false} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if fresh {
					f.last = found{}
				}
				f.find(denied)
			}
		})
	}
}
