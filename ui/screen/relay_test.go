package screen

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"fantail/ui/screen/tty"
)

// panicking names the child that panics in the middle of a relay.
const panicking = "SCREEN_TEST_PANICKING"

func TestMain(m *testing.M) {
	if os.Getenv(panicking) != "" {
		panicInRelay()
	}
	if how := os.Getenv(showing); how != "" {
		showHosts(how)
	}
	os.Exit(m.Run())
}

// panicInRelay makes a relay that shows something panic because it can't wait.
func panicInRelay() {
	was, err := tty.Get(0)
	r := &relay{host: -1, in: 0, out: 1, was: was, full: true}
	if err == nil {
		err = r.take()
	}
	if err != nil {
		fmt.Println(err, "in any goroutine ")
		os.Exit(3)
	}
	fmt.Print(enters)
	r.guarded()
	fmt.Println("there was no panic in any goroutine ")
	os.Exit(3)
}

// A relay that panics restores the terminal first: modes, screen, cursor. The panic's message is readable then.
func TestRelay_panics(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	was, err := tty.Get(int(slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), panicking+"=1")
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said := make(chan []byte)
	go func() {
		var all bytes.Buffer
		buf := make([]byte, 4<<10)
		for !strings.Contains(all.String(), "goroutine ") {
			n, err := master.Read(buf)
			if all.Write(buf[:n]); err != nil {
				break
			}
		}
		said <- all.Bytes()
		_, _ = io.Copy(io.Discard, master)
	}()
	text := string(<-said)
	if err := c.Wait(); c.ProcessState.ExitCode() != 2 {
		t.Errorf("it ended with %v", err)
	}
	if undone, dies := strings.Index(text, tty.Undo), strings.Index(text, "panic: "); undone < 0 || dies < undone {
		t.Errorf("it says %q", text)
	}
	if is, err := tty.Get(int(slave.Fd())); err != nil || is != was {
		t.Errorf("the terminal is left with %+v, %v", is, err)
	}
}

// TestDrop: bytes that the terminal has not taken are not shown, and it counts as restored only if a full screen never
// began there or is undone to the last byte.
func TestDrop(t *testing.T) {
	const set, unset = "\x1b[?25l" + enters + "\x1b[?2004h", "\x1b[24;1H" + leaves + "\x1b[?2004l"
	for _, c := range []struct {
		before, shown string // before is taken first, all of it
		taken         int    // of shown
		full          bool
	}{
		{"", "", 0, false},
		{"", "x" + set, 0, false},
		{"", "x" + set, strings.Index("x"+set, enters), false},
		{"", "x" + set, strings.Index("x"+set, enters) + 1, true},
		{"", "x" + set, len(set), true},
		{"", set + unset, 0, false},
		{"", set + unset, len(set), true},
		{"", set + unset, len(set+unset) - 1, true},
		{"", set + unset, len(set + unset), false},
		{set, "x", 0, true},
		{set, unset, 0, true},
		{set, unset, strings.Index(unset, leaves) + 4, true},
		{set, unset, strings.Index(unset, leaves) + len(leaves), true},
		{set, unset, len(unset), false},
		{set, unset + set, 0, true},
		{set + unset, "", 0, false},
		{set + unset, set, 0, false},
	} {
		r := &relay{}
		r.paint([]byte(c.before))
		r.took(nil)
		r.paint([]byte(c.shown))
		r.took(r.shown[c.taken:])
		r.drop()
		if r.full != c.full || len(r.shown) > 0 {
			t.Errorf("before %q, %d bytes taken of %q: full %t, want %t", c.before, c.taken, c.shown, r.full, c.full)
		}
	}
}

// TestDrop_front: the alternate screen of a front is undone although none of the host's bytes were taken.
func TestDrop_front(t *testing.T) {
	r := &relay{full: true, front: true}
	r.paint([]byte(enters))
	r.drop()
	if !r.full {
		t.Error("the terminal is taken for one as it was")
	}
}

// TestRelay_how: another host is tried if one ended without an answer, not if one is there and does not answer.
func TestRelay_how(t *testing.T) {
	for want, r := range map[End]*relay{
		Over: {}, Silent: {gone: true}, Next: {greet: true, gone: true, ended: Next},
	} {
		if code, end := r.how(1); code != 1 || end != want {
			t.Errorf("it ended with %d, %d, want %d", code, end, want)
		}
	}
	r := relay{gone: true, code: 130}
	if _, end := r.how(130); end != Over {
		t.Errorf("one that was told to end: %d", end)
	}
}

// TestListen_given: Ctrl+C and Ctrl+\\ go to the program that has the terminal, and are no signals to the relay
// meanwhile; all others are, and so are both once the program has ended.
func TestListen_given(t *testing.T) {
	r := &relay{}
	if err := r.listen(); err != nil {
		t.Fatal(err)
	}
	defer r.deafen()
	wake := os.NewFile(uintptr(r.wake), "signals")
	r.wake = -1 // wake is closed in its place
	defer wake.Close()
	if err := wake.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given bool
		want  []syscall.Signal
	}{
		{true, []syscall.Signal{syscall.SIGTERM}},
		{false, []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM}},
	} {
		r.given.Store(c.given)
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
			r.signals <- sig
		}
		for _, want := range c.want { // the last of them is passed on either way, so the others were handled before
			var b [1]byte
			if _, err := io.ReadFull(wake, b[:]); err != nil {
				t.Fatal(err)
			}
			if got := syscall.Signal(b[0]); got != want {
				t.Errorf("with the terminal given away: %t, the relay got %v, want %v", c.given, got, want)
			}
		}
	}
}
