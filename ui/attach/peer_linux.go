package attach

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// credentials returns the process id and the user of the process at the other end.
func credentials(conn *net.UnixConn) (pid, uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var c *syscall.Ucred
	if e := raw.Control(func(fd uintptr) { c, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED) }); e != nil {
		return 0, 0, e
	}
	if err != nil {
		return 0, 0, err
	}
	return int(c.Pid), int(c.Uid), nil
}

// watch returns a function that reports whether the very process that connected still lives. Kernels before 6.5
// identify it only by its number: there any process with that number counts as the one.
func watch(conn *net.UnixConn) (lives func() bool, done func(), err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	var process int
	if e := raw.Control(func(fd uintptr) { process, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD) }); e != nil {
		return nil, nil, e
	}
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENODATA):
		return nil, nil, ErrGone
	case err != nil:
		return func() bool { return true }, func() {}, nil
	}
	lives = func() bool {
		ended := []unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}
		n, err := unix.Poll(ended, 0)
		for errors.Is(err, unix.EINTR) {
			n, err = unix.Poll(ended, 0)
		}
		return err == nil && n == 0
	}
	return lives, func() { _ = unix.Close(process) }, nil
}
