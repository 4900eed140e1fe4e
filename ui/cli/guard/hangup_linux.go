package guard

import (
	"errors"
	"os"
	"syscall"
)

// hungUp waits until one of the terminals is gone and reports that it is. It
// costs a thread and no wake-up. It returns false if it can't be known.
func hungUp(terminals ...*os.File) bool {
	e, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return false
	}
	defer syscall.Close(e)
	for _, f := range terminals {
		// Without any event asked for, the end of the line is still told.
		fd := int(f.Fd())
		if err := syscall.EpollCtl(e, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Fd: int32(fd)}); err != nil {
			return false
		}
	}
	for {
		n, err := syscall.EpollWait(e, make([]syscall.EpollEvent, 1), -1)
		if n > 0 || !errors.Is(err, syscall.EINTR) {
			return n > 0
		}
	}
}
