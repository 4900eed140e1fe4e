package tools

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// setAttribute reports whether the file system has extended attributes.
func setAttribute(path, name, value string) bool {
	return syscall.Setxattr(path, name, []byte(value), 0) == nil
}

func getAttribute(path, name string) string {
	b := make([]byte, 100)
	n, err := syscall.Getxattr(path, name, b)
	if err != nil {
		return ""
	}
	return string(b[:n])
}

// A file of a group that this process is not in keeps its group: it is written in place, unless it has another name.
func TestEdit_ofAnothersGroup(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a file of a group it then is not in")
	}
	e := place(t)
	const nobody = 65534
	put(t, e.Root+"/shared.txt", "old and long\n")
	put(t, e.Root+"/linked.txt", "old\n")
	if err := os.Link(e.Root+"/linked.txt", e.Root+"/other.txt"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shared.txt", "linked.txt"} {
		if err := os.Chown(filepath.Join(e.Root, name), nobody, 0); err != nil {
			t.Fatal(err)
		}
	}
	ok(t, e, "read_file", "path", "shared.txt")
	ok(t, e, "read_file", "path", "linked.txt")
	for _, d := range []string{filepath.Dir(top(e)), top(e), e.Root} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	edit := func(name string) (r Result) {
		c := parse(t, e, "edit_file", "path", name, "edits", []map[string]string{{"old": "old", "new": "new"}})
		as(t, nobody, func() { r = c.Run(t.Context()) })
		return r
	}
	if r := edit("shared.txt"); r.Error || text(t, e.Root+"/shared.txt") != "new and long\n" {
		t.Errorf("%+v", r)
	}
	fi, err := os.Lstat(e.Root + "/shared.txt")
	if err != nil {
		t.Fatal(err)
	}
	if s := fi.Sys().(*syscall.Stat_t); s.Uid != nobody || s.Gid != 0 {
		t.Errorf("the owner is %d:%d", s.Uid, s.Gid)
	}
	if r := edit("linked.txt"); !r.Error || !strings.Contains(r.Text, "belongs to user 65534 and group 0") || text(t, e.Root+"/other.txt") != "old\n" {
		t.Errorf("%+v", r)
	}
	left(t, e)
}

// as runs f with the file access of another user and group.
func as(t *testing.T, id int, f func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	set := func(id int) {
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSGID, uintptr(id), 0, 0)
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(id), 0, 0)
	}
	set(id)
	defer set(0)
	f()
}
