package reach

import (
	"net"
	"syscall"
)

// Peer is the process at the other end and its user.
func Peer(conn *net.UnixConn) (pid, uid int, err error) {
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
