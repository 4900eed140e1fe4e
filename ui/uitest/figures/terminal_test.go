package figures

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// patience is how long anything may take to be seen.
const patience = 2 * time.Minute

const (
	status = "[Agent: " // of the first frame, in all programs
	prompt = "\u203a "  // where keys appear
)

// terminal is a modern terminal with a program in it.
type terminal struct {
	t     testing.TB
	site  *site
	cmd   *exec.Cmd
	tty   *os.File
	began time.Time // just before exec
	ended chan struct{}

	mu      sync.Mutex
	screen  *vt.Emulator
	w, h    int
	changed chan struct{} // a token: the cells may have changed
}

// start runs the site's program in a new terminal.
func (s *site) start() *terminal {
	t := s.t
	t.Helper()
	m := &terminal{
		t: t, site: s, cmd: s.command(), w: 120, h: 36,
		ended: make(chan struct{}), changed: make(chan struct{}, 1),
	}
	m.screen = vt.NewEmulator(m.w, m.h)
	m.screen.RegisterCsiHandler(ansi.Command('?', '$', 'p'), func(p ansi.Params) bool {
		mode, _, _ := p.Param(0, 0)
		state := 0
		if mode == 2026 || mode == 2027 { // synchronised output, grapheme widths
			state = 2
		}
		fmt.Fprintf(m.screen.InputPipe(), "\x1b[?%d;%d$y", mode, state)
		return true
	})
	m.screen.RegisterCsiHandler(ansi.Command('?', 0, 'u'), func(ansi.Params) bool {
		_, _ = io.WriteString(m.screen.InputPipe(), "\x1b[?0u")
		return true
	})
	m.began = time.Now()
	tty, err := pty.StartWithSize(m.cmd, &pty.Winsize{Rows: uint16(m.h), Cols: uint16(m.w)})
	if err != nil {
		t.Fatal(err)
	}
	m.tty = tty
	go m.show()
	go func() { _, _ = io.Copy(tty, m.screen) }()
	return m
}

// show takes what the program writes until its end of the terminal is closed.
func (m *terminal) show() {
	defer close(m.ended)
	buf := make([]byte, 64<<10)
	for {
		n, err := m.tty.Read(buf)
		m.mu.Lock()
		_, _ = m.screen.Write(buf[:n])
		m.mu.Unlock()
		select {
		case m.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// text is the screen's.
func (m *terminal) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for y := range m.h {
		for x := range m.w {
			if c := m.screen.CellAt(x, y); c != nil && c.Content != "" {
				b.WriteString(c.Content)
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// resize gives the terminal another size. The emulator behind it never gets smaller: it panics where what is written for the
// size before scrolls lines that it has not any more.
func (m *terminal) resize(w, h int) {
	m.t.Helper()
	m.mu.Lock()
	m.w, m.h = w, h
	m.screen.Resize(max(w, m.screen.Width()), max(h, m.screen.Height()))
	m.mu.Unlock()
	if err := pty.Setsize(m.tty, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}); err != nil {
		m.t.Fatal(err)
	}
}

// until waits for a screen that is as wanted and returns when that was.
func (m *terminal) until(what string, wanted func(text string) bool) time.Time {
	m.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		if wanted(m.text()) {
			return time.Now()
		}
		select {
		case <-m.changed:
		case <-m.ended:
			if wanted(m.text()) {
				return time.Now()
			}
			m.t.Fatalf("the program ended without %s:\n%s", what, m.text())
		case <-late.C:
			m.t.Fatalf("%s was not seen in %v:\n%s", what, patience, m.text())
		}
	}
}

func (m *terminal) see(text string) time.Time {
	m.t.Helper()
	return m.until(fmt.Sprintf("%q", text), func(s string) bool { return strings.Contains(s, text) })
}

func (m *terminal) lose(text string) {
	m.t.Helper()
	m.until(fmt.Sprintf("the end of %q", text), func(s string) bool { return !strings.Contains(s, text) })
}

// echo types a key and takes it back, and is how long it took to be seen.
func (m *terminal) echo() time.Duration {
	m.t.Helper()
	began := time.Now()
	m.send("Q")
	seen := m.see(prompt + "Q").Sub(began)
	pause(rand.N(20 * time.Millisecond))
	m.send("\x7f")
	m.lose(prompt + "Q")
	pause(rand.N(20 * time.Millisecond))
	return seen
}

// enter types a line, and sends it once it stands there.
func (m *terminal) enter(line string) {
	m.t.Helper()
	m.send(line)
	m.see(line)
	m.send("\r")
}

// processes are that in the terminal, and the site's hosts.
func (m *terminal) processes() []int { return append([]int{m.cmd.Process.Pid}, m.site.hosts()...) }

// send types keys.
func (m *terminal) send(keys string) {
	m.t.Helper()
	if _, err := io.WriteString(m.tty, keys); err != nil {
		m.t.Fatal(err)
	}
}

// open starts the site's program and waits until it has settled.
func (s *site) open() *terminal {
	t := s.start()
	t.see(status)
	t.settle()
	return t
}

// settle waits until the program answers, and until what it has to do at once is done.
func (m *terminal) settle() {
	m.t.Helper()
	m.echo()
	pause(time.Second)
}

// signal reaches all of the program.
func (m *terminal) signal(s syscall.Signal) {
	m.t.Helper()
	for _, pid := range m.processes() {
		if err := syscall.Kill(pid, s); err != nil {
			m.t.Fatal(err)
		}
	}
}

// stop ends the program, in order if it can. Its host may stay.
func (m *terminal) stop() {
	_ = m.cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(5*time.Second, func() { _ = m.cmd.Process.Kill() })
	_ = m.cmd.Wait()
	late.Stop()
	<-m.ended
	if w, ok := m.screen.InputPipe().(io.Closer); ok {
		_ = w.Close() // not the emulator's own Close: that is a race with its Read
	}
	_ = m.tty.Close()
}

// pause lets time pass.
func pause(d time.Duration) { <-time.After(d) }

// line is a terminal with a command in it that says again what it is told.
type line struct {
	t       testing.TB
	command string
	tty     *os.File
	cmd     *exec.Cmd
}

func newLine(t testing.TB, command string) *line {
	t.Helper()
	l := &line{t: t, command: command, cmd: exec.Command("sh", "-c", "stty raw -echo && printf r && "+command)}
	var err error
	if l.tty, err = pty.Start(l.cmd); err != nil {
		t.Fatal(err)
	}
	l.read()
	return l
}

func (l *line) read() {
	l.t.Helper()
	if _, err := io.ReadFull(l.tty, make([]byte, 1)); err != nil {
		l.t.Fatal(err)
	}
}

// echo is how long a key takes, after a while in which nothing happens here.
func (l *line) echo() time.Duration {
	l.t.Helper()
	pause(rand.N(20 * time.Millisecond))
	began := time.Now()
	if _, err := io.WriteString(l.tty, "Q"); err != nil {
		l.t.Fatal(err)
	}
	l.read()
	return time.Since(began)
}

func (l *line) close() {
	_ = l.tty.Close() // nothing is in it any more
	_ = l.cmd.Process.Kill()
	_ = l.cmd.Wait() // killed
}
