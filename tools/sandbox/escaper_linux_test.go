package sandbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// escaper is the first argument that makes the test's program the one that tries to escape.
const escaper = "fantail-escape"

// done is what the escaper prints when the kernel let it.
const done = "ESCAPED"

// prey are the places and processes that an escape is after, from the environment.
type prey struct {
	home, root string
	victim     int // a process of the same user
	parent     int // the test
	fd         int // a directory outside that the test left open
	secretFD   int
	port       int
	shm        int // a System V memory of the user's
	pts        string
	abstract   string
	shared     string // a file below /dev/shm
}

func hunted() prey {
	number := func(name string) int { n, _ := strconv.Atoi(os.Getenv(name)); return n }
	return prey{
		home: os.Getenv("FE_HOME"), root: os.Getenv("FE_ROOT"), victim: number("FE_VICTIM"), parent: number("FE_PARENT"), fd: number("FE_FD"),
		secretFD: number("FE_SECRET_FD"), port: number("FE_PORT"), shm: number("FE_SHM"), pts: os.Getenv("FE_PTS"), abstract: os.Getenv("FE_ABSTRACT"),
		shared: os.Getenv("FE_SHARED"),
	}
}

func (p prey) at(rel string) string  { return filepath.Join(p.home, rel) }
func (p prey) own(rel string) string { return filepath.Join(p.root, rel) }

// tryEscape makes one escape and prints the outcome.
func tryEscape(name string, args []string) int {
	runtime.LockOSThread()
	if name == "serve" {
		return serve(args)
	}
	f := escapes()[name]
	if f == nil {
		fmt.Println("nobody knows the escape", name)
		return 3
	}
	if err := f(hunted()); err != nil {
		fmt.Println(name+":", err)
		return 1
	}
	fmt.Println(done)
	return 0
}

// serve is the victim: it listens at a socket with a name relative to its directory, holds a secret in its memory, and
// keeps a private file open. It ends at the end of its standard input.
func serve(args []string) int {
	if f, err := os.Open(args[0]); err == nil {
		defer f.Close()
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return 1
	}
	if unix.Bind(fd, &unix.SockaddrUnix{Name: args[1]}) != nil || unix.Listen(fd, 8) != nil {
		return 1
	}
	go func() {
		for {
			if c, _, err := unix.Accept(fd); err == nil {
				_ = unix.Close(c)
				fmt.Println("reached")
			}
		}
	}()
	told := make(chan os.Signal, 1)
	signal.Notify(told, unix.SIGWINCH)
	go func() {
		for range told {
			fmt.Println("reached")
		}
	}()
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1))
	return 0
}

// reached returns nil if the kernel looked at the arguments of a system call: it did not refuse the call outright.
func reached(e error) error {
	if errors.Is(e, unix.EPERM) || errors.Is(e, unix.ENOSYS) || errors.Is(e, unix.EACCES) {
		return e
	}
	return nil
}

func call(n uintptr, a ...uintptr) error {
	_, err := ask(n, a...)
	return err
}

func ask(n uintptr, a ...uintptr) (uintptr, error) {
	var v [6]uintptr
	copy(v[:], a)
	r, _, e := unix.Syscall6(n, v[0], v[1], v[2], v[3], v[4], v[5])
	if e != 0 {
		return r, e
	}
	return r, nil
}

func text(s string) uintptr {
	b, _ := unix.BytePtrFromString(s)
	return uintptr(unsafe.Pointer(b))
}

// append adds a letter to the file, opened in one way or another.
func scribble(fd int, err error) error {
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte("escaped"))
	return err
}

func writeTo(path string) error {
	return scribble(unix.Open(path, unix.O_WRONLY|unix.O_APPEND, 0))
}

// spill prints the file.
func spill(path string) error {
	b, err := os.ReadFile(path)
	if err == nil && len(b) == 0 {
		err = errors.New("it is empty")
	}
	fmt.Printf("%s\n", b)
	return err
}

// spillAll prints the files below home that a process holds open.
func spillAll(dir, home string) error {
	list, err := os.ReadDir(dir)
	for _, e := range list {
		at := filepath.Join(dir, e.Name())
		if to, _ := os.Readlink(at); strings.HasPrefix(to, home+"/") {
			err = errors.Join(err, spill(at))
		}
	}
	return err
}

func pipeTo(family, kind, proto int, to unix.Sockaddr) error {
	fd, err := unix.Socket(family, kind, proto)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return speak(fd, kind, to)
}

func speak(fd, kind int, to unix.Sockaddr) error {
	if kind == unix.SOCK_DGRAM {
		return unix.Sendto(fd, []byte("escaped"), 0, to)
	}
	return unix.Connect(fd, to)
}

