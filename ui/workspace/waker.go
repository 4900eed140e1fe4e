package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"fantail/store/paths"
)

// Waker is how other processes tell the host that they deposited: a datagram socket in the runtime directory, to which
// each sends a byte after its COMMIT. The byte only means "look": a process that can send it can do no more by it.
type Waker struct {
	fd     int
	path   string
	closed atomic.Bool
}

// NewWaker makes the host's socket. The caller holds the host's lock, so a socket that exists already belongs to a
// dead host. Another kind of file in its place is an error.
func NewWaker(path string) (*Waker, error) {
	if err := paths.MakePrivate(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("open the wake-up socket: %w", err)
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("open the wake-up socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("open the wake-up socket: %s is not a socket; remove it", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove a dead host's wake-up socket: %w", err)
		}
	}
	fd, err := bellSocket()
	if err != nil {
		return nil, fmt.Errorf("open the wake-up socket: %w", err)
	}
	if err = syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the wake-up socket: %w", err), syscall.Close(fd))
	}
	return &Waker{fd: fd, path: path}, nil
}

// bellSocket returns a socket whose reads block a thread in the kernel: the runtime wakes up a goroutine that waits in
// its poller at every tick of every timer.
func bellSocket() (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	return fd, err
}

// Serve calls rung at once and after each wake-up, in a goroutine that start starts and Close ends.
func (b *Waker) Serve(start func(name string, f func()), rung func()) {
	start("bell", func() {
		defer syscall.Close(b.fd)
		buf := make([]byte, 16)
		for !b.closed.Load() {
			rung()
			_, _, err := syscall.Recvfrom(b.fd, buf, 0)
			for err == nil { // the same look covers further wake-ups
				_, _, err = syscall.Recvfrom(b.fd, buf, syscall.MSG_DONTWAIT)
			}
			if err != syscall.EAGAIN && err != syscall.EINTR {
				return
			}
		}
	})
}

// Close removes the socket and ends Serve.
func (b *Waker) Close() {
	b.closed.Store(true)
	_ = os.Remove(b.path)
	_ = syscall.Shutdown(b.fd, syscall.SHUT_RD)
}

// Wake wakes the host at that socket. It does nothing if no host listens.
func Wake(path string) {
	fd, err := bellSocket()
	if err != nil {
		return
	}
	defer syscall.Close(fd)
	_ = syscall.Sendto(fd, []byte{1}, syscall.MSG_DONTWAIT, &syscall.SockaddrUnix{Name: path})
}
