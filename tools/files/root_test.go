package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// grown makes a workspace with files, and others next to it to which its links lead.
func grown(t *testing.T) (dir string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "ws")
	for name, text := range map[string]string{"ws/a.md": "one", "ws/sub/b.md": "two", "ws/sub/long": strings.Repeat("x", 1000), "secret": "out"} {
		path := filepath.Join(top, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for link, to := range map[string]string{
		"sub/up": "../a.md", "sub/out": "../../secret", "sub/abs": filepath.Join(top, "secret"), "away": "..", "loop": "loop",
	} {
		check(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	check(t, syscall.Mkfifo(filepath.Join(dir, "sub/pipe"), 0o600))
	return dir
}

// TestRead: regular files are read up to the limit, links are followed inside the tree, and no read blocks.
func TestRead(t *testing.T) {
	dir := grown(t)
	for _, bound := range []bool{true, false} {
		h := Root{Dir: dir, Bound: bound}.Open()
		defer h.Close()
		h.Near("sub")
		for _, c := range []struct{ rel, text, err string }{
			{"a.md", "one", ""},
			{"sub/b.md", "two", ""},
			{"sub/up", "one", ""},
			{"sub/../a.md", "one", ""},
			{"sub/long", strings.Repeat("x", 100), ""},
			{"sub/out", "out", "it leads out of the workspace"},
			{"sub/abs", "out", "it leads out of the workspace"},
			{"away/secret", "out", "it leads out of the workspace"},
			{"sub/pipe", "", "it is no regular file"},
			{"sub", "", "it is a directory"},
			{"loop", "", "too many levels of symbolic links"},
			{"none/x", "", "no such file or directory"},
		} {
			text, _, err := h.Read(c.rel, 100)
			switch {
			case !bound && c.text != "":
				c.err = ""
			case c.err != "":
				c.text = ""
			}
			if said := ""; err != nil {
				if said = err.Error(); c.err == "" || !strings.Contains(said, c.err) || strings.Contains(said, dir) {
					t.Errorf("%v %s: %s; want %q", bound, c.rel, said, c.err)
				}
			} else if c.err != "" || string(text) != c.text {
				t.Errorf("%v %s: %q; want %q, %q", bound, c.rel, text, c.text, c.err)
			}
		}
	}
	if _, size, err := (Root{Dir: dir, Bound: true}).Open().Read("sub/long", 10); size != 1000 || err != nil {
		t.Error(size, err)
	}
}

// TestList: a directory is listed up to the limit, and a missing one is empty.
func TestList(t *testing.T) {
	dir := grown(t)
	h := Root{Dir: dir, Bound: true}.Open()
	defer h.Close()
	for _, c := range []struct {
		rel  string
		most int
		want int
		err  bool
	}{{".", 100, 4, false}, {"sub", 2, 2, false}, {"none", 9, 0, false}, {"a.md/x", 9, 0, false}, {"away", 9, 0, true}} {
		if es, err := h.List(c.rel, c.most); len(es) != c.want || (err != nil) != c.err {
			t.Errorf("%s: %d names, %v", c.rel, len(es), err)
		}
	}
}

// TestWhole: a file that exceeds the limit is not read at all, and in a missing directory each read is an error.
func TestWhole(t *testing.T) {
	tr := Root{Dir: grown(t), Bound: true}
	if text, err := tr.Whole("sub/b.md", 3); string(text) != "two" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	if _, err := tr.Whole("sub/long", 999); err == nil || err.Error() != "it has 1000 bytes, at most 999 are read" {
		t.Error(err)
	}
	tr.Dir += "-gone"
	h := tr.Open()
	defer h.Close()
	if _, _, err := h.Read("x", 1); !errors.Is(err, fs.ErrNotExist) || h.Err() == nil {
		t.Error(err, h.Err())
	}
}

// TestRead_swapped: a directory that becomes a link out of the tree during a read leads nowhere, and neither does a
// resolved path that becomes one.
func TestRead_swapped(t *testing.T) {
	dir := grown(t)
	h := Root{Dir: dir, Bound: true}.Open()
	defer h.Close()
	h.Near("sub")
	if text, _, err := h.Read("sub/b.md", 9); string(text) != "two" {
		t.Fatal(err)
	}
	check(t, os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "was")))
	check(t, os.WriteFile(filepath.Join(dir, "../b.md"), []byte("out"), 0o600))
	check(t, os.Symlink("..", filepath.Join(dir, "sub")))
	if text, _, _ := h.Read("sub/b.md", 9); string(text) != "two" {
		t.Errorf("the directory that is held has %q", text)
	}
	h.Near("was")
	if text, _, err := h.Read("sub/b.md", 9); err == nil {
		t.Errorf("a file out of the tree was read: %q", text)
	}
	resolved := Root{Dir: dir, Bound: true, Resolved: true}.Open()
	defer resolved.Close()
	for _, near := range []string{"", "was"} {
		if near != "" {
			resolved.Near(near)
		}
		if text, _, err := resolved.Read("was/up", 9); err == nil {
			t.Errorf("a link was followed to %q", text)
		}
	}
}
