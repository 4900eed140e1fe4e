package cli_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fantail/.ci/long"
	"fantail/ui/screen/tty"
)

// home is what the status line shows in main's tab.
const home = "[Agent: main"

// ready is in it once the agents are there.
const ready = "builtin · "

// wait is how long a test waits for what is to come, at most: it tells only what hangs. On a machine that is new and busy the
// first turn of another vendor's agent takes a minute.
const wait = 3 * time.Minute

// left waits for the screen's process to end and checks that it left the terminal as it was.
func (c *console) left(t *testing.T, code int, was tty.Modes) {
	t.Helper()
	if got := c.exited(t); got != code {
		t.Errorf("exit code %d, want %d; the terminal got %q", got, code, tail(c.written()))
	}
	c.restored(t)
	if now := c.modes(t); now != was {
		t.Errorf("the terminal's modes were %s and are %s", was, now)
	}
}

// tail is the end of what was written to a terminal.
func tail(s string) string { return s[max(0, len(s)-300):] }

// feed makes a named pipe in the workspace and returns a function that writes a line into it.
func (s *site) feed(t *testing.T, name string) (line func(text string)) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) // for reading too, so that opening it waits for nobody
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return func(text string) {
		t.Helper()
		if _, err := f.WriteString(text + "\n"); err != nil {
			t.Fatal(err)
		}
	}
}

// A signal to a screen ends that screen, and nothing else: the terminal is right, the command
// goes on, and the next screen shows what it does.
func TestSignalToAScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first, feed := s.fifo(t, "started"), s.feed(t, "feed")
	const runs = "running bash" // below the last prompt, while it does
	c := open(t, s.command("--yolo"))
	was := c.found
	c.until(t, home, ready)
	c.typed(t, "run echo $$ > started; read -r line < feed; echo came: $line\r")
	pid, host := first(c), s.host(t)
	for _, sig := range []syscall.Signal{
		syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
	} {
		c.until(t, runs)
		if err := c.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		c.left(t, 128+int(sig), was)
		c = open(t, s.command())
		was = c.found
		c.until(t, home, runs)
	}
	if !alive(pid) || s.host(t) != host {
		t.Errorf("the command (process %s) lives: %v; the host was %d and is %d", pid, alive(pid), host, s.host(t))
	}
	feed("at last")
	c.until(t, "came: at last", "!"+runs)
	if crashes, _ := filepath.Glob(filepath.Join(s.data(t), "crash-*")); len(crashes) > 0 {
		t.Errorf("crash files: %q", crashes)
	}
}

// A signal to the host ends it in order: each screen is told and leaves its terminal right, the
// command ends, who asked for it finds a crash file, and the next start goes on from there.
func TestSignalToTheHost(t *testing.T) {
	t.Parallel()
	all := []syscall.Signal{
		syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGINT, syscall.SIGABRT, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGXCPU,
	}
	for _, sig := range all[:min(long.Times(2, len(all)), len(all))] {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			first := s.fifo(t, "started")
			a := open(t, s.command("--yolo"))
			wasA := a.found
			a.until(t, home, ready)
			b := openOf(t, s.command(), 80, 24)
			wasB := b.found
			b.until(t, home, ready)
			a.typed(t, "run echo $$ > started; exec sleep 600\r")
			pid, host := first(a), s.host(t)
			b.until(t, "sleep 600")
			if err := syscall.Kill(host, sig); err != nil {
				t.Fatal(err)
			}
			a.left(t, failed, wasA)
			b.left(t, failed, wasB)
			const told = "fantail: its host was told to end; messages and transcripts are on disk, start fantail again to go on"
			for _, c := range []*console{a, b} {
				if said := c.written(); strings.LastIndex(said, told) < strings.LastIndex(said, "\x1b[?1049l") {
					t.Errorf("the terminal got %q", tail(said))
				}
			}
			if outlives(pid) || outlives(strconv.Itoa(host)) {
				t.Errorf("the command (process %s) runs: %v; the host (process %d): %v", pid, alive(pid), host, alive(strconv.Itoa(host)))
			}
			crashes, _ := filepath.Glob(filepath.Join(s.data(t), "crash-*"))
			if want := sig == syscall.SIGQUIT || sig == syscall.SIGABRT; (len(crashes) == 1) != want {
				t.Errorf("crash files: %q", crashes)
			}
			again := open(t, s.command())
			again.until(t, home, "sleep 600")
			if now := s.host(t); now == host {
				t.Errorf("the host is still %d", now)
			}
		})
	}
}

// outlives reports whether the process still runs some time after it was signalled.
func outlives(pid string) bool {
	late := time.NewTimer(wait)
	defer late.Stop()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for alive(pid) {
		select {
		case <-late.C:
			return true
		case <-again.C:
		}
	}
	return false
}