func socket(family, kind, proto int) func(prey) error {
	return func(prey) error {
		fd, err := unix.Socket(family, kind, proto)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}
}

func opens(flags int, paths ...string) func(prey) error {
	return func(prey) error {
		all := errors.New("there is none")
		for _, p := range paths {
			fd, err := unix.Open(p, flags|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
			if err == nil {
				_ = unix.Close(fd)
				return nil
			}
			all = errors.Join(all, fmt.Errorf("%s: %w", p, err))
		}
		return all
	}
}

// disks are the machine's block devices.
func disks() (all []string) {
	list, _ := os.ReadDir("/sys/block")
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), "loop") && !strings.HasPrefix(e.Name(), "ram") {
			all = append(all, "/dev/"+e.Name())
		}
	}
	return all
}

// races calls f while another thread swaps a directory and a link at the name.
func races(p prey, link string, f func(at string)) error {
	at, dir, other := p.own("swap"), p.own("swap-dir"), p.own("swap-link")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.Symlink(link, other), os.Rename(dir, at)); err != nil {
		return err
	}
	const tries = 2000
	var stop atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !stop.Load() {
			_ = unix.Renameat2(unix.AT_FDCWD, at, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
		}
	}()
	for range tries {
		f(at)
	}
	stop.Store(true)
	<-ended
	return nil
}

// escapes are those that need more than a shell, by name.
func escapes() map[string]func(prey) error {
	all := map[string]func(prey) error{}
	for _, some := range []map[string]func(prey) error{fileEscapes(), mountEscapes(), hiddenEscapes(), socketEscapes(), processEscapes(), kernelEscapes(), machineEscapes()} {
		for n, f := range some {
			all[n] = f
		}
	}
	return all
}

