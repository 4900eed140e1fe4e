package screen

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/ui/screen/wire"
)

// door opens the file whose lock lets only one process start a host.
func door(t *testing.T, path string) int {
	t.Helper()
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CREAT|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	return fd
}

// TestTurn holds that no process waits for ever for another one to start a host: it connects to that one's host, or
// says which process to end.
func TestTurn(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	ours, theirs := door(t, socket+".start"), door(t, socket+".start")
	if err := syscall.Flock(theirs, syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	var said Refusal
	if host, err := turn(ours, socket, time.Millisecond); host != -1 || !errors.As(err, &said) || !strings.Contains(string(said), "end it, and try again") {
		t.Errorf("nobody starts one: %d, %v", host, err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	host, err := turn(ours, socket, within)
	if host < 0 || err != nil {
		t.Fatalf("somebody has started one: %d, %v", host, err)
	}
	_ = syscall.Close(host)
	if err := syscall.Flock(theirs, syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if host, err := turn(ours, socket, within); host != -1 || err != nil {
		t.Errorf("its own turn: %d, %v", host, err)
	}
}

// crowded returns a socket whose backlog has no room.
func crowded(t *testing.T) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "s")
	l, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(l) })
	if err := errors.Join(syscall.Bind(l, &syscall.SockaddrUnix{Name: socket}), syscall.Listen(l, 0)); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Close(fd) })
		if err := syscall.SetNonblock(fd, true); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: socket}); err != nil {
			return socket
		}
	}
	t.Skip("the system gives a socket room without end")
	return ""
}

// TestConnect_crowded holds that no process waits for ever for a host whose backlog is full, and that a full backlog
// is no reason to start another host.
func TestConnect_crowded(t *testing.T) {
	t.Parallel()
	socket := crowded(t)
	var said Refusal
	for _, patience := range []time.Duration{time.Millisecond, 20 * time.Millisecond} {
		if fd, err := connect(socket, patience); fd != -1 || !errors.As(err, &said) || absent(err) || !strings.Contains(string(said), "host stop --now ends it") {
			t.Errorf("%v: %d, %v", patience, fd, err)
		}
	}
	if says(socket, time.Millisecond) {
		t.Error("a host that takes nobody is taken for one that lives")
	}
}

// TestErrand_lost holds that a process whose errand a host carries out does not wait for ever for one that has begun
// to change something, nor does it itself what may be done already.
func TestErrand_lost(t *testing.T) {
	t.Parallel()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(ends[0])
	there := os.NewFile(uintptr(ends[1]), "host")
	defer there.Close()
	const vowed = 20 * time.Millisecond
	e := &errand{host: host(ends[0]), patience: time.Hour, vowed: vowed, waits: true}
	word := wire.Fields{wire.Wants + "=" + wire.Word, wire.Say + "=it may be done"}
	if _, err := there.Write(wire.Append(nil, wire.Answer, word.Bytes())); err != nil {
		t.Fatal(err)
	}
	if code, done := e.run(); code != 1 || !done || e.patience != vowed {
		t.Errorf("exit code %d, done %v, after %v", code, done, e.patience)
	}
}
