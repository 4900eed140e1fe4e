package screen

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"fantail/ui/screen/wire"
)

// showing names the child that shows hosts, and says how: their descriptors are those from 3 on. With a front, the
// first of them holds the front until its other end is closed. Resized, the terminal has another size than the hello
// says. A started one looks for its hosts itself.
const (
	showing   = "SCREEN_TEST_SHOWING"
	plainly   = "plainly"
	withFront = "with a front"
	resized   = "resized"
	started   = "started"
)

// showHosts shows one host after the other while they are silent.
func showHosts(how string) {
	if how == started {
		code, _ := Start(nil)
		os.Exit(code)
	}
	at, fd := found(), 3
	if how == withFront {
		at.show()
		_, _ = os.NewFile(uintptr(fd), "door").Read(make([]byte, 1))
		fd++
	}
	code, end := 0, Silent
	for ; end == Silent; fd++ {
		says := hello(nil, "/", at)
		if how == resized {
			if err := pty.Setsize(os.Stdin, &pty.Winsize{Rows: 50, Cols: 200}); err != nil {
				panic(err)
			}
		}
		code, end = relayed(fd, says, at)
	}
	os.Exit(code)
}

// within is how long a test waits for an expected event.
const within = 30 * time.Second

// shown is a relay in a process of its own.
type shown struct {
	cmd   *exec.Cmd
	tty   *os.File // what the terminal's user has of it
	slave *os.File
	said  string // by the terminal
}

// open makes a terminal and a child for it that is not started.
func open(t *testing.T, how string) *shown {
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
	c.Env = append(os.Environ(), showing+"="+how)
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return &shown{cmd: c, tty: master, slave: slave}
}

// start starts it; the descriptors for it are closed in the test.
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

// door returns what holds the front until it is closed.
func (s *shown) door(t *testing.T) io.Closer {
	t.Helper()
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	s.cmd.ExtraFiles = append(s.cmd.ExtraFiles, theirs)
	return ours
}

