package screen

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"fantail/ui/screen/wire"
)

// showing names the child that shows hosts: what it does before, and the descriptors from 3 on are theirs, or the test's
// word to go on.
const showing = "SCREEN_TEST_SHOWING"

// showHosts shows one host after the other, as long as they are silent.
func showHosts(before string) {
	at := found()
	code, end := 0, Silent
	for fd := 3; end == Silent; fd++ {
		code, end = relayed(fd, hello(nil, "/", at), at)
	}
	os.Exit(code)
}

// within is how long a test waits for what has to come.
const within = 30 * time.Second

// shown is a relay in a process of its own.
type shown struct {
	cmd   *exec.Cmd
	tty   *os.File // what the terminal's user has of it
	slave *os.File
	said  string // by the terminal
}

// open makes a terminal and a child for it that is not started.
func open(t *testing.T, before string) *shown {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close(); slave.Close() })
	if err := pty.Setsize(slave, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), showing+"="+before)
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return &shown{cmd: c, tty: master, slave: slave}
}

// start starts it; what it is given is not the test's any more.
func (s *shown) start(t *testing.T) {
	t.Helper()
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range s.cmd.ExtraFiles {
		f.Close()
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
}

// types has the terminal send that.
func (s *shown) types(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// says waits for the terminal to have been sent that.
func (s *shown) says(t *testing.T, text string) {
	t.Helper()
	if err := s.tty.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	for buf := make([]byte, 4<<10); !strings.Contains(s.said, text); {
		n, err := s.tty.Read(buf)
		if s.said += string(buf[:n]); err != nil {
			t.Fatalf("the terminal was sent %q: %v", s.said, err)
		}
	}
}

// player plays a host.
type player struct {
	*os.File
	hello wire.Fields
}

// host is one more that the child is to show.
func (s *shown) host(t *testing.T) *player {
	t.Helper()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range ends {
		syscall.CloseOnExec(fd)
	}
	if err := syscall.SetNonblock(ends[0], true); err != nil {
		t.Fatal(err)
	}
	h := &player{File: os.NewFile(uintptr(ends[0]), "host")}
	t.Cleanup(func() { h.Close() })
	if err := h.SetDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	s.cmd.ExtraFiles = append(s.cmd.ExtraFiles, os.NewFile(uintptr(ends[1]), "screen"))
	return h
}

// hears reads the hello.
func (h *player) hears(t *testing.T) {
	t.Helper()
	if _, err := io.ReadFull(h, make([]byte, len(wire.Magic))); err != nil {
		t.Fatal(err)
	}
	k, body, _, err := wire.Read(h, wire.MaxHello, nil)
	if err != nil || k != wire.Hello {
		t.Fatalf("no hello: %q, %v", k, err)
	}
	h.hello = wire.FieldsOf(body)
}

// until reads frames until done, and returns each as its kind and its body.
func (h *player) until(t *testing.T, done func(k wire.Kind, body string) bool) (all []string) {
	t.Helper()
	for {
		k, body, _, err := wire.Read(h, wire.MaxFrame, nil)
		if err != nil {
			t.Fatalf("after %q: %v", all, err)
		}
		text := string(body)
		if w, h, err := wire.SizeOf(body); k == wire.Size && err == nil {
			text = fmt.Sprintf("%dx%d", w, h)
		}
		if all = append(all, string(k)+text); done(k, text) {
			return all
		}
	}
}

// sends sends a frame.
func (h *player) sends(t *testing.T, k wire.Kind, body string) {
	t.Helper()
	if _, err := h.Write(wire.Append(nil, k, []byte(body))); err != nil {
		t.Fatal(err)
	}
}

// typed reads the keys up to last.
func (h *player) typed(t *testing.T, last string) (keys string) {
	t.Helper()
	h.until(t, func(k wire.Kind, body string) bool {
		if k == wire.Keys {
			keys += body
		}
		return strings.HasSuffix(keys, last)
	})
	return keys
}

// TestRelay_silent: what is typed before a host has said anything is the next one's, if that host never does.
func TestRelay_silent(t *testing.T) {
	s := open(t, "")
	first, second := s.host(t), s.host(t)
	s.types(t, "typed early ")
	s.says(t, "typed early ") // the echo: it is there by now
	s.start(t)
	first.hears(t)
	first.Close()
	second.hears(t)
	second.sends(t, wire.Welcome, "")
	s.types(t, "late")
	if keys := second.typed(t, "late"); keys != "typed early late" {
		t.Errorf("the host that shows gets %q", keys)
	}
	second.sends(t, wire.Bye, wire.Code+"=7")
	if err := s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("it ended with %v", err)
	}
}