// alive reports whether the process, or a thread of it, has not ended yet.
func alive(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return false
	}
	if _, state, _ := strings.Cut(string(stat), ") "); !strings.HasPrefix(state, "Z") {
		return true
	}
	threads, err := os.ReadDir(filepath.Join("/proc", pid, "task")) // its files are open until the last one has ended
	return err == nil && len(threads) > 1
}

// data is the workspace's data directory.
func (s *site) data(t testing.TB) string {
	t.Helper()
	for _, e := range s.env {
		if dir, found := strings.CutPrefix(e, "XDG_DATA_HOME="); found {
			paths, err := filepath.Glob(filepath.Join(dir, "fantail", "*"))
			if err != nil || len(paths) != 1 {
				t.Fatalf("data directories: %q, %v", paths, err)
			}
			return paths[0]
		}
	}
	t.Fatal("no data directory")
	return ""
}

// Who closes a window ends the screen in it; the host stays for the next one.
func TestClosedTerminalEndsTheScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := open(t, s.command())
	c.until(t, home, ready)
	c.typed(t, "say still here\r")
	c.until(t, "still here")
	host := s.host(t)
	if err := c.tty.Close(); err != nil {
		t.Fatal(err)
	}
	if code := c.exited(t); code != 128+int(syscall.SIGHUP) {
		t.Errorf("exit code %d", code)
	}
	next := open(t, s.command())
	next.until(t, home, ready, "still here")
	if now := s.host(t); now != host {
		t.Errorf("the host was %d and is %d", host, now)
	}
}

