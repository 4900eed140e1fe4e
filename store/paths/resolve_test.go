package paths

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fantail/.ci/long"
)

// TestResolve: for any links, the result equals the standard library's.
func TestResolve(t *testing.T) {
	seed := long.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "b", "c", "..", ".", ""}
	some := func(most int) string {
		var parts []string
		for range 1 + r.IntN(most) {
			parts = append(parts, names[r.IntN(len(names))])
		}
		return strings.Join(parts, "/")
	}
	for range 200 {
		at := filepath.Join(dir, some(3))
		if !strings.HasPrefix(at, dir+"/") {
			continue
		}
		_ = os.MkdirAll(filepath.Dir(at), 0o700)
		switch to := some(4); r.IntN(5) {
		case 0:
			_ = os.Mkdir(at, 0o700)
		case 1:
			_ = os.WriteFile(at, nil, 0o600)
		case 2:
			_ = os.Symlink(filepath.Join(dir, to), at)
		case 3:
			_ = os.Symlink(to, at)
		}
	}
	found := 0
	for range long.Times(500, 5000) {
		abs := filepath.Join(dir, some(6))
		got, err := resolve(abs)
		want, wantErr := filepath.EvalSymlinks(abs)
		if got != want || (err == nil) != (wantErr == nil) {
			t.Errorf("%s is %q, %v; want %q, %v", abs, got, err, want, wantErr)
		}
		if err == nil {
			found++
		}
	}
	if found == 0 {
		t.Error("nothing is there")
	}
	if err := os.Symlink("itself", filepath.Join(dir, "itself")); err != nil {
		t.Fatal(err)
	}
	if _, err := resolve(filepath.Join(dir, "itself")); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link to itself: %v", err)
	}
}
