package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"fantail/store/config/paths"
)

// Bell is where other processes tell the host that they deposited: a datagram
// socket in the runtime directory, to which each sends a byte after its COMMIT.
// The byte says nothing but "look": whoever can send it can do no more by it.
type Bell struct {
	fd     int
	path   string
	closed atomic.Bool
}

// HangBell hangs the host's bell; the caller holds the host's lock, so a socket
// that is there already belongs to a host that died. Anything else in its place
// is an error.
func HangBell(path string) (*Bell, error) {
	if err := paths.MakePrivate(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("hang the bell: %w", err)
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("hang the bell: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("hang the bell: %s is no socket; remove it", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("take down a dead host's bell: %w", err)
		}
	}
	fd, err := bellSocket()
	if err != nil {
		return nil, fmt.Errorf("hang the bell: %w", err)
	}
	if err = syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("hang the bell: %w", err), syscall.Close(fd))
	}
	return &Bell{fd: fd, path: path}, nil
}

// bellSocket is a socket whose reads block a thread in the kernel: a goroutine
// that waits in the runtime's poller has it woken at every tick of every timer.
func bellSocket() (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	return fd, err
}

// Serve calls rung at once and after each ring, in a goroutine of its own that
// start begins and Close ends.
func (b *Bell) Serve(start func(name string, f func()), rung func()) {
	start("bell", func() {
		defer syscall.Close(b.fd)
		buf := make([]byte, 16)
		for !b.closed.Load() {
			rung()
			_, _, err := syscall.Recvfrom(b.fd, buf, 0)
			for err == nil { // who rang meanwhile is seen by the same look
				_, _, err = syscall.Recvfrom(b.fd, buf, syscall.MSG_DONTWAIT)
			}
			if err != syscall.EAGAIN && err != syscall.EINTR {
				return
			}
		}
	})
}

// Close takes the bell down.
func (b *Bell) Close() {
	b.closed.Store(true)
	_ = os.Remove(b.path)
	_ = syscall.Shutdown(b.fd, syscall.SHUT_RD)
}

// Ring rings the bell at path. Where no host listens nobody needs to hear it.
func Ring(path string) {
	fd, err := bellSocket()
	if err != nil {
		return
	}
	defer syscall.Close(fd)
	_ = syscall.Sendto(fd, []byte{1}, syscall.MSG_DONTWAIT, &syscall.SockaddrUnix{Name: path})
}