func fileEscapes() map[string]func(prey) error {
	victim := "outside/file"
	return map[string]func(prey) error{
		"write": func(p prey) error { return writeTo(p.at(victim)) },
		"openat2": func(p prey) error {
			return scribble(unix.Openat2(unix.AT_FDCWD, p.at(victim), &unix.OpenHow{Flags: unix.O_WRONLY}))
		},
		"creat": func(p prey) error { return scribble(unix.Creat(p.at("outside/created"), 0o644)) },
		"reopen": func(p prey) error {
			fd, err := unix.Open(p.at(victim), unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			return writeTo("/proc/self/fd/" + strconv.Itoa(fd))
		},
		"reopen-path": func(p prey) error {
			fd, err := unix.Open(p.at(victim), unix.O_PATH, 0)
			if err != nil {
				return err
			}
			return writeTo("/proc/thread-self/fd/" + strconv.Itoa(fd))
		},
		"self-root":   func(p prey) error { return writeTo("/proc/self/root" + p.at(victim)) },
		"self-cwd":    func(p prey) error { return writeTo("/proc/self/cwd/../" + victim) },
		"init-root":   func(p prey) error { return writeTo("/proc/1/root" + p.at(victim)) },
		"init-cwd":    func(prey) error { return writeTo("/proc/1/cwd/../" + victim) },
		"parent-root": func(p prey) error { return writeTo(fmt.Sprintf("/proc/%d/root%s", p.parent, p.at(victim))) },
		"parent-cwd": func(p prey) error {
			return scribble(unix.Open(fmt.Sprintf("/proc/%d/cwd/../outside/made", p.victim), unix.O_CREAT|unix.O_WRONLY, 0o644))
		},
		"victim-fds": func(p prey) error { return spillAll(fmt.Sprintf("/proc/%d/fd", p.victim), p.home) },
		"process-fds": func(p prey) error {
			all := errors.New("none can be opened")
			dirs, _ := filepath.Glob("/proc/[0-9]*/fd")
			for _, d := range dirs {
				all = errors.Join(all, spillAll(d, p.home))
			}
			return all
		},
		"truncate":   func(p prey) error { return unix.Truncate(p.at(victim), 1) },
		"fd-write":   func(p prey) error { return scribble(unix.Openat(p.fd, "made", unix.O_CREAT|unix.O_WRONLY, 0o644)) },
		"fd-up":      func(p prey) error { return scribble(unix.Openat(p.fd, "../notes", unix.O_WRONLY, 0)) },
		"tmpfile-in": func(p prey) error { return anonymous(p.root, p.at("outside/linked")) },
		"tmpfile":    func(p prey) error { return anonymous(p.at("outside"), p.at("outside/linked")) },
		"mmap": func(p prey) error {
			fd, err := unix.Open(p.at(victim), unix.O_RDWR, 0)
			if err != nil {
				return err
			}
			b, err := unix.Mmap(fd, 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			if err == nil {
				b[0] = 'E'
				err = unix.Munmap(b)
			}
			return err
		},
		"mmap-protect": func(p prey) error {
			fd, err := unix.Open(p.at(victim), unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			b, err := unix.Mmap(fd, 0, 4, unix.PROT_READ, unix.MAP_SHARED)
			if err != nil {
				return err
			}
			if err := unix.Mprotect(b, unix.PROT_READ|unix.PROT_WRITE); err != nil {
				return err
			}
			b[0] = 'E'
			return unix.Munmap(b)
		},
		"rename-out": func(p prey) error {
			return errors.Join(os.WriteFile(p.own("f"), nil, 0o600), unix.Rename(p.own("f"), p.at("outside/moved")))
		},
		"rename-in": func(p prey) error { return unix.Rename(p.at(victim), p.own("taken")) },
		"rename-over": func(p prey) error {
			return errors.Join(os.WriteFile(p.own("f"), nil, 0o600), unix.Rename(p.own("f"), p.at(victim)))
		},
		"exchange": func(p prey) error {
			return errors.Join(os.WriteFile(p.own("f"), nil, 0o600),
				unix.Renameat2(unix.AT_FDCWD, p.own("f"), unix.AT_FDCWD, p.at(victim), unix.RENAME_EXCHANGE))
		},
		"rename-home": func(p prey) error { return unix.Rename(p.root, p.at("elsewhere")) },
		"link-in": func(p prey) error {
			return errors.Join(unix.Link(p.at(victim), p.own("alias")), writeTo(p.own("alias")))
		},
		"link-out": func(p prey) error {
			return errors.Join(os.WriteFile(p.own("f"), nil, 0o600), unix.Link(p.own("f"), p.at("outside/linked")))
		},
		"symlink-out": func(p prey) error { return unix.Symlink("/", p.at("outside/link")) },
		"mkdir":       func(p prey) error { return unix.Mkdir(p.at("outside/made"), 0o755) },
		"rmdir":       func(p prey) error { return unix.Rmdir(p.at("outside/empty")) },
		"unlink":      func(p prey) error { return unix.Unlink(p.at(victim)) },
		"mkfifo":      func(p prey) error { return unix.Mkfifo(p.at("outside/fifo"), 0o644) },
		"bind-name": func(p prey) error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			return unix.Bind(fd, &unix.SockaddrUnix{Name: p.at("outside/made.sock")})
		},
		"chmod":     func(p prey) error { return unix.Chmod(p.at(victim), 0o777) },
		"fchmod":    func(p prey) error { return byFD(p.at(victim), func(fd int) error { return unix.Fchmod(fd, 0o777) }) },
		"fchmodat2": func(p prey) error { return call(unix.SYS_FCHMODAT2, ^uintptr(99), text(p.at(victim)), 0o777, 0) },
		"chown":     func(p prey) error { return unix.Chown(p.at(victim), 1, 1) },
		"utimes":    func(p prey) error { return unix.Utimes(p.at(victim), []unix.Timeval{{Sec: 1}, {Sec: 1}}) },
		"futimes": func(p prey) error {
			return byFD(p.at(victim), func(fd int) error { return unix.Futimes(fd, []unix.Timeval{{Sec: 1}, {Sec: 1}}) })
		},
		"setxattr": func(p prey) error { return unix.Setxattr(p.at(victim), "user.escaped", []byte("x"), 0) },
		"fsetxattr": func(p prey) error {
			return byFD(p.at(victim), func(fd int) error { return unix.Fsetxattr(fd, "user.escaped", []byte("x"), 0) })
		},
		"setxattrat": func(p prey) error {
			v := []byte("x")
			args := struct {
				value       uint64
				size, flags uint32
			}{uint64(uintptr(unsafe.Pointer(&v[0]))), 1, 0}
			return call(463, ^uintptr(99), text(p.at(victim)), 0, text("user.escaped"), uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args))
		},
		"removexattr": func(p prey) error { return unix.Removexattr(p.at(victim), "user.mark") },
		"flags": func(p prey) error {
			return byFD(p.at(victim), func(fd int) error {
				was, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
				if err != nil {
					return err
				}
				return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, was^0x40) // nodump
			})
		},
		"race-outside": func(p prey) error {
			return races(p, p.at("outside"), func(at string) { _ = os.WriteFile(filepath.Join(at, "raced"), []byte("x"), 0o600) })
		},
		"race-mkdir": func(p prey) error {
			return races(p, p.at("outside"), func(at string) { _ = os.Mkdir(filepath.Join(at, "raced"), 0o700) })
		},
		"race-hooks": func(p prey) error {
			return races(p, p.own(".git/hooks"), func(at string) { _ = os.WriteFile(filepath.Join(at, "post-merge"), []byte("x"), 0o700) })
		},
		"race-rename": func(p prey) error {
			return races(p, p.own(".git/hooks"), func(at string) {
				_ = os.WriteFile(p.own("r"), []byte("x"), 0o700)
				_ = os.Rename(p.own("r"), filepath.Join(at, "post-merge"))
			})
		},
		"kept-exchange": func(p prey) error {
			return errors.Join(os.MkdirAll(p.own("hooks2"), 0o755),
				unix.Renameat2(unix.AT_FDCWD, p.own("hooks2"), unix.AT_FDCWD, p.own(".git/hooks"), unix.RENAME_EXCHANGE))
		},
		"kept-parent": func(p prey) error {
			return errors.Join(os.MkdirAll(p.own("git2/hooks"), 0o755), os.WriteFile(p.own("git2/config"), []byte("x"), 0o600),
				unix.Renameat2(unix.AT_FDCWD, p.own("git2"), unix.AT_FDCWD, p.own(".git"), unix.RENAME_EXCHANGE))
		},
		"kept-tmpfile": func(p prey) error { return anonymous(p.root, p.own(".git/hooks/post-merge")) },
		"kept-link": func(p prey) error {
			return errors.Join(unix.Link(p.own(".git/config"), p.own("alias")), writeTo(p.own("alias")))
		},
		"kept-self-root": func(p prey) error { return writeTo("/proc/self/root" + p.own(".git/config")) },
		"kept-reopen": func(p prey) error {
			fd, err := unix.Open(p.own(".git/config"), unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			return writeTo("/proc/self/fd/" + strconv.Itoa(fd))
		},
		"kept-truncate": func(p prey) error { return unix.Truncate(p.own(".git/config"), 0) },
		"kept-chmod":    func(p prey) error { return unix.Chmod(p.own(".git/hooks/pre-commit"), 0o777) },
	}
}

func byFD(path string, f func(fd int) error) error {
	fd, err := unix.Open(path, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f(fd), unix.Close(fd))
}

// anonymous makes a file without a name in the directory, and then links it to one.
func anonymous(dir, name string) error {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
}

func mountEscapes() map[string]func(prey) error {
	ns := func(kind string) func(prey) error {
		return func(p prey) error {
			fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/%s", p.parent, kind), unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			return unix.Setns(fd, 0)
		}
	}
	unshared := func(flags int) func(prey) error { return func(prey) error { return unix.Unshare(flags) } }
	return map[string]func(prey) error{
		"bind-mount": func(p prey) error {
			d := p.own("mounted")
			if err := errors.Join(os.MkdirAll(d, 0o755), unix.Mount(p.at("outside"), d, "", unix.MS_BIND, "")); err != nil {
				return err
			}
			return errors.Join(writeTo(filepath.Join(d, "file")), unix.Unmount(d, unix.MNT_DETACH))
		},
		"remount": func(p prey) error {
			return reached(unix.Mount("", p.at("outside"), "", unix.MS_REMOUNT|unix.MS_BIND, ""))
		},
		"unmount-keep": func(p prey) error { return reached(unix.Unmount(p.own(".git/hooks"), unix.MNT_DETACH)) },
		"unmount-hide": func(p prey) error { return reached(unix.Unmount(p.at(".ssh"), unix.MNT_DETACH)) },
		"unshare-user": unshared(unix.CLONE_NEWUSER), "unshare-mount": unshared(unix.CLONE_NEWNS), "unshare-net": unshared(unix.CLONE_NEWNET),
		"setns-mnt": ns("mnt"), "setns-net": ns("net"), "setns-user": ns("user"), "setns-pid": ns("pid"),
		"setns-pidfd": func(p prey) error {
			fd, err := unix.PidfdOpen(p.parent, 0)
			if err != nil {
				return err
			}
			return unix.Setns(fd, unix.CLONE_NEWNET)
		},
		"pivot-root": func(p prey) error { return reached(unix.PivotRoot(p.root, p.root)) },
		"chroot":     func(p prey) error { return unix.Chroot(p.root) },
		"handle": func(p prey) error {
			h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, p.at("outside/file"), 0)
			if err != nil {
				return err
			}
			at, err := unix.Open(p.root, unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			return scribble(unix.OpenByHandleAt(at, h, unix.O_WRONLY))
		},
		"fsopen": func(prey) error { return call(unix.SYS_FSOPEN, text("tmpfs"), 0) },
		"fspick": func(prey) error { return call(unix.SYS_FSPICK, ^uintptr(99), text("/"), 0) },
		"open-tree": func(p prey) error {
			return call(unix.SYS_OPEN_TREE, ^uintptr(99), text(p.at("outside")), unix.OPEN_TREE_CLONE)
		},
		"open-tree-attr": func(p prey) error {
			attr := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
			return call(467, ^uintptr(99), text(p.at("outside")), unix.OPEN_TREE_CLONE, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
		},
		"move-mount": func(prey) error {
			return reached(call(unix.SYS_MOVE_MOUNT, ^uintptr(0), text(""), ^uintptr(0), text(""), 0))
		},
		"mount-setattr": func(p prey) error {
			attr := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
			return reached(call(unix.SYS_MOUNT_SETATTR, ^uintptr(99), text(p.at("outside")), 0, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr)))
		},
		"io-uring": func(prey) error {
			var params [120]byte
			return call(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params[0])))
		},
		"clone-user": func(prey) error { return cloned(unix.CLONE_NEWUSER) },
		"clone-net":  func(prey) error { return cloned(unix.CLONE_NEWNET) },
		"clone3": func(prey) error {
			args := struct{ flags, pidfd, child, parent, signal, stack, size, tls, tids, n, cgroup uint64 }{flags: unix.CLONE_NEWUSER, signal: uint64(unix.SIGCHLD)}
			r, _, e := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
			if r == 0 && e == 0 {
				_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
			}
			if e != 0 {
				return e
			}
			return nil
		},
	}
}

