package cli

import (
	"os"
	"strings"
	"testing"
)

// What a killed program was running ends with it: the shell, what that started,
// and what those left in the background.
func TestKilledProgramLeavesNoCommand(t *testing.T) {
	s := newSite(t)
	first := s.fifo(t, "started")
	c := s.command("-p", "run sleep 601 & (sleep 602; true) & echo $$ $! > started; wait", "--yolo")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pids := strings.Fields(first(nil))
	if err := c.Process.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	for _, pid := range pids {
		if outlives(pid) {
			t.Errorf("process %s outlives the program", pid)
		}
	}
}
