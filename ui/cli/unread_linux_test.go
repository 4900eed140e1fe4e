package cli_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/store/paths"
	"fantail/ui/screen/wire"
)

// holdsBack has nobody read the terminal any more, until it is released.
func (c *console) holdsBack() (release func()) {
	c.mu.Lock()
	return c.mu.Unlock
}

// full fills a terminal that nobody reads, behind the back of who shows himself there.
func full(t *testing.T, pid int) {
	t.Helper()
	out, err := syscall.Open(fmt.Sprintf("/proc/%d/fd/1", pid), syscall.O_WRONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(out)
	refused, size := 0, 4<<10
	holds(t, "the terminal takes nothing more", func() bool { // what reads may have been in the middle of it
		if _, err := syscall.Write(out, []byte(strings.Repeat(".", size))); err != nil {
			refused, size = refused+1, 1
		} else {
			refused = 0
		}
		return refused > 10
	})
}

// TestUnreadTerminal: a screen whose terminal takes nothing ends in time all the same, whoever ends
// it, and gives back what can be given.
func TestUnreadTerminal(t *testing.T) {
	t.Parallel()
	times := long.Times(4, 16)
	ends := []struct {
		name string
		code int
		do   func(c *console, host net.Conn)
	}{
		{"signal", 128 + int(syscall.SIGTERM), func(c *console, _ net.Conn) { _ = c.cmd.Process.Signal(syscall.SIGTERM) }},
		{"host is gone", failed, func(_ *console, host net.Conn) { _ = host.Close() }},
		{"goodbye", 7, func(_ *console, host net.Conn) {
			_, _ = host.Write(wire.Append(nil, wire.Bye, []byte("code=7\x00say="+strings.Repeat("so long ", 9000))))
		}},
		{"goodbye of who is gone", 7, func(_ *console, host net.Conn) {
			_, _ = host.Write(wire.Append(nil, wire.Bye, []byte("code=7")))
			_ = host.Close()
		}},
	}
	var next atomic.Int32
	for worker := range 4 {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			if err := paths.MakePrivate(filepath.Dir(s.socket(t))); err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("unix", s.socket(t))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			for n := int(next.Add(1)); n <= times; n = int(next.Add(1)) {
				end := ends[n%len(ends)]
				c := open(t, s.command())
				host := accepts(t, l)
				if _, err := host.Write(wire.Append(wire.Append(nil, wire.Welcome, nil), wire.Paint, []byte("\x1b[?1049hpainted"))); err != nil {
					t.Fatal(err)
				}
				c.until(t, "painted")
				// A goodbye is read only while the screen holds little.
				size := 1 << 20
				if end.name == "goodbye" {
					size = 1 << 10
				}
				c.neglected(t, host, size, func() { end.do(c, host) }, end.name, end.code)
				host.Close()
			}
		})
	}
}

// accepts is a connection from a screen that has said its hello.
func accepts(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	host, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(host, make([]byte, len(wire.Magic))); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := wire.Read(host, wire.MaxHello, nil); err != nil {
		t.Fatal(err)
	}
	return host
}

// neglected fills the terminal, paints so much more, and checks how the screen ends.
func (c *console) neglected(t *testing.T, host net.Conn, size int, end func(), name string, code int) {
	t.Helper()
	release := c.holdsBack()
	full(t, c.cmd.Process.Pid)
	if err := host.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, _ = host.Write(wire.Append(nil, wire.Paint, make([]byte, size/2)))
	_, _ = host.Write(wire.Append(nil, wire.Paint, make([]byte, size/2-5)))
	_ = host.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	end()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.cmd.Wait() // its code tells
	}()
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		t.Errorf("%s: it hangs", name)
		_ = c.cmd.Process.Kill()
		<-done
	}
	got := c.cmd.ProcessState.ExitCode()
	if got != code && !(size > 1<<10 && got == failed) { // the goodbye may be after what is not read
		t.Errorf("%s: exit code %d, want %d", name, got, code)
	}
	release()
	<-c.end
	if now := c.modes(t); now != c.found {
		t.Errorf("%s: the terminal's modes were %s and are %s", name, c.found, now)
	}
}

// TestKilledScreenOfASlowTerminal: what a killed screen had set is undone in a terminal that is read
// only a while later.
func TestKilledScreenOfASlowTerminal(t *testing.T) {
	inShells(t, func(t *testing.T, in *shelled) {
		pid := in.starts(t)
		release := in.holdsBack()
		full(t, pid)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		late := time.NewTimer(100 * time.Millisecond) // it is the terminal that is slow
		<-late.C
		release()
		in.undone(t, 1)
		if !strings.HasSuffix(in.cmd.Path, "/zsh") {
			in.asksAgain(t)
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", in.site.host(t))); err != nil {
			t.Error(err)
		}
	})
}
