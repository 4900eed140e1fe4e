package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"fantail/.ci/long"
)

// alone has the site's programs run by a name that no other site's have: a host hides its environment, but everybody sees its
// command line.
func (s *site) alone(t *testing.T) *site {
	t.Helper()
	program := filepath.Join(temporary(t), "fantail")
	must(t, os.Link(s.program, program))
	s.program = program
	return s
}

// serving are the hosts that run by the name of the site's program.
func (s *site) serving() (pids []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		words, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if string(words) == s.program+"\x00host\x00serve\x00" {
			pids = append(pids, filepath.Base(dir))
		}
	}
	return pids
}

// TestManyStartsMakeOneHost: however many start at once, one host serves them all, and each that
// leaves leaves it to the others.
func TestManyStartsMakeOneHost(t *testing.T) {
	t.Parallel()
	n := long.Times(12, 100)
	if raced {
		n = min(n, 30)
	}
	s := newSite(t).alone(t)
	var all []*console
	for range n {
		all = append(all, openOf(t, s.command(), 60, 12))
	}
	for _, c := range all {
		c.until(t, home)
	}
	if hosts := s.serving(); len(hosts) != 1 || hosts[0] != fmt.Sprint(s.host(t)) {
		t.Errorf("%d starts made the hosts %s; the lock says %d", n, hosts, s.host(t))
	}
	for _, c := range all {
		if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range all {
		if code := c.exited(t); code != 128+int(syscall.SIGTERM) {
			t.Errorf("exit code %d: %q", code, tail(c.written()))
		}
		c.restored(t)
	}
	if hosts := s.serving(); len(hosts) != 1 {
		t.Errorf("once all have left there are the hosts %s", hosts)
	}
}

// TestAgentsCommandIsNoScreen: a command of an agent that makes a terminal of its own and starts the
// program there is refused, and starts no host either.
func TestAgentsCommandIsNoScreen(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("script is not installed")
	}
	s := newSite(t).alone(t)
	c := open(t, s.command("--yolo"))
	c.until(t, home, ready)
	host := s.host(t)
	c.typed(t, fmt.Sprintf("run script -qec '%s' /dev/null; echo code $?\r", s.typed()))
	c.until(t, "can be no screen", "code 1")
	if hosts := s.serving(); len(hosts) != 1 || s.host(t) != host {
		t.Errorf("the host was %d; there are %s", host, hosts)
	}
}
