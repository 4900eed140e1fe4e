package cli_test

import (
	"os/exec"
	"strings"
	"testing"
)

// server is a tmux server of the test's own, with the program in its only pane.
type server struct {
	s    *site
	name string
	dir  string // of its socket
}

// tmux starts one of that size.
func (s *site) tmux(t *testing.T, name, columns, rows string) server {
	t.Helper()
	v := server{s: s, name: name, dir: t.TempDir()}
	v.does(t, "-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows, "exec "+s.typed())
	t.Cleanup(func() { _ = v.command("kill-server").Run() }) // it may have ended
	return v
}

func (v server) command(args ...string) *exec.Cmd {
	c := exec.Command("tmux", append([]string{"-L", v.name}, args...)...)
	c.Dir, c.Env = v.s.dir, append(v.s.env, "TMUX_TMPDIR="+v.dir)
	return c
}

func (v server) does(t *testing.T, args ...string) string {
	t.Helper()
	out, err := v.command(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// shows waits until the pane shows all of it.
func (v server) shows(t *testing.T, want ...string) {
	t.Helper()
	pane := ""
	ok := comes(func() bool {
		pane = v.does(t, "capture-pane", "-p")
		for _, w := range want {
			if !strings.Contains(pane, w) {
				return false
			}
		}
		return true
	}, wait)
	if !ok {
		t.Fatalf("%s does not show %q:\n%s", v.name, want, pane)
	}
}

// Two tmux servers show one host, each in its own size. One that is killed takes neither the host nor the other's screen
// with it.
func TestTwoTmuxServers(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skipf("SKIPPED, there is no tmux: %v", err)
	}
	t.Parallel()
	s := newSite(t)
	a, b := s.tmux(t, "a", "100", "30"), s.tmux(t, "b", "70", "20")
	a.shows(t, home, ready)
	b.shows(t, home, ready)
	host := s.host(t)
	b.does(t, "send-keys", "-l", "half typed")
	a.does(t, "send-keys", "-l", "say for both")
	a.does(t, "send-keys", "Enter")
	a.shows(t, "▌ say for both", "1 step")
	b.shows(t, "▌ say for both", "1 step", "› half typed")
	rule := strings.Repeat("─", 70)
	if pane := b.does(t, "capture-pane", "-p"); !strings.Contains(pane, rule+"\n") || strings.Contains(pane, rule+"─") {
		t.Errorf("the smaller one is not painted in its size:\n%s", pane)
	}
	a.does(t, "kill-server")
	b.does(t, "send-keys", "C-u")
	b.does(t, "send-keys", "-l", "say alone")
	b.does(t, "send-keys", "Enter")
	b.shows(t, "▌ say alone")
	c := s.tmux(t, "c", "100", "30")
	c.shows(t, "▌ say alone", home)
	if now := s.host(t); now != host {
		t.Errorf("the host was %d and is %d", host, now)
	}
}