func cloned(flags uintptr) error {
	c := exec.Command("/bin/true")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	return c.Run()
}

func hiddenEscapes() map[string]func(prey) error {
	key := ".ssh/id_ed25519"
	return map[string]func(prey) error{
		"read-key":         func(p prey) error { return spill(p.at(key)) },
		"read-private":     func(p prey) error { return spill(p.at(".local/share/fantail/db")) },
		"read-self-root":   func(p prey) error { return spill("/proc/self/root" + p.at(key)) },
		"read-init-root":   func(p prey) error { return spill("/proc/1/root" + p.at(key)) },
		"read-parent-root": func(p prey) error { return spill(fmt.Sprintf("/proc/%d/root%s", p.parent, p.at(key))) },
		"read-victim-cwd":  func(p prey) error { return spill(fmt.Sprintf("/proc/%d/cwd/../%s", p.victim, key)) },
		"read-link":        func(p prey) error { return errors.Join(unix.Link(p.at(key), p.own("k")), spill(p.own("k"))) },
		"read-symlink":     func(p prey) error { return errors.Join(unix.Symlink(p.at(key), p.own("s")), spill(p.own("s"))) },
		"read-rename": func(p prey) error {
			return errors.Join(unix.Rename(p.at(".ssh"), p.own("moved")), spill(p.own("moved/id_ed25519")))
		},
		"read-fd": func(p prey) error {
			b := make([]byte, 100)
			n, err := unix.Pread(p.secretFD, b, 0)
			fmt.Printf("%s\n", b[:max(n, 0)])
			return err
		},
		"read-fds": func(prey) error {
			all := errors.New("no descriptor is left open")
			for fd := 3; fd < 1024; fd++ {
				b := make([]byte, 100)
				if n, err := unix.Pread(fd, b, 0); err == nil && n > 0 {
					fmt.Printf("%d: %s\n", fd, b[:n])
				}
			}
			return all
		},
		"read-init-fds": func(prey) error {
			for fd := range 64 {
				if f, err := os.OpenFile("/proc/1/fd/"+strconv.Itoa(fd), os.O_RDWR, 0); err == nil {
					link, _ := os.Readlink("/proc/1/fd/" + strconv.Itoa(fd))
					_ = f.Close()
					if strings.Contains(link, "memfd") || strings.HasPrefix(link, "/") && link != "/dev/null" {
						return nil
					}
				}
			}
			return errors.New("none can be opened")
		},
		"read-handle": func(p prey) error {
			h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, p.at(".ssh"), 0)
			if err != nil {
				return err
			}
			at, err := unix.Open(p.root, unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			fd, err := unix.OpenByHandleAt(at, h, unix.O_RDONLY|unix.O_DIRECTORY)
			if err != nil {
				return err
			}
			return spill(fmt.Sprintf("/proc/self/fd/%d/id_ed25519", fd))
		},
		"read-shared": func(p prey) error { return spill(p.shared) },
		"read-shm": func(p prey) error {
			b, err := unix.SysvShmAttach(p.shm, 0, unix.SHM_RDONLY)
			if err == nil {
				fmt.Printf("%s\n", bytes.TrimRight(b[:64], "\x00"))
			}
			return err
		},
		"read-disk": opens(unix.O_RDONLY, disks()...),
		"read-shadow": func(prey) error {
			b, err := os.ReadFile("/etc/shadow")
			if err == nil && len(b) == 0 {
				err = errors.New("it is empty")
			}
			return err
		},
	}
}

