package tty

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

func TestTerminal(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	fd := int(slave.Fd())
	if err := pty.Setsize(slave, &pty.Winsize{Cols: 91, Rows: 7}); err != nil {
		t.Fatal(err)
	}
	if w, h, err := Size(fd); w != 91 || h != 7 || err != nil {
		t.Errorf("size %dx%d, %v", w, h, err)
	}
	was, err := Get(fd)
	if err != nil {
		t.Fatal(err)
	}
	if err := was.Raw().Set(fd); err != nil {
		t.Fatal(err)
	}
	if is, err := Get(fd); err != nil || is != was.Raw() || is == was {
		t.Errorf("raw modes are %+v, %v", is, err)
	}
	if again, ok := Spelled(was.String()); !ok || again != was {
		t.Errorf("spelled and read: %+v", again)
	}
	for _, s := range []string{"", "00", "no"} {
		if _, ok := Spelled(s); ok {
			t.Errorf("%q is taken for modes", s)
		}
	}
	// Raw: a byte comes through without a line's end, and is not echoed.
	if _, err := master.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 8)
	if n, err := slave.Read(buf); err != nil || string(buf[:n]) != "\x03" {
		t.Errorf("read %q, %v", buf[:n], err)
	}
	if err := was.Set(fd); err != nil {
		t.Fatal(err)
	}
	if is, _ := Get(fd); is != was {
		t.Errorf("the modes are not as they were: %+v", is)
	}
	if !Foreground(fd) {
		t.Error("a terminal that controls nobody can't be used")
	}
}

// A terminal without a reader takes what fits, and the writer goes on.
func TestReopen_neverWaits(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	fd, err := Reopen(int(slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "terminal")
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	full := false
	_ = raw.Control(func(fd uintptr) {
		chunk := make([]byte, 4<<10)
		for range 1000 {
			if _, err := syscall.Write(int(fd), chunk); err != nil {
				full = true
				return
			}
		}
	})
	if !full {
		t.Error("4 MB went into a terminal nobody reads")
	}
}

// fill writes to a terminal until it takes nothing more.
func fill(t *testing.T, fd int) {
	t.Helper()
	out, err := Reopen(fd)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(out)
	// After a write that found no room there is room again once the kernel has moved what came before.
	for room := true; room; {
		for _, size := range []int{4 << 10, 1} {
			for err = nil; err == nil; {
				_, err = syscall.Write(out, make([]byte, size))
			}
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(out), Events: unix.POLLOUT}}, 200)
		if err != nil && err != unix.EINTR {
			t.Fatal(err)
		}
		room = n != 0
	}
}

// Say waits for a late reader, and gives up if there is none; afterwards a writer that could wait before still waits.
func TestSay(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	fd := int(slave.Fd())
	fill(t, fd)
	if err := Say(fd, Undo, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a terminal nobody reads: %v", err)
	}
	said := make(chan error, 1)
	go func() { said <- Say(fd, "so long", time.Minute) }()
	var got []byte
	for buf := make([]byte, 64<<10); !bytes.HasSuffix(got, []byte("so long")); {
		n, err := master.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, buf[:n]...)
	}
	if err := <-said; err != nil {
		t.Error(err)
	}
	if flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0); flags&syscall.O_NONBLOCK != 0 {
		t.Error("those who have the terminal open do not wait any more")
	}
}

// A pipe gets its last words too, and with the same time limit.
func TestSay_pipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close() // otherwise the collector closes it
	fd := int(w.Fd())
	if err := Say(fd, "so long", time.Minute); err != nil {
		t.Error(err)
	}
	if err := Say(fd, string(make([]byte, 1<<20)), 10*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a pipe nobody reads: %v", err)
	}
	got := make([]byte, 7)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "so long" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestNoTerminal(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if Is(int(f.Fd())) {
		t.Error("the null device is taken for a terminal")
	}
	if _, _, err := Size(int(f.Fd())); err == nil {
		t.Error("it has a size")
	}
}