// types makes the terminal send that.
func (s *shown) types(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// typed waits for the terminal to have something to read.
func (s *shown) typed(t *testing.T) {
	t.Helper()
	err := error(unix.EINTR)
	for err == unix.EINTR {
		_, err = unix.Poll([]unix.PollFd{{Fd: int32(s.slave.Fd()), Events: unix.POLLIN}}, int(within.Milliseconds()))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// reads checks that a typed line is the next one a shell reads.
func (s *shown) reads(t *testing.T, line string) {
	t.Helper()
	s.types(t, line+"\r")
	buf := make([]byte, 64)
	if n, err := s.slave.Read(buf); err != nil || string(buf[:n]) != line+"\n" {
		t.Errorf("the shell reads %q, %v", buf[:n], err)
	}
}

// says waits until the terminal was sent that.
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

// state waits for the child to be stopped or to end.
func (s *shown) state(t *testing.T) syscall.WaitStatus {
	t.Helper()
	late := time.AfterFunc(within, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	var is syscall.WaitStatus
	err := error(syscall.EINTR)
	for err == syscall.EINTR {
		_, err = syscall.Wait4(s.cmd.Process.Pid, &is, syscall.WUNTRACED, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return is
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

// TestRelay_silent: what is typed before a host has answered goes to the next host, if that host never answers.
func TestRelay_silent(t *testing.T) {
	s := open(t, plainly)
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

// TestStart_silent: what was typed for hosts that show nothing does not reach the shell.
func TestStart_silent(t *testing.T) {
	for _, name := range []string{"XDG_DATA_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, t.TempDir())
	}
	s := open(t, started)
	s.cmd.SysProcAttr, s.cmd.Dir = nil, t.TempDir() // the terminal outlives it
	_, socket, err := placeOf(s.cmd.Dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var silent sync.WaitGroup
	defer silent.Wait()
	defer l.Close()
	silent.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	})
	s.types(t, "lost\r")
	s.says(t, "lost\r\n") // the echo: it is there by now
	s.start(t)
	s.says(t, "hosts in a row ended")
	if err := s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
	s.reads(t, "kept")
}

// TestFront_stop: the key that would stop a process stops nothing, and what was typed before it is still there.
func TestFront_stop(t *testing.T) {
	s := open(t, withFront)
	door, h := s.door(t), s.host(t)
	s.start(t)
	s.says(t, box(80, 24))
	s.types(t, "typed \x1amore")
	s.typed(t)
	door.Close()
	h.hears(t)
	h.sends(t, wire.Welcome, "")
	if keys := h.typed(t, "more"); keys != "typed more" {
		t.Errorf("the host gets %q", keys)
	}
}

// TestFront_interrupt: what was typed before a key that ends the process goes nowhere, not even to the shell.
func TestFront_interrupt(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		s := open(t, withFront)
		s.cmd.SysProcAttr = nil // the terminal outlives it
		s.door(t)
		s.start(t)
		s.says(t, box(80, 24))
		s.types(t, "lost ")
		s.typed(t)
		if err := s.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if err := s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != 128+int(sig) {
			t.Errorf("%v: it ended with %v", sig, err)
		}
		s.reads(t, "kept")
	}
}

// backs reads frames until the screen had the terminal again that often.
func (h *player) backs(t *testing.T, times int) {
	t.Helper()
	h.until(t, func(k wire.Kind, _ string) bool {
		if k == wire.Back {
			times--
		}
		return times == 0
	})
}

// job starts a child that can be stopped, on a terminal that is no controlling terminal, and its host.
func job(t *testing.T) (*shown, *player) {
	t.Helper()
	s := open(t, plainly)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	h := s.host(t)
	s.start(t)
	h.hears(t)
	h.sends(t, wire.Welcome, "")
	h.sends(t, wire.Paint, enters)
	s.says(t, enters)
	return s, h
}

// signals sends a signal to the child and all that it has started.
func (s *shown) signals(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(-s.cmd.Process.Pid, sig); err != nil {
		t.Fatal(err)
	}
}

// TestRelay_haltsLate: a host that answers after the screen has stopped without it does not stop it again; one that
// answers in time does, and so does one that was not asked.
func TestRelay_haltsLate(t *testing.T) {
	s, h := job(t)
	stop := func(why string) {
		t.Helper()
		if is := s.state(t); !is.Stopped() {
			t.Fatalf("%s: it is not stopped but %#x", why, is)
		}
		s.signals(t, syscall.SIGCONT)
		h.backs(t, 1)
	}
	asked := func() {
		t.Helper()
		s.signals(t, syscall.SIGTSTP)
		h.until(t, func(k wire.Kind, _ string) bool { return k == wire.Stop })
	}
	asked()
	stop("no answer")
	h.sends(t, wire.Halt, "")
	h.backs(t, 1)
	asked()
	h.sends(t, wire.Halt, "")
	stop("an answer in time")
	h.sends(t, wire.Halt, "")
	stop("nobody asked")
	h.sends(t, wire.Bye, wire.Code+"=7")
	if is := s.state(t); !is.Exited() || is.ExitStatus() != 7 {
		t.Errorf("it did not end but is %#x", is)
	}
}

// TestRelay_stopsProgram: a stop that was asked for before a program has the terminal stops both at once, and only
// once.
func TestRelay_stopsProgram(t *testing.T) {
	s, h := job(t)
	s.signals(t, syscall.SIGTSTP)
	h.until(t, func(k wire.Kind, _ string) bool { return k == wire.Stop })
	h.sends(t, wire.Run, string(wire.Fields{wire.Arg + "=/bin/sh", wire.Arg + "=-c", wire.Arg + "=echo has it; read line", wire.Dir + "=/"}.Bytes()))
	if is := s.state(t); !is.Stopped() {
		t.Fatalf("it is not stopped but %#x", is)
	}
	s.signals(t, syscall.SIGCONT)
	s.says(t, "has it")
	s.types(t, "\n")
	h.until(t, func(k wire.Kind, body string) bool { return k == wire.Back && body == wire.Code+"=0" })
	h.sends(t, wire.Halt, "")
	h.backs(t, 1)
	h.sends(t, wire.Bye, wire.Code+"=7")
	if is := s.state(t); !is.Exited() || is.ExitStatus() != 7 {
		t.Errorf("it did not end but is %#x", is)
	}
}

// TestRelay_resized: a host gets a size that changed while the screen sent the previous one.
func TestRelay_resized(t *testing.T) {
	s := open(t, resized)
	h := s.host(t)
	s.start(t)
	h.hears(t)
	h.sends(t, wire.Welcome, "")
	if size := h.hello.Get(wire.Columns); size != "80x24" {
		t.Errorf("it says %q", size)
	}
	s.types(t, "x")
	if all := h.until(t, func(k wire.Kind, _ string) bool { return k == wire.Keys }); all[0] != "S200x50" {
		t.Errorf("it sends %q", all)
	}
	h.sends(t, wire.Bye, wire.Code+"=0")
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
}
