package storetest

import (
	"os"
	"syscall"
	"testing"
)

// memory is the directory of a file system in memory.
const memory = "/dev/shm"

// room is how many bytes must be free there.
const room = 1 << 30

// roomy reports whether tests can use the directory: it has enough room, and programs in it can run.
func roomy() bool {
	const noexec = 0x8 // ST_NOEXEC
	var fs syscall.Statfs_t
	return syscall.Statfs(memory, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= room && fs.Flags&noexec == 0
}

// Dir returns a directory that is removed with the test, in memory where there is room: a test's files need not survive
// the machine, and no commit waits for a disk. A test of a disk, or of files after a power loss, needs another
// directory.
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

// Memory makes all temporary directories of this process and its children be in memory, as [Dir] does. It is for the
// TestMain of a package whose tests write many databases.
func Memory() {
	if os.Getenv("TMPDIR") == "" && roomy() {
		_ = os.Setenv("TMPDIR", memory) // a name that can be set
	}
}
