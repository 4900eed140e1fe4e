package ui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/tools/permission"
	"fantail/ui/uitest"
)

// TestEscStopsACommand runs in real time: a command of hours ends at Esc, with
// what it started.
func TestEscStopsACommand(t *testing.T) {
	t.Parallel()
	s := uitest.Start(t, uitest.Options{Real: true, Mode: permission.Yolo})
	s.Enter("run sleep 3600 & echo $! > pid; echo $((40+2)) began; wait")
	s.See("42 began") // of the command: the prompt shows the sum
	s.Send("\x1b")
	s.See("stopped")
	pid, err := os.ReadFile(filepath.Join(s.Home.Root, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(pid)), "stat")); err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("what the command started still runs: %s", stat)
	}
	s.Enter("say still here")
	s.See("still here")
}