func socketEscapes() map[string]func(prey) error {
	all := map[string]func(prey) error{
		"tcp4": func(p prey) error {
			return pipeTo(unix.AF_INET, unix.SOCK_STREAM, 0, &unix.SockaddrInet4{Port: p.port, Addr: [4]byte{127, 0, 0, 1}})
		},
		"tcp6": func(p prey) error {
			return pipeTo(unix.AF_INET6, unix.SOCK_STREAM, 0, &unix.SockaddrInet6{Port: p.port, Addr: [16]byte{15: 1}})
		},
		"mptcp": func(p prey) error {
			return pipeTo(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, &unix.SockaddrInet4{Port: p.port, Addr: [4]byte{127, 0, 0, 1}})
		},
		"fastopen": func(p prey) error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Port: p.port, Addr: [4]byte{127, 0, 0, 1}})
		},
		"udp4": func(p prey) error {
			return pipeTo(unix.AF_INET, unix.SOCK_DGRAM, 0, &unix.SockaddrInet4{Port: p.port, Addr: [4]byte{127, 0, 0, 1}})
		},
		"raw": socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP), "packet": socket(unix.AF_PACKET, unix.SOCK_RAW, 0),
		"vsock": socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0), "alg": socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
		"bluetooth": socket(unix.AF_BLUETOOTH, unix.SOCK_RAW, 1), "xdp": socket(unix.AF_XDP, unix.SOCK_RAW, 0),
		"uevent": socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT), "audit": socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT),
		"generic": socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC), "diag": socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG),
		"netfilter": socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER),
		"families": func(prey) error {
			all := errors.New("none can be made")
			for f := 3; f < 50; f++ {
				if f == unix.AF_INET6 || f == unix.AF_NETLINK {
					continue
				}
				for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
					if fd, err := unix.Socket(f, kind, 0); err == nil {
						_ = unix.Close(fd)
						return nil
					}
				}
			}
			return all
		},
		"abstract": func(p prey) error {
			return pipeTo(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: "@" + p.abstract})
		},
		"pair": func(p prey) error { // a socket without the system call socket
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
			if err != nil {
				return err
			}
			return speak(pair[0], unix.SOCK_DGRAM, &unix.SockaddrUnix{Name: p.at("outside/log.sock")})
		},
		"pair-raw": func(p prey) error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_RAW, 0)
			if err != nil {
				return err
			}
			return speak(pair[0], unix.SOCK_DGRAM, &unix.SockaddrUnix{Name: p.at("outside/log.sock")})
		},
		"own-server": func(prey) error {
			l, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				return err
			}
			c, err := net.Dial("tcp4", l.Addr().String())
			if err != nil {
				return err
			}
			return errors.Join(c.Close(), l.Close())
		},
		"datagram": func(p prey) error {
			return pipeTo(unix.AF_UNIX, unix.SOCK_DGRAM, 0, &unix.SockaddrUnix{Name: p.at("outside/log.sock")})
		},
	}
	for name, path := range map[string]string{
		"outside": "outside/app.sock", "workspace": "project/app.sock", "relative": "project/relative.sock", "renamed": "outside/renamed.sock",
		"alias": "outside/alias.sock", "docker": ".docker/run/docker.sock", "agent": ".ssh/agent.sock", "private": ".local/share/fantail/host.sock",
	} {
		all["unix-"+name] = func(p prey) error {
			return pipeTo(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: p.at(path)})
		}
	}
	all["unix-long"] = func(p prey) error { // the same under another spelling of its name
		fd, err := unix.Open(p.at("outside"), unix.O_PATH, 0)
		if err != nil {
			return err
		}
		return pipeTo(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/app.sock", fd)})
	}
	return all
}

