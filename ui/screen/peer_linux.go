package screen

import "syscall"

// peer is the user at the other end of a connection.
func peer(fd int) (uid int, err error) {
	c, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(c.Uid), nil
}