// Two screens of different size show the same agents: what is typed in one stands in both, a
// question stands in both, and the first answer to it wins. A prompt without a screen works beside
// them, in a database of its own.
func TestTwoScreensOfOneHost(t *testing.T) {
	t.Parallel()
	s := newSite(t).raced()
	a := open(t, s.command())
	a.until(t, home, ready)
	b := openOf(t, s.command(), 72, 20)
	b.until(t, home, ready)
	host := s.host(t)

	a.typed(t, "say typed in the first\r")
	b.until(t, "typed in the first")
	b.typed(t, "say typed in the second\r")
	a.until(t, "typed in the second")
	// Half a line is nobody's but that screen's.
	a.typed(t, "half a line")
	a.until(t, "› half a line")
	b.typed(t, "say another\r")
	a.until(t, "another", "› half a line")
	b.until(t, "another", "!half a line")
	a.typed(t, "\x15")
	a.until(t, "!half a line")

	const card, f5 = "wants to run a command", "\x1b[15~"
	asked := func(what string) {
		a.typed(t, "run "+what)
		a.until(t, "› run "+what)
		pressed(t, "\r", []string{"!› run "}, a)
		for _, c := range []*console{a, b} {
			c.until(t, "▌ run "+what, "● asks")
			pressed(t, f5, []string{card}, c)
		}
	}
	asked("touch made0")
	pressed(t, "y", []string{"!" + card}, a)
	b.until(t, "!"+card, "!asking")
	s.exists(t, "made0")
	asked("touch made1")
	pressed(t, "n", []string{"Instead: "}, b)
	b.typed(t, "not that\r")
	a.until(t, "!"+card, "!asking", "not that")
	asked("touch made2")
	pressed(t, "y", []string{"!" + card, "!asking", "!running bash"}, a, b)
	s.exists(t, "made2")
	if _, err := os.Stat(filepath.Join(s.dir, "made1")); err == nil {
		t.Error("what was refused was done")
	}

	out, errs, code := s.run(t, "", "-p", "say beside")
	if code != ok || !strings.Contains(out, "beside") || errs != "" {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
	// Nothing was made aside.
	if left, _ := filepath.Glob(filepath.Join(s.getenv("TMPDIR"), "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if err := syscall.Kill(host, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	a.exited(t)
	b.exited(t)
	third := open(t, s.command())
	third.until(t, home, "touch made2")
	if strings.Contains(third.text(), "beside") {
		t.Errorf("the other conversation is in main's history:\n%s", third.text())
	}
}

// pressed presses a key on screens, and again until all of them show what is wanted: one that
// comes right after a question did answers nothing.
func pressed(t *testing.T, key string, want []string, on ...*console) {
	t.Helper()
	var last time.Time
	is := func() bool {
		lacking := false
		for _, c := range on {
			lacking = lacking || lacks(c.text(), want) != ""
		}
		if lacking && time.Since(last) > time.Second {
			last = time.Now()
			for _, c := range on {
				c.typed(t, key)
			}
		}
		return !lacking
	}
	if !comes(is, wait) {
		t.Fatalf("it never came to %q after %q; the screen:\n%s", want, key, on[0].text())
	}
}

// exists waits for a file in the workspace.
func (s *site) exists(t *testing.T, name string) {
	t.Helper()
	holds(t, name+" exists", func() bool {
		_, err := os.Stat(filepath.Join(s.dir, name))
		return err == nil
	})
}

// holds waits until something is so.
func holds(t testing.TB, what string, is func() bool) {
	t.Helper()
	if !comes(is, wait) {
		t.Fatalf("it never came to this: %s", what)
	}
}

// comes waits until something is so, at most as long as within, and reports whether it is. Between two looks it rests for
// three times as long as a look takes: one that runs a program would keep the machine from what is waited for.
func comes(is func() bool, within time.Duration) bool {
	late := time.NewTimer(within)
	defer late.Stop()
	for {
		began := time.Now()
		if is() {
			return true
		}
		again := time.NewTimer(max(2*time.Millisecond, 3*time.Since(began)))
		select {
		case <-late.C:
			again.Stop()
			return false
		case <-again.C:
		}
	}
}

// A host that is killed leaves its screens' terminals right, no command behind, and what it had
// running is reported once.
func TestKilledHostReportsItsTaskOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.fifo(t, "started")
	c := open(t, s.command("--yolo"))
	was := c.found
	c.until(t, home, ready)
	// It gives the program time to record that it runs.
	c.typed(t, "/push name=slow run echo partial; sleep 0.5; echo $$ > started; exec sleep 600\r")
	c.until(t, "1 queued")
	c.typed(t, "/run\r")
	pid := first(c)
	s.killsHost(t)
	c.left(t, failed, was)
	const lost = "fantail: its host was killed or failed; messages and transcripts are on disk, start fantail again to go on"
	if said := c.written(); strings.LastIndex(said, lost) < strings.LastIndex(said, "\x1b[?1049l") {
		t.Errorf("the terminal got %q", tail(said))
	}
	if outlives(pid) {
		t.Errorf("the command (process %s) still runs", pid)
	}

	again := open(t, s.command())
	again.until(t, home, "1 pending]")
	s.killsHost(t)
	again.exited(t)
	// A second crash and recovery deposits nothing more.
	once := open(t, s.command())
	was = once.found
	once.until(t, home, "1 pending]", ready)
	once.typed(t, "/check\r")
	once.until(t, "slow", "crashed")
	once.until(t, home+"]")
	if err := once.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	once.left(t, 128+int(syscall.SIGTERM), was)
}

// killsHost ends the host as nothing can be done about.
func (s *site) killsHost(t testing.TB) {
	t.Helper()
	if err := syscall.Kill(s.host(t), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// Leaving with keys ends the screen with zero, and the host stays; /quit ends both.
func TestLeavingAndQuittingEndWithZero(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := open(t, s.command())
	was := c.found
	c.until(t, home, ready)
	host := s.host(t)
	for _, leave := range []struct{ key, again string }{{"\x03", "Press Ctrl+C again to leave"}, {"\x04", "Press Ctrl+D again to leave"}} {
		c.typed(t, leave.key)
		c.until(t, leave.again)
		c.typed(t, leave.key)
		c.left(t, ok, was)
		c = open(t, s.command())
		was = c.found
		c.until(t, home, ready)
		if now := s.host(t); now != host {
			t.Errorf("the host was %d and is %d", host, now)
		}
	}
	c.typed(t, "/quit\r")
	c.left(t, ok, was)
	if outlives(strconv.Itoa(host)) {
		t.Error("the host outlives /quit")
	}
}

// A screen follows its host from restart to restart, however many there are, and tells each one how
// large it is by then.
func TestRestarts(t *testing.T) {
	t.Parallel()
	s := newSite(t).raced()
	c := open(t, s.command())
	c.until(t, home, ready)
	raw, err := c.tty.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var e error
	if err := raw.Control(func(fd uintptr) {
		e = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 70})
	}); err != nil || e != nil {
		t.Fatal(err, e)
	}
	line := strings.Repeat("─", 70)
	c.shows(t, line+"\x1b") // and no longer
	for n := range long.Times(2, 7) {
		was := s.host(t)
		c.mu.Lock()
		c.raw = nil
		c.mu.Unlock()
		c.typed(t, "/restart\r")
		c.shows(t, leftScreen)
		c.shows(t, line+"\x1b")
		c.until(t, home, ready)
		if now := s.host(t); now == was {
			t.Errorf("restart %d: the host is still process %d", n, now)
		}
	}
	c.typed(t, "/quit\r")
	if code := c.exited(t); code != ok {
		t.Errorf("exit code %d: %q", code, c.text())
	}
}

// leftScreen is sent where the full screen is left.
const leftScreen = "\x1b[?1049l"