func processEscapes() map[string]func(prey) error {
	return map[string]func(prey) error{
		"ptrace":       func(p prey) error { return unix.PtraceAttach(p.victim) },
		"ptrace-seize": func(p prey) error { return unix.PtraceSeize(p.victim) },
		"vm-read": func(p prey) error {
			b := make([]byte, 8)
			local := []unix.Iovec{{Base: &b[0], Len: 8}}
			_, err := unix.ProcessVMReadv(p.victim, local, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
			return err
		},
		"vm-write": func(p prey) error {
			b := make([]byte, 8)
			_, err := unix.ProcessVMWritev(p.victim, []unix.Iovec{{Base: &b[0], Len: 8}}, []unix.RemoteIovec{{Base: 8, Len: 8}}, 0)
			return reached(err)
		},
		"mem":        func(p prey) error { return opens(unix.O_RDWR, fmt.Sprintf("/proc/%d/mem", p.victim))(p) },
		"mem-parent": func(p prey) error { return opens(unix.O_RDONLY, fmt.Sprintf("/proc/%d/mem", p.parent))(p) },
		"first-mem": func(p prey) error { // of the process that started the command
			places, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/mem", os.Getppid()))
			return opens(unix.O_RDWR, places...)(p)
		},
		"first-fds": func(p prey) error {
			places, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", os.Getppid()))
			return opens(unix.O_RDONLY, places...)(p)
		},
		"first-seize":  func(prey) error { return unix.PtraceSeize(os.Getppid()) },
		"environ":      func(p prey) error { return spill(fmt.Sprintf("/proc/%d/environ", p.victim)) },
		"environ-init": func(prey) error { return spill("/proc/1/environ") },
		"maps":         func(p prey) error { return opens(unix.O_RDONLY, fmt.Sprintf("/proc/%d/maps", p.victim))(p) },
		"kill":         func(p prey) error { return unix.Kill(p.victim, unix.SIGTERM) },
		"kill-parent":  func(p prey) error { return unix.Kill(p.parent, 0) },
		"kill-all":     func(prey) error { return unix.Kill(-1, unix.SIGWINCH) }, // the signal ends no process
		"kill-tgkill":  func(p prey) error { return unix.Tgkill(p.victim, p.victim, unix.SIGTERM) },
		"kill-sigqueue": func(p prey) error {
			info := [32]int32{0: int32(unix.SIGTERM), 2: -1} // SI_QUEUE
			return call(unix.SYS_RT_SIGQUEUEINFO, uintptr(p.victim), uintptr(unix.SIGTERM), uintptr(unsafe.Pointer(&info)))
		},
		"kill-pidfd": func(p prey) error {
			fd, err := unix.PidfdOpen(p.victim, 0)
			if err != nil {
				return err
			}
			return unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0)
		},
		"kill-sigio": func(p prey) error {
			var fds [2]int
			if err := unix.Pipe(fds[:]); err != nil {
				return err
			}
			for _, c := range [][2]int{{unix.F_SETOWN, p.victim}, {10, int(unix.SIGTERM)}, {unix.F_SETFL, unix.O_ASYNC}} {
				if _, err := unix.FcntlInt(uintptr(fds[0]), c[0], c[1]); err != nil {
					return err
				}
			}
			_, err := unix.Write(fds[1], []byte("x"))
			return err
		},
		"pidfd-getfd": func(p prey) error {
			fd, err := unix.PidfdOpen(p.victim, 0)
			if err != nil {
				return err
			}
			return call(unix.SYS_PIDFD_GETFD, uintptr(fd), 0, 0)
		},
		"prlimit": func(p prey) error {
			return unix.Prlimit(p.victim, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
		},
		"kcmp":      func(p prey) error { return call(unix.SYS_KCMP, uintptr(os.Getpid()), uintptr(p.victim), 0, 0, 0) },
		"pts-write": func(p prey) error { return writeTo(p.pts) },
		"pts-type": func(p prey) error {
			fd, err := unix.Open(p.pts, unix.O_RDWR, 0) // it becomes the terminal of a session without one
			if err != nil {
				return err
			}
			letter := byte('x')
			return call(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&letter)))
		},
		"type-own": func(prey) error { // into its own terminal: the request itself is refused
			fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
			if err != nil {
				return err
			}
			letter := byte('x')
			return call(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&letter)))
		},
		"type-high": func(prey) error { // the kernel checks only the lower half of the request
			fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
			if err != nil {
				return err
			}
			letter := byte('x')
			return call(unix.SYS_IOCTL, uintptr(fd), 1<<40|unix.TIOCSTI, uintptr(unsafe.Pointer(&letter)))
		},
		"console": func(prey) error {
			sub := byte(3)
			return reached(call(unix.SYS_IOCTL, 0, unix.TIOCLINUX, uintptr(unsafe.Pointer(&sub))))
		},
	}
}

