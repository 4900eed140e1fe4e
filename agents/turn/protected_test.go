package turn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/tools/permission"
	"fantail/tools/sandbox"
)

// over returns a watch over those files of a new workspace, which are empty, and the workspace. A name that ends in a
// slash is a directory's.
func over(t *testing.T, names ...string) (w *ProtectedFiles, root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	var paths []string
	for _, name := range names {
		path := filepath.Join(root, name)
		paths = append(paths, path)
		if strings.HasSuffix(name, "/") {
			check(t, os.Mkdir(path, 0o700))
		} else {
			check(t, os.WriteFile(path, nil, 0o600))
		}
	}
	w = NewProtectedFiles(ProtectedOptions{
		Root: root, Before: func() []string { return slices.Clone(paths) }, Aside: filepath.Join(t.TempDir(), "aside"),
		Changes: &permission.Changes{}, Now: time.Now,
	})
	return w, root
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// runs is a command: what it changed, if it changed anything it must not.
func runs(t *testing.T, w *ProtectedFiles, does func()) *ProtectedFound {
	t.Helper()
	end, err := w.Begin(t.Context(), nil)
	check(t, err)
	does()
	return end()
}

// crowd fills a directory with more than anybody looks at.
func crowd(t *testing.T, path string) {
	t.Helper()
	for n := range 10_001 {
		check(t, os.WriteFile(filepath.Join(path, fmt.Sprint(n)), nil, 0o600))
	}
}

func changed(f *ProtectedFound, path string) bool {
	return f != nil && slices.ContainsFunc(f.Changes, func(c sandbox.Change) bool { return c.Path == path })
}

// What can't be put back keeps nothing else from it, and is not taken for what there was: the next command's end finds
// it again, and whoever decides then may put it back.
func TestPutBack_fails(t *testing.T) {
	w, root := over(t, "envrc", "hooks/")
	envrc, hooks := filepath.Join(root, "envrc"), filepath.Join(root, "hooks")
	f := runs(t, w, func() {
		check(t, os.WriteFile(envrc, []byte("evil"), 0o600))
		crowd(t, hooks)
	})
	if !changed(f, envrc) || f.fault == nil {
		t.Fatalf("found %+v", f)
	}
	if err := f.PutBack(); !errors.Is(err, f.fault) {
		t.Errorf("put back: %v", err)
	}
	if b, err := os.ReadFile(envrc); err != nil || len(b) > 0 {
		t.Errorf("envrc is %q, %v", b, err)
	}

	for n := range 10_000 { // it can be looked at again
		check(t, os.Remove(filepath.Join(hooks, fmt.Sprint(n))))
	}
	last := filepath.Join(hooks, "10000")
	f = runs(t, w, func() {})
	if !changed(f, last) || f.fault != nil {
		t.Fatalf("the next command's end found %+v", f)
	}
	check(t, f.PutBack())
	if _, err := os.Stat(last); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if f = runs(t, w, func() {}); f != nil {
		t.Errorf("put back, and found again: %+v", f)
	}
}

// What holds too much to be looked at is left out once a human let that stay, and nothing beside it, whatever it is called.
func TestKeep_leavesOutWhatHoldsTooMuch(t *testing.T) {
	w, root := over(t, "config", "config.d/")
	f := runs(t, w, func() { crowd(t, filepath.Join(root, "config.d")) })
	if f == nil || f.fault == nil {
		t.Fatalf("found %+v", f)
	}
	check(t, f.Keep())
	f = runs(t, w, func() {
		check(t, os.WriteFile(filepath.Join(root, "config.d", "more"), nil, 0o600))
		check(t, os.WriteFile(filepath.Join(root, "config"), []byte("evil"), 0o600))
	})
	if f == nil || f.fault != nil || len(f.Changes) != 1 || !changed(f, filepath.Join(root, "config")) {
		t.Errorf("found %+v", f)
	}
}
