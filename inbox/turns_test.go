package inbox

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"fantail/.ci/long"
)

// Two processes that write all the time don't block each other.
func TestDeposit_twoProcessesTakeTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fantail.db")
	w := at(t, path)
	for i := range senders {
		w.agent(fmt.Sprint("s", i))
	}
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	ps := []*process{spawn(t, "live", path, 1), spawn(t, "live", path, 2)}
	for _, p := range ps {
		<-p.lines // both are at work
	}
	for _, p := range ps {
		for len(p.lines) > 0 {
			<-p.lines // lines of one before the other began
		}
	}
	var done [2]int
	for range long.Times(400, 3000) {
		select {
		case <-ps[0].lines:
			done[0]++
		case <-ps[1].lines:
			done[1]++
		}
	}
	for _, p := range ps {
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for line := range p.lines {
			if !strings.HasPrefix(line, "d ") && !strings.HasPrefix(line, "t ") {
				t.Errorf("a child said %q", line)
			}
		}
		if err := p.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("a child ended by itself: %v", err)
		}
	}
	t.Logf("acknowledged: %v", done)
	if sum := done[0] + done[1]; min(done[0], done[1]) < sum*15/100 {
		t.Errorf("acknowledged %v: each must get at least 15 %% of the turns", done)
	}
	at(t, path).sound()
}