func kernelEscapes() map[string]func(prey) error {
	return map[string]func(prey) error{
		"keyctl": func(prey) error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true); return err },
		"add-key": func(prey) error {
			_, err := unix.AddKey("user", "escaped", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
			return err
		},
		"request-key": func(prey) error { _, err := unix.RequestKey("user", "none", "", 0); return reached(err) },
		"userfaultfd": func(prey) error { return call(unix.SYS_USERFAULTFD, 1) },
		"perf": func(prey) error {
			_, err := unix.PerfEventOpen(&unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}, 0, -1, -1, 0)
			return err
		},
		"bpf": func(prey) error {
			attr := [16]uint32{2, 4, 4, 1} // an array
			return call(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
		},
		"fanotify": func(prey) error { return call(unix.SYS_FANOTIFY_INIT, 0x200, 0) },
		"syslog":   func(prey) error { return call(unix.SYS_SYSLOG, 10, 0, 0) },
		"module":   func(prey) error { return reached(call(unix.SYS_FINIT_MODULE, ^uintptr(0), text(""), 0)) },
		"hostname": func(prey) error {
			name, err := os.Hostname()
			if err != nil {
				return err
			}
			return unix.Sethostname([]byte(name))
		},
		"swapoff": func(prey) error { return reached(call(unix.SYS_SWAPOFF, text("/nonexistent"))) },
		"quota":   func(prey) error { return reached(call(unix.SYS_QUOTACTL_FD, ^uintptr(0), 0, 0, 0)) },
		"capset": func(prey) error {
			head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
			data := [2]unix.CapUserData{{Effective: 1 << unix.CAP_SYS_ADMIN, Permitted: 1 << unix.CAP_SYS_ADMIN}}
			return unix.Capset(&head, &data[0])
		},
		"ambient": func(prey) error {
			return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, unix.CAP_SYS_ADMIN, 0, 0)
		},
		"setuid": func(prey) error {
			if os.Getuid() != 0 {
				return unix.Setresuid(0, 0, 0)
			}
			return unix.Setresuid(4711, 4711, 4711)
		},
		"setgroups": func(prey) error { return unix.Setgroups([]int{6}) },
		"x32":       func(prey) error { return call(0x40000000 | unix.SYS_GETPID) },
		"int80":     func(prey) error { return compat() },
		"io-port":   func(prey) error { return port() },
	}
}

