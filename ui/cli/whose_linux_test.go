package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/agents/audit"
)

// Of two screens of one host the audit says at which one a question was answered.
func TestAudit_whichScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t).raced()
	a := open(t, s.command())
	a.until(t, home, ready)
	a.typed(t, "run echo x > made\r")
	a.until(t, "1 asking")
	b := open(t, s.command())
	b.until(t, "main wants to run a command")
	terminal, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", b.cmd.Process.Pid))
	if err != nil || !strings.HasPrefix(terminal, "/dev/") {
		t.Fatalf("the second screen's terminal is %q, %v", terminal, err)
	}
	ran := func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "made"))
		return err == nil
	}
	for range 5 { // a key that comes just behind the question is no answer
		b.typed(t, "y")
		if comes(ran, 2*time.Second) {
			break
		}
	}
	if !ran() {
		t.Fatalf("nothing ran: %s", tail(b.written()))
	}
	out, errs, code := s.run(t, "", "audit", "--json")
	if code != ok {
		t.Fatal(errs)
	}
	var said []string
	for row := range strings.Lines(out) {
		var r audit.Record
		if err := json.Unmarshal([]byte(row), &r); err != nil {
			t.Fatal(err)
		}
		if r.What == audit.Answer {
			said = append(said, r.By)
		}
	}
	if want := fmt.Sprintf("the user, on %s (process %d): yes", terminal, b.cmd.Process.Pid); len(said) != 1 || said[0] != want {
		t.Errorf("answered by %q, want %q", said, want)
	}
}
