package host

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"fantail/ui/screen"
	"fantail/ui/screen/tty"
	"fantail/ui/screen/wire"
)

// relayEnv makes the test's program a screen's process: it carries bytes between its terminal and descriptor 3.
const relayEnv = "FANTAIL_TEST_RELAY"

func TestMain(m *testing.M) {
	if os.Getenv(relayEnv) != "" {
		code, _ := screen.Relay(3, wire.Fields{wire.Columns + "=100x30"})
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// terminal is one that takes what it is sent and counts it.
type terminal struct {
	got  atomic.Int64
	more chan struct{} // holds a token when something came
}

// newTerminal returns a terminal and its other end.
func newTerminal(b *testing.B) (*terminal, *os.File) {
	b.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		slave.Close()
		master.Close()
	})
	t := &terminal{more: make(chan struct{}, 1)}
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := master.Read(buf)
			t.got.Add(int64(n))
			select {
			case t.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	return t, slave
}

// until waits until it has got that many bytes in all.
func (t *terminal) until(n int64) {
	for t.got.Load() < n {
		<-t.more
	}
}

// direct returns how a program writes that has the terminal itself.
func direct(b *testing.B) (t *terminal, write func(p []byte)) {
	t, slave := newTerminal(b)
	m, err := tty.Get(int(slave.Fd()))
	if err == nil {
		err = m.Raw().Set(int(slave.Fd()))
	}
	if err != nil {
		b.Fatal(err)
	}
	return t, func(p []byte) {
		if _, err := slave.Write(p); err != nil {
			b.Fatal(err)
		}
	}
}

// relayed returns how a host writes: its painter, the socket, and a screen's process that has the terminal.
func relayed(b *testing.B) (t *terminal, write func(p []byte)) {
	t, slave := newTerminal(b)
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "host"), os.NewFile(uintptr(ends[1]), "screen")
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), relayEnv+"=yes")
	c.Stdin, c.Stdout, c.Stderr, c.ExtraFiles = slave, slave, os.Stderr, []*os.File{theirs}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = c.Start()
	theirs.Close()
	if err != nil {
		b.Fatal(err)
	}
	conn, err := net.FileConn(ours)
	ours.Close()
	if err != nil {
		b.Fatal(err)
	}
	hello, _, err := hear(conn.(*net.UnixConn))
	if err != nil {
		b.Fatal(err)
	}
	p := newPainter(conn, func(is bool) { b.Errorf("stalled: %t", is) })
	go p.run()
	b.Cleanup(func() {
		p.bye(0, nil)
		if err := c.Wait(); err != nil {
			b.Error(err)
		}
		conn.Close()
		if hello.terminal != nil {
			hello.terminal.Close()
		}
	})
	p.send(wire.Welcome, nil)
	return t, func(b []byte) { _, _ = p.Write(b) } // never fails
}

// BenchmarkStream: the cost of a streaming reply on its way from the host's program to the terminal, compared with a
// program that has the terminal itself. Flow is bytes at any time; Frame waits for each frame to arrive.
func BenchmarkStream(b *testing.B) {
	const ahead = 1 << 20 // bytes; with more under way a host drops frames
	for _, way := range []struct {
		name string
		open func(b *testing.B) (*terminal, func([]byte))
	}{{"direct", direct}, {"relayed", relayed}} {
		for _, size := range []int{200, 2 << 10, 16 << 10} {
			frame := bytes.Repeat([]byte("x"), size)
			b.Run(fmt.Sprintf("Flow/%s/%d", way.name, size), func(b *testing.B) {
				t, write := way.open(b)
				write(frame)
				t.until(int64(size))
				b.SetBytes(int64(size))
				b.ResetTimer()
				for i := range b.N {
					write(frame)
					t.until(int64(i+2)*int64(size) - ahead)
				}
				t.until(int64(b.N+1) * int64(size))
				b.StopTimer()
			})
			b.Run(fmt.Sprintf("Frame/%s/%d", way.name, size), func(b *testing.B) {
				t, write := way.open(b)
				write(frame)
				t.until(int64(size))
				b.ResetTimer()
				for i := range b.N {
					write(frame)
					t.until(int64(i+2) * int64(size))
				}
				b.StopTimer()
			})
		}
	}
}
