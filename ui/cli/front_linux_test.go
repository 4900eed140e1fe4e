package cli_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"fantail/store/paths"
	"fantail/ui/screen/tty"
)

// barred has no host start in the site until the returned function is called.
func (s *site) barred(t *testing.T) (open func()) {
	t.Helper()
	if out, errs, code := s.run(t, "early", "send", "main", "-"); code != ok {
		t.Fatalf("make the data directory: %s%s", out, errs)
	}
	socket := paths.Screens(s.getenv, os.Geteuid(), s.data(t))
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	door, err := os.OpenFile(socket+".start", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = door.Close() })
	if err := syscall.Flock(int(door.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { _ = door.Close() }
}

// front is what a terminal shows while a host starts.
const front = "\n────────────────────────────────────────────────────────────────────────────────────────────────────\n›"

// While a host starts there is a box already, and what is typed then is in the box of the program.
func TestFront_keepsWhatIsTyped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	opens := s.barred(t)
	c := open(t, s.command())
	c.until(t, front, "!main")
	c.typed(t, "typed bef\x1b[200~ore\x1b[201~")
	opens()
	c.until(t, home, "› typed before")
	if n := strings.Count(c.written(), "typed bef"); n > 1 {
		t.Errorf("it was echoed by the terminal too: %q", c.written())
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	c.left(t, 128+int(syscall.SIGTERM), c.found)
}

// Who does not want to wait for a host gets the terminal back.
func TestFront_ends(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.barred(t)
	for name, end := range map[string]func(c *console) (code int){
		"ctrl+c":  func(c *console) int { c.typed(t, "x\x03"); return 128 + int(syscall.SIGINT) },
		"ctrl+\\": func(c *console) int { c.typed(t, "x\x1c"); return 128 + int(syscall.SIGQUIT) },
		"a signal": func(c *console) int {
			_ = c.cmd.Process.Signal(syscall.SIGHUP)
			return 128 + int(syscall.SIGHUP)
		},
	} {
		c := open(t, s.command())
		c.until(t, front)
		_ = c.cmd.Process.Signal(syscall.SIGTSTP) // stops nothing
		t.Log(name)
		c.left(t, end(c), c.found)
	}
}

// Hosts that end as soon as a screen comes leave it a terminal as it was, whether or not there was time for a hello.
func TestFront_silent(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	opens := s.barred(t)
	c := open(t, s.command())
	c.until(t, front)
	l, err := net.Listen("unix", paths.Screens(s.getenv, os.Geteuid(), s.data(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var host sync.WaitGroup
	host.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	})
	opens()
	code := c.exited(t)
	if said := c.written()[strings.LastIndex(c.written(), "\x1b[?1049l")+1:]; code == ok || !strings.Contains(said, "hosts in a row ended") {
		t.Errorf("exit code %d: %q", code, c.written())
	}
	c.restored(t)
	if now := c.modes(t); now != c.found {
		t.Errorf("the terminal's modes were %s and are %s", c.found, now)
	}
	_ = l.Close()
	host.Wait()
}

// What a host can't start for is said on the terminal as it was.
func TestFront_refused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	opens := s.barred(t)
	if err := os.WriteFile(s.data(t)+"/fantail.db", []byte(strings.Repeat("this is no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, s.command())
	c.until(t, front)
	opens()
	code := c.exited(t)
	if said := c.written()[strings.LastIndex(c.written(), "\x1b[?1049l")+1:]; code == ok || !strings.Contains(said, "fantail: ") || !strings.Contains(said, "database") {
		t.Errorf("exit code %d: %q", code, c.written())
	}
	c.restored(t)
	if now := c.modes(t); now != c.found || now == (tty.Modes{}) {
		t.Errorf("the terminal's modes were %s and are %s", c.found, now)
	}
	holds(t, "the host has ended", func() bool { return len(s.hosts()) == 0 })
	if left, _ := filepath.Glob(filepath.Join(s.getenv("TMPDIR"), "*")); len(left) > 0 {
		t.Errorf("it left %q", left)
	}
}
