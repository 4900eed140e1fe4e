package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDirs: changes of files that matter are reported, wherever their directory came from; others are not.
func TestDirs(t *testing.T) {
	root := t.TempDir()
	w, err := NewDirs(root, func(name string) bool { return strings.HasSuffix(name, ".md") })
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "a", "b")
	told := make(chan struct{}, 100)
	w.Set([]string{root, other})
	w.Serve(func(_ string, f func()) { go f() }, func() {
		w.Set([]string{root, other})
		told <- struct{}{}
	})
	until := func(what string) {
		t.Helper()
		late := time.NewTimer(time.Minute)
		defer late.Stop()
		select {
		case <-told:
		case <-late.C:
			t.Fatalf("not told: %s", what)
		}
	}
	drain := func() {
		for {
			select {
			case <-told:
			default:
				return
			}
		}
	}
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		drain()
		must(os.WriteFile(filepath.Join(root, "AGENTS.md"), nil, 0o600))
		until("a new file")
		must(os.MkdirAll(filepath.Dir(other), 0o700))
		until("a directory on the way to one that is missing")
		must(os.Mkdir(other, 0o700))
		until("the directory itself")
		for watched := false; !watched; { // it is from its telling on
			for _, dir := range w.w.watching() {
				watched = watched || dir == other
			}
			if !watched {
				until("the directory is watched")
			}
		}
		drain()
		must(os.WriteFile(filepath.Join(other, "x.md"), nil, 0o600))
		until("a file in it")
		must(os.RemoveAll(filepath.Dir(other)))
		until("it is gone")
		must(os.Remove(filepath.Join(root, "AGENTS.md")))
		until("a file is gone")
	}
	must(os.WriteFile(filepath.Join(root, "main.go"), nil, 0o600)) // none of its business
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := NewDirs(filepath.Join(root, "nowhere"), nil); err == nil {
		t.Error("a directory that is not there is watched")
	}
}
