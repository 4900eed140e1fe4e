package sandbox

import (
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// never are system calls that no command needs and that lead, or have led, out of a sandbox: into other processes, into
// new namespaces and mounts, into the kernel.
var never = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_USERFAULTFD, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_FANOTIFY_INIT, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX,
	unix.SYS_OPEN_TREE_ATTR, unix.SYS_QUOTACTL_FD,
	unix.SYS_CLOCK_ADJTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_NFSSERVCTL,
}

// shared are calls that reach objects of the user's other processes by a number or a name that no rule on files covers;
// namespaces confine them.
var shared = []uint32{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// marking are calls that change attributes of files that are not writable; mounts prevent that. Programs work without
// them: some file systems have no attributes.
var marking = []uint32{
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
}

// markingRequests are requests of a file's descriptor that do.
var markingRequests = []uint32{unix.FS_IOC_SETFLAGS, fsSetXattr}

const fsSetXattr = 0x401c5820 // FS_IOC_FSSETXATTR

// moded are the calls that set a file's mode, and which argument holds it. Each could make a set-user-ID program.
var moded = map[uint32]uint32{
	unix.SYS_FCHMOD: dataArgLow1, unix.SYS_FCHMODAT: dataArgLow2, unix.SYS_FCHMODAT2: dataArgLow2,
	unix.SYS_OPENAT: dataArgLow3, unix.SYS_MKNODAT: dataArgLow2,
}

// namespaces are the flags of clone that make some.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS |
	unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// typing are the requests to a terminal that insert input, or take over its screen.
var typing = []uint32{unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCSETD, unix.TIOCCONS}

// sockets are the kinds of sockets that a command may make.
type sockets struct {
	inet bool // TCP, UDP and the like
	unix bool // with names on this machine
	wide bool // all other families
	own  bool // the command has its own namespaces and mounts
}

// Offsets in struct seccomp_data, which a filter reads. The lower half of an argument comes first on all machines that
// this is built for.
const (
	dataNumber  = 0
	dataArch    = 4
	dataArgLow0 = 16
	dataArgLow1 = 24
	dataArgLow2 = 32
	dataArgTop2 = 36
	dataArgLow3 = 40
)

const (
	allow = 0x7fff0000
	errno = 0x00050000
	kill  = 0x80000000
	x32   = 0x40000000 // the bit of calls as programs with short pointers make them
)

// filterOf assembles the filter of system calls, in the kernel's format. A refused socket fails as if no network could
// be reached, other calls as not permitted, and those that programs can do without as not implemented.
func filterOf(s sockets) ([]byte, error) {
	refuse := func(e unix.Errno) bpf.Instruction { return bpf.RetConstant{Val: errno | uint32(e)} }
	pass := bpf.RetConstant{Val: allow}
	equal := func(v uint32, skip uint8) bpf.Instruction {
		return bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipFalse: skip}
	}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: dataArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: nativeArch, SkipTrue: 1},
		bpf.RetConstant{Val: kill}, // another architecture's calls have other numbers
		bpf.LoadAbsolute{Off: dataNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1},
		refuse(unix.ENOSYS),
		equal(unix.SYS_CLONE3, 1), refuse(unix.ENOSYS), // its flags are in memory; C libraries then call clone
	}
	each := func(answer unix.Errno, calls ...uint32) {
		for _, n := range calls {
			program = append(program, equal(n, 1), refuse(answer))
		}
	}
	// A call with arguments is decided on the spot.
	decide := func(n uint32, how ...bpf.Instruction) {
		program = append(append(program, equal(n, uint8(len(how)))), how...)
	}
	load := func(at uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: at, Size: 4} }
	without := func(n, at, bits uint32) {
		decide(n, load(at), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: bits, SkipFalse: 1}, refuse(unix.EPERM), pass)
	}
	each(unix.EPERM, never...)
	each(unix.EPERM, neverHere...)
	each(unix.ENOSYS, unix.SYS_OPENAT2) // a filter can't read its mode in memory; programs then call openat
	requests := typing
	if !s.own {
		each(unix.ENOSYS, shared...)
		each(unix.ENOTSUP, marking...)
		requests = slices.Concat(typing, markingRequests)
		decide(unix.SYS_PRLIMIT64, // of another process
			load(dataArgLow0), equal(0, 1), pass,
			load(dataArgLow2), bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipFalse: 3},
			load(dataArgTop2), equal(0, 1), pass,
			refuse(unix.EPERM))
	}
	without(unix.SYS_CLONE, dataArgLow0, namespaces)
	for _, m := range []map[uint32]uint32{moded, modedHere} {
		for n, at := range m {
			without(n, at, unix.S_ISUID)
		}
	}
	typed := []bpf.Instruction{load(dataArgLow1)}
	for _, r := range requests {
		typed = append(typed, equal(r, 1), refuse(unix.EPERM))
	}
	decide(unix.SYS_IOCTL, append(typed, pass)...)
	program = append(program, s.rows(equal, refuse, pass)...)
	decide(unix.SYS_SOCKETPAIR, s.pairs(equal, refuse, pass)...)
	program = append(program, pass)
	raw, err := bpf.Assemble(program)
	if err != nil {
		return nil, fmt.Errorf("assemble the filter of system calls: %w", err)
	}
	out := make([]byte, 0, 8*len(raw))
	for _, r := range raw {
		out = binary.NativeEndian.AppendUint16(out, r.Op)
		out = append(out, r.Jt, r.Jf)
		out = binary.NativeEndian.AppendUint32(out, r.K)
	}
	return out, nil
}

