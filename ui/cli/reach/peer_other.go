//go:build !linux

package reach

import (
	"net"

	"golang.org/x/sys/unix"
)

// Peer is the process at the other end and its user.
func Peer(conn *net.UnixConn) (pid, uid int, err error) {
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
