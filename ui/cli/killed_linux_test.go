package cli_test

import (
	"bytes"
	"syscall"
	"testing"
)

// A host that is killed takes with it what was typed in its last seconds, and no more: the next one offers the rest.
func TestKilledHostKeepsDrafts(t *testing.T) {
	t.Parallel()
	s := newSite(t).raced()
	a, b := open(t, s.command()), open(t, s.command())
	a.until(t, home, ready)
	b.until(t, home, ready)
	a.typed(t, "half a thought of A")
	b.typed(t, "half a thought of B")
	a.until(t, "half a thought of A")
	b.until(t, "half a thought of B")
	saved := func() bool {
		all := s.kept(t)
		return bytes.Contains(all, []byte("half a thought of A")) && bytes.Contains(all, []byte("half a thought of B"))
	}
	if !comes(saved, wait) {
		t.Fatal("what is typed is not on disk")
	}
	if err := syscall.Kill(s.host(t), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	a.exited(t)
	b.exited(t)
	c := open(t, s.command())
	c.until(t, home, "half a thought of", "is back", "is in the history of main (Up)")
}
