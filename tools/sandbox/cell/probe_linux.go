package cell

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Prober is the first argument that makes the program try what a sandbox refuses.
const Prober = "fantail-probe"

// Try tries each attempt that the arguments name, and prints a line for each: its name, and whether it was done or why
// not. Attempts are NAME=WHERE:
//
//	write, read   a file
//	connect       a socket in the file system
//	tcp           a port of this machine
//	signal, trace a process
//	loopback      a server of its own
//	call          a system call by its number
func Try(args []string) int {
	for _, a := range args {
		name, where, _ := strings.Cut(a, "=")
		attempt := name
		if i := strings.IndexByte(name, '-'); i > 0 {
			attempt = name[:i] // the rest tells attempts of one kind apart
		}
		if err := attempts(attempt, where); err != nil {
			fmt.Printf("%s: %v\n", name, err)
		} else {
			fmt.Printf("%s: done\n", name)
		}
	}
	return 0
}

func attempts(name, where string) error {
	number := func() int { n, _ := strconv.Atoi(where); return n }
	switch name {
	case "write":
		f, err := os.OpenFile(where, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString("x")
		return errors.Join(err, f.Close())
	case "read":
		text, err := os.ReadFile(where)
		if err == nil && len(text) == 0 {
			err = errors.New("it is empty")
		}
		return err
	case "connect":
		return stream(syscall.AF_UNIX, func(fd int) error { return syscall.Connect(fd, &syscall.SockaddrUnix{Name: where}) })
	case "tcp":
		return dial(number())
	case "loopback":
		return converse()
	case "signal":
		return syscall.Kill(number(), 0)
	case "trace":
		return syscall.PtraceAttach(number())
	case "call":
		if _, _, e := syscall.Syscall(uintptr(number()), 0, 0, 0); e == syscall.EPERM || e == syscall.ENOSYS {
			return e
		}
		return nil
	}
	return errors.New("nobody knows this attempt")
}

// stream makes a socket and calls f with it.
func stream(family int, f func(fd int) error) error {
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(f(fd), syscall.Close(fd))
}

// dial connects to a port of this machine.
func dial(port int) error {
	return stream(syscall.AF_INET, func(fd int) error {
		return syscall.Connect(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	})
}

// converse listens on this machine and connects to itself.
func converse() error {
	return stream(syscall.AF_INET, func(fd int) error {
		if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return err
		}
		if err := syscall.Listen(fd, 1); err != nil {
			return err
		}
		at, err := syscall.Getsockname(fd)
		if err != nil {
			return err
		}
		return dial(at.(*syscall.SockaddrInet4).Port)
	})
}
