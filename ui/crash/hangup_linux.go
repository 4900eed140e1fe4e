package crash

import (
	"errors"
	"os"
	"syscall"
)

// hungUp waits until one of the terminals is gone and returns true then. It costs a thread and no wake-up. It returns
// false if the system can't tell.
func hungUp(terminals ...*os.File) bool {
	e, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return false
	}
	defer syscall.Close(e)
	for _, f := range terminals {
		// A hang-up is reported even if no event is asked for.
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
