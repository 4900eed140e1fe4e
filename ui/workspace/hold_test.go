package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGround(t *testing.T) {
	root := filepath.Join(t.TempDir(), "ws")
	make := func() {
		t.Helper()
		if err := os.Mkdir(root, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	make()
	ground, err := HoldGround(root)
	if err != nil {
		t.Fatal(err)
	}
	says := func(want string) {
		t.Helper()
		err := ground()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	says("")
	if err := os.WriteFile(filepath.Join(root, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	says("")
	if err := os.Rename(root, root+"-2"); err != nil {
		t.Fatal(err)
	}
	says("was moved or deleted")
	make()
	says("another directory")
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(root+"-2", root); err != nil {
		t.Fatal(err)
	}
	says("")
}
