package attach

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestDial_crowded holds that a process waits for a host whose backlog is full, but not for ever.
func TestDial_crowded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "listener")
	l, err := net.FileListener(f)
	if e := errors.Join(err, f.Close()); e != nil {
		t.Fatal(e)
	}
	defer l.Close()
	full := false
	for range 1000 {
		c, err := net.Dial("unix", path)
		if full = errors.Is(err, syscall.EAGAIN); full {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if !full {
		t.Skip("the system gives a socket room without end")
	}
	hung := (*HungError)(nil)
	if c, err := dialWithin(t.Context(), path, time.Millisecond); c != nil || !errors.As(err, &hung) {
		t.Errorf("without room: %v, %v", c, err)
	}
	took := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		took <- c
	}()
	c, err := dialWithin(t.Context(), path, time.Minute)
	if err != nil {
		t.Errorf("with room in the end: %v", err)
	} else {
		defer c.Close()
	}
	if c := <-took; c != nil {
		defer c.Close()
	}
}
