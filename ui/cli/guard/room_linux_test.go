package guard

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestGroupLimit(t *testing.T) {
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir() + "/"
	for path, text := range map[string]string{
		"proc/self/cgroup": "1:name=x:/y\n0::/user.slice/a b\n", "sys/fs/cgroup/user.slice/a b/memory.max": "33554432\n",
	} {
		must(os.MkdirAll(filepath.Dir(root+path), 0o700), os.WriteFile(root+path, []byte(text), 0o600))
	}
	file := root + "sys/fs/cgroup/user.slice/a b/memory.max"
	if path, n := groupLimit(root); path != file || n != 32<<20 {
		t.Errorf("%s: %d", path, n)
	}
	must(os.WriteFile(file, []byte("max\n"), 0o600))
	if _, n := groupLimit(root); n != math.MaxUint64 {
		t.Errorf("without a limit: %d", n)
	}
	must(os.Remove(root + "proc/self/cgroup"))
	if _, n := groupLimit(root); n != math.MaxUint64 {
		t.Errorf("without groups: %d", n)
	}
}

func BenchmarkNeedRoom(b *testing.B) {
	for b.Loop() {
		if err := NeedRoom(); err != nil {
			b.Fatal(err)
		}
	}
}