func machineEscapes() map[string]func(prey) error {
	return map[string]func(prey) error{
		"core-pattern": opens(unix.O_WRONLY, "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname"),
		"sysrq":        opens(unix.O_WRONLY, "/proc/sysrq-trigger"),
		"sys":          opens(unix.O_WRONLY, "/sys/power/state", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/profiling", "/sys/module/printk/parameters/time"),
		"kcore":        opens(unix.O_RDONLY, "/proc/kcore", "/proc/kmsg"),
		"dev-mem":      opens(unix.O_RDONLY, "/dev/mem", "/dev/port", "/dev/kmem"),
		"kmsg":         opens(unix.O_WRONLY, "/dev/kmsg"),
		"kmsg-read":    opens(unix.O_RDONLY, "/dev/kmsg"),
		"disk-write":   opens(unix.O_RDWR, disks()...),
		"terminals":    opens(unix.O_RDWR, "/dev/tty0", "/dev/tty1", "/dev/console", "/dev/ttyS0", "/dev/vcs1"),
		"devices":      opens(unix.O_RDWR, "/dev/kvm", "/dev/fuse", "/dev/loop-control", "/dev/uinput", "/dev/vhost-vsock", "/dev/btrfs-control", "/dev/net/tun"),
		"cgroup": func(prey) error {
			places, _ := filepath.Glob("/sys/fs/cgroup/*")
			all := errors.New("there is none")
			for _, p := range append(places, "/sys/fs/cgroup") {
				d := filepath.Join(p, "fantail-escape")
				err := unix.Mkdir(d, 0o755)
				if err == nil {
					return unix.Rmdir(d)
				}
				all = errors.Join(all, err)
			}
			return all
		},
		"cgroup-join": func(p prey) error {
			places, _ := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs")
			return opens(unix.O_WRONLY, append(places, "/sys/fs/cgroup/cgroup.procs")...)(p)
		},
		"node": func(p prey) error {
			if err := unix.Mknod(p.own("node"), unix.S_IFBLK|0o600, int(unix.Mkdev(7, 0))); err != nil {
				return err
			}
			return opens(unix.O_RDONLY, p.own("node"))(p)
		},
		"node-char": func(p prey) error {
			return unix.Mknod(p.own("mem"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 1)))
		},
		"setuid-file": func(p prey) error {
			return errors.Join(os.WriteFile(p.own("suid"), []byte("x"), 0o755), unix.Chmod(p.own("suid"), 0o4755))
		},
	}
}
