package screen

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

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

// panicInRelay has a relay that shows something find that it has nothing to wait with.
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

// A relay that panics gives the terminal back first: modes, screen, cursor. What it panics with is readable then.
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

// TestDrop: what the terminal has not taken it does not show, whichever way it was on.
func TestDrop(t *testing.T) {
	for _, c := range []struct {
		taken, waits string
		full         bool
	}{
		{"", "", false},
		{enters, "x", true},
		{"", "x" + enters + "y", false},
		{enters, "x" + leaves, true},
		{enters + leaves, "", false},
		{enters + leaves, enters, false},
		{enters, leaves + enters, true},
		{"", enters + leaves, false},
	} {
		r := &relay{shown: []byte(c.waits)}
		r.notice([]byte(c.taken))
		r.notice(r.shown)
		r.drop()
		if r.full != c.full || len(r.shown) > 0 {
			t.Errorf("taken %q, waiting %q: full %t, want %t", c.taken, c.waits, r.full, c.full)
		}
	}
}
