package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	path := filepath.Join(dir, "kept.json")
	if _, err := ReadOwn(path, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
	for _, text := range []string{"first", "second"} {
		if err := WriteOwn(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadOwn(path, 10); string(got) != text || err != nil {
			t.Errorf("it holds %q, %v", got, err)
		}
	}
	if i, err := os.Stat(path); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", i.Mode(), err)
	}
	if i, err := os.Stat(dir); err != nil || i.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", i.Mode(), err)
	}
	if _, err := ReadOwn(path, 5); err == nil || !strings.Contains(err.Error(), "6 bytes") {
		t.Errorf("one that is too large: %v", err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOwn(link, 10); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Errorf("a link: %v", err)
	}
	if err := WriteOwn(link, []byte("third"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, _ := ReadOwn(path, 10); string(got) != "second" {
		t.Errorf("the link's file holds %q", got)
	}
}

// A failed write leaves the old text, and no other file.
func TestWrite_fails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteOwn(path, []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("the directory holds %v, %v", all, err)
	}
}