// rows decide socket. Libraries everywhere read the machine's own addresses from a netlink of routes.
func (s sockets) rows(equal func(uint32, uint8) bpf.Instruction, refuse func(unix.Errno) bpf.Instruction, pass bpf.Instruction) []bpf.Instruction {
	inside := []bpf.Instruction{bpf.LoadAbsolute{Off: dataArgLow0, Size: 4}}
	for _, f := range []struct {
		family uint32
		passes bool
	}{{unix.AF_UNIX, s.unix}, {unix.AF_INET, s.inet}, {unix.AF_INET6, s.inet}} {
		answer := pass
		if !f.passes && f.family == unix.AF_UNIX {
			answer = refuse(unix.EPERM)
		} else if !f.passes {
			answer = refuse(unix.ENETUNREACH)
		}
		inside = append(inside, equal(f.family, 1), answer)
	}
	if s.wide {
		inside = append(inside, pass)
		return append([]bpf.Instruction{equal(unix.SYS_SOCKET, uint8(len(inside)))}, inside...)
	}
	inside = append(inside,
		equal(unix.AF_NETLINK, 3),
		bpf.LoadAbsolute{Off: dataArgLow2, Size: 4},
		equal(unix.NETLINK_ROUTE, 1),
		pass,
		refuse(unix.EPERM),
	)
	return append([]bpf.Instruction{equal(unix.SYS_SOCKET, uint8(len(inside)))}, inside...)
}

// pairs decide socketpair. One half of a pair of datagram sockets sends to any name in the file system.
func (s sockets) pairs(equal func(uint32, uint8) bpf.Instruction, refuse func(unix.Errno) bpf.Instruction, pass bpf.Instruction) []bpf.Instruction {
	how := []bpf.Instruction{bpf.LoadAbsolute{Off: dataArgLow0, Size: 4}, bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_UNIX, SkipTrue: 1}, refuse(unix.EPERM)}
	if s.unix {
		return append(how, pass)
	}
	const kind = 0xf // the rest are flags
	return append(how,
		bpf.LoadAbsolute{Off: dataArgLow1, Size: 4}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: kind},
		equal(unix.SOCK_STREAM, 1), pass,
		equal(unix.SOCK_SEQPACKET, 1), pass,
		refuse(unix.EPERM),
	)
}
