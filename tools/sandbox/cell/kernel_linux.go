package cell

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Constants of the kernel's headers that package syscall lacks.
const (
	oPath = 0x200000

	sysPidfdSendSignal       = 424
	sysMountSetattr          = 442
	sysLandlockCreateRuleset = 444
	sysLandlockAddRule       = 445
	sysLandlockRestrictSelf  = 446

	readOnly    = 1      // MOUNT_ATTR_RDONLY
	noDevices   = 4      // MOUNT_ATTR_NODEV
	atRecursive = 0x8000 // AT_RECURSIVE
	atFdCwd     = -100

	setDumpable   = 4
	setSubreaper  = 36 // PR_SET_CHILD_SUBREAPER
	setNoNewPrivs = 38
	dropBounding  = 24 // PR_CAPBSET_DROP
	ambient       = 47 // PR_CAP_AMBIENT
	clearAll      = 4
	setSeccomp    = 22
	filterMode    = 2

	Scopes        = 6 // the first ABI of Landlock that knows these
	scopeAbstract = 1 // LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	scopeSignal   = 2

	lastCap = 63
)

// fileCaps are the capabilities that root keeps in a sandbox: it needs them to work on files of others, as root in a
// container does. CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID.
const fileCaps = 0b11111

// ABI is Landlock's on this kernel; 0: there is none.
func ABI() int {
	n, _, e := syscall.RawSyscall(sysLandlockCreateRuleset, 0, 0, 1)
	if e != 0 {
		return 0
	}
	return int(n)
}

// Restrict makes the kernel restrict the calling thread, and everything that it starts, to the plan's rules and system
// calls, for good: the caller has locked itself to the thread and discards it.
func (p Plan) Restrict() error {
	if err := prctl(setNoNewPrivs, 1); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRCTL, ambient, clearAll, 0, 0, 0, 0) // may be missing
	for c := uintptr(0); c <= lastCap; c++ {
		if fileCaps>>c&1 == 0 {
			_ = prctl(dropBounding, c) // fails without the capability to drop; then none is gained either
		}
	}
	if err := bequeath(); err != nil {
		return fmt.Errorf("keep capabilities from the command: %w", err)
	}
	if len(p.Rules) > 0 {
		if err := landlock(p.ABI, p.Rules); err != nil {
			return fmt.Errorf("restrict by Landlock: %w", err)
		}
	}
	if len(p.Filter) == 0 {
		return nil
	}
	prog := struct {
		len    uint16
		filter *byte
	}{uint16(len(p.Filter) / 8), &p.Filter[0]}
	if _, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, setSeccomp, filterMode, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return fmt.Errorf("filter system calls: %w", e)
	}
	return nil
}

// bequeath clears the inheritable capabilities. The bounding set does not limit them: root's programs get them in any
// case.
func bequeath() error {
	head := struct {
		version uint32
		pid     int32
	}{0x20080522, 0} // _LINUX_CAPABILITY_VERSION_3
	var data [2]struct{ effective, permitted, inheritable uint32 }
	if _, _, e := syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&data)), 0); e != 0 {
		return e
	}
	data[0].inheritable, data[1].inheritable = 0, 0
	if _, _, e := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&data)), 0); e != 0 {
		return e
	}
	return nil
}

func prctl(option, value uintptr) error {
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, option, value, 0, 0, 0, 0); e != 0 {
		return e
	}
	return nil
}

// kill kills the process with that handle.
func kill(handle int) error {
	if _, _, e := syscall.RawSyscall6(sysPidfdSendSignal, uintptr(handle), uintptr(syscall.SIGKILL), 0, 0, 0, 0); e != 0 {
		return e
	}
	return nil
}

// landlock restricts the thread to the accesses that the rules grant.
func landlock(abi int, rules []Rule) error {
	attr := ruleset{fs: uint64(handled(abi))}
	size := uintptr(8)
	if abi >= Scopes {
		attr.scoped, size = scopeAbstract|scopeSignal, unsafe.Sizeof(attr)
	}
	set, _, e := syscall.RawSyscall(sysLandlockCreateRuleset, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return e
	}
	defer syscall.Close(int(set))
	for _, r := range rules {
		if err := grant(int(set), r, handled(abi)); err != nil {
			return fmt.Errorf("%s: %w", r.Path, err)
		}
	}
	if _, _, e := syscall.RawSyscall(sysLandlockRestrictSelf, set, 0, 0); e != 0 {
		return e
	}
	return nil
}

// ruleset is the kernel's struct that says which accesses a set of rules handles.
type ruleset struct{ fs, net, scoped uint64 }

// Scope makes the kernel keep the calling thread, and everything that it starts, from other processes' abstract sockets
// for good. It leaves files and mounts alone. Landlock's ABI must be at least [Scopes].
func Scope() error {
	if err := prctl(setNoNewPrivs, 1); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	attr := ruleset{scoped: scopeAbstract}
	set, _, e := syscall.RawSyscall(sysLandlockCreateRuleset, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if e != 0 {
		return fmt.Errorf("restrict by Landlock: %w", e)
	}
	defer syscall.Close(int(set))
	if _, _, e := syscall.RawSyscall(sysLandlockRestrictSelf, set, 0, 0); e != 0 {
		return fmt.Errorf("restrict by Landlock: %w", e)
	}
	return nil
}

// grant adds a rule to a set.
func grant(set int, r Rule, known Access) error {
	fd, err := syscall.Open(r.Path, oPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil // a missing or invisible path needs no rule
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return err
	}
	access := r.Access & known
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		access &= ofFiles
	}
	beneath := struct { // packed in the kernel: 12 bytes
		access uint64
		fd     int32
	}{uint64(access), int32(fd)}
	if _, _, e := syscall.RawSyscall6(sysLandlockAddRule, uintptr(set), 1, uintptr(unsafe.Pointer(&beneath)), 0, 0, 0); e != 0 {
		return e
	}
	return nil
}

// attribute sets and clears attributes of the mounts at path and below.
func attribute(path string, set, clear uint64) error {
	return attributeOf(path, atRecursive, set, clear)
}

// attributeOf does that with flag; without flag only for the mount at path.
func attributeOf(path string, flag uintptr, set, clear uint64) error {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	attr := struct{ set, clear, propagation, userns uint64 }{set: set, clear: clear}
	at := atFdCwd
	if _, _, e := syscall.RawSyscall6(sysMountSetattr, uintptr(at), uintptr(unsafe.Pointer(p)), flag,
		uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0); e != 0 {
		return e
	}
	return nil
}

// loopback brings the interface up.
func loopback() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	req := struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}{name: [16]byte{'l', 'o'}, flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	if _, _, e := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&req))); e != 0 {
		return e
	}
	return nil
}
