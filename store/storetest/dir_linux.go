package storetest

import (
	"os"
	"syscall"
	"testing"
)

// memory is where this system keeps files in memory.
const memory = "/dev/shm"

// room is how much is to be free there.
const room = 1 << 30

// Dir is a directory that ends with the test, in memory where there is room: what a test
// writes need not survive the machine, and a commit waits for no disk. A test of what is
// there once the power is back, or of a disk, wants its own.
func Dir(t testing.TB) string {
	t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memory, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < room {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "ft-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the test's directory: %v", err)
		}
	})
	return dir
}
