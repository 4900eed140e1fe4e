package watch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDirs: directories may come and go below one another, what is written in them is told, and where only some names count,
// others are not.
func TestDirs(t *testing.T) {
	root := t.TempDir()
	at := func(rel string) string { return filepath.Join(root, rel) }
	w, err := NewDirs(func() map[string][]string {
		dirs := map[string][]string{root: {"a"}, at("a"): {"b"}, at("a/b"): nil}
		found, _ := filepath.Glob(at("a/b/*"))
		for _, dir := range found {
			dirs[dir] = nil
		}
		return dirs
	})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan bool, 100)
	w.Serve(func(_ string, f func()) { go f() }, func() { told <- true })
	until := func(what string) {
		t.Helper()
		select {
		case <-told:
		case <-time.After(time.Minute):
			t.Fatalf("not told: %s", what)
		}
	}
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	// Each step waits until those before it are watched, which is so once a change in them is told.
	write := func(rel, what string) {
		t.Helper()
		for {
			must(os.WriteFile(at(rel), nil, 0o600))
			select {
			case <-told:
				return
			case <-time.After(2 * settle):
			}
			if t.Context().Err() != nil {
				t.Fatalf("not told: %s", what)
			}
		}
	}
	for range 2 {
		must(os.MkdirAll(at("a/b/skill"), 0o700))
		until("a new directory")
		write("a/b/x", "a file in a directory that came")
		write("a/b/skill/SKILL.md", "a file in one below it")
		must(os.RemoveAll(at("a")))
		until("a directory that went")
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
