//go:build !linux

package attach

import (
	"net"

	"golang.org/x/sys/unix"
)

// credentials returns the process id and the user of the process at the other end.
func credentials(conn *net.UnixConn) (pid, uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var c *unix.Xucred
	if e := raw.Control(func(fd uintptr) {
		if c, err = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); err == nil {
			pid, err = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		}
	}); e != nil {
		return 0, 0, e
	}
	if err != nil {
		return 0, 0, err
	}
	return pid, int(c.Uid), nil
}

// watch returns a function that reports whether the process that connected still lives. Here the process is known only
// by its number, so it always returns true.
func watch(*net.UnixConn) (lives func() bool, done func(), err error) {
	return func() bool { return true }, func() {}, nil
}
