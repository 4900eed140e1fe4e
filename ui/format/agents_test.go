package format

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
)

// TestWhyIdle: what an agent that awaits input awaits, what keeps it and what ends it; of one that works, what comes
// after.
func TestWhyIdle(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	tells, ends := "it waits for your next message: /tell auth TEXT, or m in its tab", "/end auth to end it as done, /kill auth as stopped"
	for _, c := range []struct {
		state  event.State
		w      event.Await
		want   []string
		hasNot string
	}{
		{event.Idle, event.Await{For: time.Minute, Until: now.Add(42 * time.Second)}, []string{"auth is idle", tells, "it closes in 0:42 without input", ends}, "stays"},
		{event.Idle, event.Await{For: time.Minute}, []string{tells, "it stays while someone looks at its tab, and closes 1m00s later", ends}, "attached"},
		{event.Idle, event.Await{For: time.Minute, Attached: 1}, []string{"it stays while a program is attached to it, and closes 1m00s"}, "looks"},
		{event.Idle, event.Await{For: time.Minute, Attached: 3}, []string{"it stays while 3 programs are attached to it"}, "looks"},
		{event.Idle, event.Await{Attached: 3}, []string{tells, "it stays until you end it", ends}, "while"},
		{event.Running, event.Await{For: 5 * time.Minute}, []string{"auth is running", "after this turn it waits for your input for 5m00s"}, "/end"},
		{event.Running, event.Await{For: 5 * time.Minute, Ends: true}, []string{"it ends after this turn"}, "awaits"},
		{event.Done, event.Await{For: 5 * time.Minute}, []string{"auth is done"}, "turn"},
	} {
		got := Why(fleet.Now{Info: event.Info{Name: "auth", Kind: event.Sub, State: c.state, Await: &c.w}}, now)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s, %+v: it lacks %q:\n%s", c.state, c.w, want, got)
			}
		}
		if strings.Contains(got, c.hasNot) {
			t.Errorf("%s, %+v: it has %q:\n%s", c.state, c.w, c.hasNot, got)
		}
	}
}

func TestCountdown(t *testing.T) {
	var got []string
	for _, d := range []time.Duration{0, time.Millisecond, 59 * time.Second, 252 * time.Second, time.Hour + 62*time.Second} {
		got = append(got, Countdown(d))
	}
	if want := []string{"0:00", "0:01", "0:59", "4:12", "1:01:02"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
