package screen

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// poll waits for descriptors with the runtime's own poller. If a thread blocked in a system call of ours instead, the
// runtime would wake up every 20 µs for 10 ms after each key, to see whether its processor is needed elsewhere.
type poll struct {
	fd    int // of epoll
	file  *os.File
	conn  syscall.RawConn
	asked map[int]uint32 // the events that are waited for, by descriptor
	came  [4]syscall.EpollEvent
}

func newPoll() (*poll, error) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil { // otherwise the runtime treats it as a file that can't be polled
		return nil, errors.Join(err, syscall.Close(fd))
	}
	p := &poll{fd: fd, file: os.NewFile(uintptr(fd), "epoll"), asked: map[int]uint32{}}
	if p.conn, err = p.file.SyscallConn(); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *poll) close() error { return p.file.Close() }

// wait waits for one of the wants, at most until the given time; zero: for ever. It leaves in them what is ready.
func (p *poll) wait(wants []want, until time.Time) error {
	for _, w := range wants {
		if err := p.ask(w); err != nil {
			return err
		}
	}
	if err := p.file.SetReadDeadline(until); err != nil {
		return err
	}
	var n int
	var failed error
	err := p.conn.Read(func(uintptr) bool {
		n, failed = syscall.EpollWait(p.fd, p.came[:], 0)
		return n > 0 || failed != nil
	})
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if failed != nil && failed != syscall.EINTR {
		return os.NewSyscallError("epoll_wait", failed)
	}
	for i := range wants {
		wants[i].became(p.came[:max(n, 0)])
	}
	return nil
}

// ask registers the wanted events of a descriptor with the kernel, and no others.
func (p *poll) ask(w want) error {
	e := syscall.EpollEvent{Fd: int32(w.fd)}
	if w.in {
		e.Events |= syscall.EPOLLIN
	}
	if w.out {
		e.Events |= syscall.EPOLLOUT
	}
	was, op := p.asked[w.fd], syscall.EPOLL_CTL_MOD
	switch {
	case was == e.Events:
		return nil
	case was == 0:
		op = syscall.EPOLL_CTL_ADD
	case e.Events == 0: // the kernel would report a hang-up even unasked
		op = syscall.EPOLL_CTL_DEL
	}
	p.asked[w.fd] = e.Events
	return os.NewSyscallError("epoll_ctl", syscall.EpollCtl(p.fd, op, w.fd, &e))
}

// became leaves in w what is ready. An end that hung up or failed counts as ready for what was wanted: the next call
// reports the error.
func (w *want) became(came []syscall.EpollEvent) {
	const over = syscall.EPOLLHUP | syscall.EPOLLERR
	var is uint32
	for _, e := range came {
		if int(e.Fd) == w.fd {
			is = e.Events
		}
	}
	w.in = w.in && is&(syscall.EPOLLIN|over) != 0
	w.out = w.out && is&(syscall.EPOLLOUT|over) != 0
}
