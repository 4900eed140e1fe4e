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

// roomy reports whether files can be in memory: there is room, and programs among them can be run.
func roomy() bool {
	const noexec = 0x8 // ST_NOEXEC
	var fs syscall.Statfs_t
	return syscall.Statfs(memory, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= room && fs.Flags&noexec == 0
}

// Dir is a directory that ends with the test, in memory where there is room: what a test
// writes need not survive the machine, and a commit waits for no disk. A test of what is
// there once the power is back, or of a disk, wants its own.
func Dir(t testing.TB) string {
	t.Helper()
	if !roomy() {
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

// Memory has all temporary directories of this process and of what it starts made in memory, as [Dir] does. It is for the
// TestMain of a package whose tests write many databases.
func Memory() {
	if os.Getenv("TMPDIR") == "" && roomy() {
		_ = os.Setenv("TMPDIR", memory) // a name that can be set
	}
}
