package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"fantail/ui/screen/tty"
)

// console is a modern terminal with a program in it.
type console struct {
	cmd *exec.Cmd
	tty *os.File
	end chan struct{} // closed once the terminal's other end is closed by all

	found tty.Modes // the terminal's, before the program began

	mu      sync.Mutex
	screen  *vt.Emulator
	raw     []byte // all that was written to it
	changed chan struct{}
}

// What a modern terminal answers and vt.Emulator does not.
var answers = []struct{ query, answer string }{
	{"\x1b[?2026$p", "\x1b[?2026;2$y"},
	{"\x1b[?2027$p", "\x1b[?2027;2$y"},
	{"\x1b[?u", "\x1b[?0u"},
}

// open starts cmd in a new terminal of 100 by 30.
func open(t testing.TB, cmd *exec.Cmd) *console {
	t.Helper()
	return openOf(t, cmd, 100, 30)
}

// openOf starts cmd in a new terminal of that size.
func openOf(t testing.TB, cmd *exec.Cmd, columns, rows int) *console {
	t.Helper()
	c := &console{cmd: cmd, end: make(chan struct{}), screen: vt.NewEmulator(columns, rows), changed: make(chan struct{})}
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(slave, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	if c.found, err = tty.Get(int(slave.Fd())); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = true, true
	err = cmd.Start()
	_ = slave.Close()
	if err != nil {
		t.Fatal(err)
	}
	if master, err = interruptible(master); err != nil {
		t.Fatal(err)
	}
	c.tty = master
	replied := make(chan struct{})
	go func() {
		defer close(replied)
		_, _ = io.Copy(master, c.screen)
	}()
	go func() {
		defer close(c.end)
		buf := make([]byte, 64<<10)
		for {
			n, err := master.Read(buf)
			c.take(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		_ = master.Close()
		<-c.end
		if w, ok := c.screen.InputPipe().(*io.PipeWriter); ok {
			_ = w.Close()
		}
		<-replied
	})
	return c
}

// interruptible is f with reads that end when it is closed.
func interruptible(f *os.File) (*os.File, error) {
	defer f.Close()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

func (c *console) take(p []byte) {
	c.mu.Lock()
	c.raw = append(c.raw, p...)
	reply := ""
	for _, a := range answers {
		if bytes.Contains(p, []byte(a.query)) {
			reply += a.answer
			p = bytes.ReplaceAll(p, []byte(a.query), nil)
		}
	}
	// The emulator may write answers of its own, which another goroutine reads.
	_, _ = c.screen.Write(p)
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
	if reply != "" {
		_, _ = c.tty.WriteString(reply)
	}
}

// modes are the terminal's present modes.
func (c *console) modes(t testing.TB) (m tty.Modes) {
	t.Helper()
	raw, err := c.tty.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if e := raw.Control(func(fd uintptr) { m, err = tty.Get(int(fd)) }); e != nil || err != nil {
		t.Fatal(e, err)
	}
	return m
}

func (c *console) typed(t testing.TB, s string) {
	t.Helper()
	if _, err := c.tty.WriteString(s); err != nil {
		t.Fatal(err)
	}
}

// text is what stands on the screen.
func (c *console) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.screen.String()
}

func (c *console) written() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.raw)
}

// until waits for the screen to hold all of want and returns when it did. What begins with ! is
// not to be there.
func (c *console) until(t testing.TB, want ...string) time.Time {
	t.Helper()
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		c.mu.Lock()
		screen, changed := c.screen.String(), c.changed
		c.mu.Unlock()
		missing := lacks(screen, want)
		if missing == "" {
			return time.Now()
		}
		select {
		case <-changed:
		case <-c.end:
			if lacks(c.text(), want) == "" {
				continue
			}
			t.Fatalf("the program ended without showing %q; the screen:\n%s", missing, c.text())
		case <-late.C:
			t.Fatalf("no %q on the screen:\n%s", missing, screen)
		}
	}
}

// lacks is the first of want that is not so of the screen.
func lacks(screen string, want []string) string {
	for _, w := range want {
		if not, is := strings.CutPrefix(w, "!"); is == strings.Contains(screen, not) {
			return w
		}
	}
	return ""
}

// shows waits for the terminal to have been sent s.
func (c *console) shows(t testing.TB, s string) {
	t.Helper()
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		c.mu.Lock()
		there, changed := bytes.Contains(c.raw, []byte(s)), c.changed
		c.mu.Unlock()
		if there {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			t.Fatalf("the terminal never got %q", s)
		}
	}
}

// exited waits for the program to end and returns its exit code and how long that took.
func (c *console) exited(t testing.TB) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- c.cmd.Wait() }()
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		screen := c.text() // before the terminal is restored
		_ = c.cmd.Process.Kill()
		<-done
		t.Fatalf("the program did not end; the screen:\n%s", screen)
	}
	// What it wrote last may still be on its way.
	select {
	case <-c.end:
	case <-late.C:
		t.Fatal("the terminal stays open")
	}
	return c.cmd.ProcessState.ExitCode()
}

// restored checks that the program left the terminal as it found it.
func (c *console) restored(t testing.TB) {
	t.Helper()
	raw := c.written()
	for _, wrong := range leftovers(raw) {
		t.Error(wrong)
	}
	if pushed, popped := strings.Count(raw, "\x1b[>1u"), strings.Count(raw, "\x1b[<1u"); pushed != popped {
		t.Errorf("the keyboard protocol was pushed %d times and popped %d times: %q", pushed, popped, raw)
	}
}

// leftovers says what was set last in a terminal that got all that and is not as it was.
func leftovers(raw string) (wrong []string) {
	for _, m := range []struct {
		name string
		num  int
		want bool // set at the end
	}{
		{"alternate screen", 1049, false},
		{"cursor", 25, true},
		{"bracketed paste", 2004, false},
		{"mouse clicks", 1000, false},
		{"mouse drags", 1002, false},
		{"mouse moves", 1003, false},
		{"mouse encoding", 1006, false},
		{"focus reports", 1004, false},
		{"synchronized output", 2026, false},
	} {
		set, reset := strings.LastIndex(raw, fmt.Sprintf("\x1b[?%dh", m.num)), strings.LastIndex(raw, fmt.Sprintf("\x1b[?%dl", m.num))
		if m.num == 25 && reset < 0 {
			continue // never hidden
		}
		if set > reset != m.want && set+reset > -2 {
			wrong = append(wrong, fmt.Sprintf("%s: last set at %d, last reset at %d of %d bytes", m.name, set, reset, len(raw)))
		}
	}
	if keys := strings.LastIndex(raw, "\x1b[>4;2m"); keys > strings.LastIndex(raw, "\x1b[>4m") {
		wrong = append(wrong, "modified keys are still reported")
	}
	if shaped := strings.LastIndex(raw, "\x1b[1 q"); shaped > strings.LastIndex(raw, "\x1b[0 q") {
		wrong = append(wrong, "the cursor keeps our shape")
	}
	return wrong
}
