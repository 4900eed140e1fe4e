package tabs

import (
	"testing"
	"time"

	"fantail/agents/event"
)

func TestPulse(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	all := &Tabs{Look: Look{Now: func() time.Time { return now }}}
	x := &Tab{of: all, Info: event.Info{State: event.Running}}
	step := func(bytes int, want string) {
		t.Helper()
		if bytes > 0 {
			x.Heard(bytes)
		}
		if got := x.Pulse(); got != want {
			t.Errorf("the pulse is %q, want %q", got, want)
		}
		now = now.Add(2 * time.Second)
	}
	step(0, "▁▁▁▁▁▁")
	step(1, "▁▁▁▁▁▂")
	step(100, "▁▁▁▁▂▄")
	step(1<<20, "▁▁▁▂▄▇")
	step(0, "▁▁▂▄▇▁")
	x.Heard(20)
	step(20, "▁▂▄▇▁▃")
	if !x.Active.Equal(now.Add(-2 * time.Second)) {
		t.Error("what it wrote is no sign of life")
	}
	now = now.Add(time.Hour)
	step(0, "▁▁▁▁▁▁")
	now = now.Add(-2 * time.Hour) // a clock that was set back
	step(40, "▁▁▁▁▁▃")

	all.Still = true
	step(0, "")
	all.Still, x.Info.State = false, event.Idle
	step(0, "")
}
