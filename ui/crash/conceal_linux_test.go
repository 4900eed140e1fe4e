package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// dumpable is whether the user's other processes may look into this one.
func dumpable() uintptr {
	n, _, _ := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_GET_DUMPABLE, 0, 0)
	return n
}

func TestConcealKeepsOthersOut(t *testing.T) {
	c := startChild(t, "concealed")
	if code := c.wait(t); code != 0 || c.out.String() != "0" {
		t.Errorf("exit code %d: %q", code, c.out.String())
	}
}

// A command gets its three descriptors and no other.
func TestConcealKeepsFilesFromCommands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	fd, err := syscall.Open(path, syscall.O_CREAT|syscall.O_RDWR, 0o600) // not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	was := dumpable()
	Conceal()
	defer func() { _, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, was, 0) }()
	out, err := exec.Command("/bin/sh", "-c", "readlink /proc/self/fd/"+strconv.Itoa(fd)).Output()
	if err == nil || len(out) > 0 {
		t.Errorf("the command has %q", out)
	}
}

// The program itself still finds its own descriptors, which file tools need.
func TestConcealLeavesOwnDescriptors(t *testing.T) {
	was := dumpable()
	Conceal()
	defer func() { _, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, was, 0) }()
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd()))); err != nil || filepath.Base(at) != "x" {
		t.Errorf("%q, %v", at, err)
	}
}
