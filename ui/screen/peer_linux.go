package screen

import "syscall"

// peer returns the process at the other end of a connection, and its user.
func peer(fd int) (pid, uid int, err error) {
	c, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return 0, -1, err
	}
	return int(c.Pid), int(c.Uid), nil
}
