package cli_test

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"fantail/.ci/long"
)

// TestStoppedHost holds that no command waits for ever for a host that does not answer: each says so, with its number, or
// does without it, and one of them ends it.
func TestStoppedHost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.spawn(t, "--label", "k", "--interactive", "--idle", "10m", "--prompt", "say hi")
	s.listed(t, "k", `"idle"`)
	pid := s.host(t)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	number := fmt.Sprintf("process %d", pid)
	none := "fantail host stop --now ends it"
	c := open(t, s.command())
	// Each waits, and nothing else: all at once, whatever -parallel says.
	var all sync.WaitGroup
	for _, c := range long.Some(t, 8, []struct {
		line string
		code int
		says []string // on standard error, or else on standard output
	}{
		{"host status", failed, []string{number, none}},
		{"host stop", failed, []string{number, none}},
		{"host stop --wait", failed, []string{number, none}},
		{"ls", nothing, []string{"does not answer"}},
		{"doctor", failed, []string{number, none}},
		{"agents", ok, []string{number, "k"}},
		{"agents --json", ok, []string{number, `"name":"k"`}},
		{"agents tell k x", failed, []string{number, none}},
		{"agents kill k", failed, []string{number, none}},
		{"agents end k", failed, []string{number, none}},
		{"agents wrapup k", failed, []string{number, none}},
		{"agents respawn k", failed, []string{number, none}},
		{"agents spawn --label j --prompt x", failed, []string{number, none}},
		{"agents attach k", failed, []string{number, none}},
		{"agents logs k", ok, []string{"hi"}},
		{"push later", failed, []string{number, none, "may still do what it was asked"}},
		{"send main hello", ok, nil},
		{"inbox", ok, []string{"hi"}},
		{"queue", ok, []string{"k"}},
		{"schedule in 1h look", ok, []string{"Scheduled", number, none}},
		{"-p hello", failed, []string{number, none}},
	}) {
		all.Go(func() {
			out, errs, code := s.run(t, "", strings.Fields(c.line)...)
			if code != c.code {
				t.Errorf("%s: exit code %d, output %q, errors %q", c.line, code, out, errs)
			}
			for _, want := range c.says {
				if !strings.Contains(out+errs, want) {
					t.Errorf("%s: %q is not in the output %q, errors %q", c.line, want, out, errs)
				}
			}
		})
	}
	all.Wait()
	c.until(t, number, "does not answer")
	out, errs, code := s.run(t, "", "host", "stop", "--now")
	if want := fmt.Sprintf("the host (process %d) did not answer, and ended when it was told to by a signal", pid); code != ok || !strings.Contains(out, want) {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
	if out, errs, code := s.run(t, "", "host", "status"); code != nothing {
		t.Errorf("afterwards: exit code %d, output %q, errors %q", code, out, errs)
	}
}

// TestHostStopsInTheMiddle holds that who is attached is told when the host no longer lives, and when it goes on.
func TestHostStopsInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.spawn(t, "--label", "k", "--interactive", "--idle", "10m", "--prompt", "say hi")
	s.listed(t, "k", `"idle"`)
	pid := s.host(t)
	c := open(t, s.command("agents", "attach", "k"))
	c.until(t, "attached to k", "◐ idle")
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c.until(t, fmt.Sprintf("the host (process %d) does not answer", pid), "host stop --now ends it")
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	c.until(t, "the host answers again")
	c.typed(t, "say so\r")
	c.until(t, "› say so")
}
