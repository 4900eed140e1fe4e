package screen

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// poll waits for descriptors by the runtime's own poller. A thread that waited in a call of ours would have the runtime
// wake up every 20 µs for 10 ms after each key, to see whether its processor is needed elsewhere.
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
	if err := syscall.SetNonblock(fd, true); err != nil { // else the runtime takes it for a file that can't be waited for
		return nil, errors.Join(err, syscall.Close(fd))
	}
	p := &poll{fd: fd, file: os.NewFile(uintptr(fd), "epoll"), asked: map[int]uint32{}}
	if p.conn, err = p.file.SyscallConn(); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *poll) close() error { return p.file.Close() }

// wait waits for one of the wants until then at the latest; zero: for ever. What it leaves of them is ready.
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

// ask has the kernel wait for what is wanted, and for nothing else.
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
	case e.Events == 0: // an end that hung up would be told of without having been asked for
		op = syscall.EPOLL_CTL_DEL
	}
	p.asked[w.fd] = e.Events
	return os.NewSyscallError("epoll_ctl", syscall.EpollCtl(p.fd, op, w.fd, &e))
}

// became leaves what is ready. An end that hung up or failed is ready for what was wanted of it, which says so.
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
