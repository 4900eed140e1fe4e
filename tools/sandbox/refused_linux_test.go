package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"fantail/.ci/long"
	"fantail/tools/sandbox"
)

// unspaced is "asked" for a program that must lose the right to make namespaces, and "so" once it has, with its
// children.
const unspaced = "FE_UNSPACED"

// refuse makes the kernel refuse namespaces to this program, as where they are switched off, and starts it again.
func refuse() error {
	const all = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	const allow, errno = 0x7fff0000, 0x00050000
	is := func(call uint32, yes, no uint8) bpf.Instruction {
		return bpf.JumpIf{Cond: bpf.JumpEqual, Val: call, SkipTrue: yes, SkipFalse: no}
	}
	raw, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 0, Size: 4}, // the call's number
		is(unix.SYS_CLONE3, 0, 1),
		bpf.RetConstant{Val: errno | uint32(unix.ENOSYS)}, // its flags are in memory
		is(unix.SYS_CLONE, 1, 0), is(unix.SYS_UNSHARE, 0, 3),
		bpf.LoadAbsolute{Off: 16, Size: 4}, // its flags
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: all, SkipFalse: 1},
		bpf.RetConstant{Val: errno | uint32(unix.EPERM)},
		bpf.RetConstant{Val: allow},
	})
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, 0, len(raw))
	for _, r := range raw {
		filter = append(filter, unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K})
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Setenv(unspaced, "so"); err != nil {
		return err
	}
	return syscall.Exec(exe, os.Args, os.Environ())
}

// Where the kernel refuses namespaces, Find returns the backend that needs none. It reports the refusal, it confines a
// command, and it detects changes of protected files.
func TestFind_refused(t *testing.T) {
	switch os.Getenv(unspaced) {
	case "so":
	case "asked":
		t.Fatal("the program was not begun anew")
	default:
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestFind_refused$", "-test.v")
		c.Env = append(os.Environ(), unspaced+"=asked")
		out, err := c.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
		asUser(t, "^TestFind_refused$", os.Getenv("PATH"), unspaced+"=asked")
		return
	}
	for _, n := range []string{"clone-user", "clone-net", "clone3", "unshare-user", "unshare-mount"} {
		if err := escapes()[n](prey{}); err == nil {
			t.Fatalf("%s is not refused", n)
		}
	}
	w := sandbox.Find(t.Context())
	t.Logf("found as %d: %s; %s", os.Getuid(), w.Word(), w.Why())
	if w.Kind != sandbox.Landlock || len(w.Facts) == 0 {
		t.Fatalf("the wall is %q: %s", w.Kind, w.Why())
	}
	if len(w.Faults) != 2 || !strings.HasPrefix(w.Faults[0], "bubblewrap: ") ||
		w.Faults[1] != "namespaces: the kernel starts no process in it: operation not permitted" {
		t.Errorf("what was refused is %q", w.Faults)
	}
	at := place(t)
	firsts := slices.DeleteFunc(attempts(), func(e escape) bool { return !e.first })
	try(t, drawn(firsts, long.Seed(t), 6, len(firsts)), w, holders[0], at)

	s := newStage(t, at)
	defer s.end()
	before, err := sandbox.TakeSnapshot(s.kept)
	must(t, err)
	s.run(escape{name: "hook", how: `echo x >.git/hooks/pre-commit`}, w, holders[0])
	changed, err := before.Changes()
	must(t, err)
	if len(changed) != 1 || changed[0] != (sandbox.Change{Path: filepath.Join(s.root, ".git/hooks/pre-commit"), What: sandbox.Changed}) {
		t.Errorf("of what is protected these are seen to have changed: %v", changed)
	}
}
