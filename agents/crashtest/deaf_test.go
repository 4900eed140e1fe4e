package crashtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/agents/acp/acptest"
	"fantail/agents/agentstest"
	"fantail/agents/event"
)

// deaf is the life of a vendor's program that obeys nothing: it goes on with a turn that is cancelled, without its input, and
// at TERM, and so does a program of its own.
func deaf(t *testing.T, dir, _ string) {
	signal.Ignore(syscall.SIGTERM)
	child := exec.Command("/bin/sleep", "1000")
	agentstest.Check(t, child.Start())
	journal := filepath.Join(dir, "journal")
	agentstest.Check(t, os.WriteFile(journal+".new", fmt.Appendf(nil, "%d %d", os.Getpid(), child.Process.Pid), 0o600))
	agentstest.Check(t, os.Rename(journal+".new", journal))
	a := &acptest.Agent{Deaf: true, Turn: func(t *acptest.Turn) string {
		t.Say("I go on.")
		select {}
	}}
	_ = a.Serve(os.Stdin, os.Stdout)
	select {}
}

// TestKill_deaf: an agent that is killed ends, and with it all of its program's group, whatever that does about it. That
// nobody waits for more than two seconds in between is shown in agents/vendortest, by a clock that a busy machine does not
// slow.
func TestKill_deaf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	agentstest.Check(t, os.Mkdir(filepath.Join(dir, "ours"), 0o700))
	w := attached(t, dir, "deaf")
	w.Push("a", "do it")
	w.Run(1)
	w.Until("it speaks", func() bool { return w.Info("a").State == event.Running && w.Info("a").Doing == "streaming" })
	var group []int
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(time.Minute); len(group) < 2; {
		text, err := os.ReadFile(filepath.Join(dir, "journal"))
		if err == nil {
			for _, pid := range strings.Fields(string(text)) {
				var n int
				_, err := fmt.Sscan(pid, &n)
				agentstest.Check(t, err)
				group = append(group, n)
			}
			break
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("it has not begun")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	agentstest.Check(t, w.Pool.Kill(ctx, "a", false))
	w.State("a", event.Killed)
	for _, pid := range group {
		if !gone(pid) {
			t.Errorf("process %d of its group lives", pid)
		}
	}
	w.Close()
}
