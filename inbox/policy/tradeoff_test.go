package policy

import (
	"testing"
	"time"

	"fantail/inbox"
)

// TestDecide_tradeoffs: only interrupt enters a running turn; queue waits for its end and a pause; fork answers at once
// and does not disturb it, at the cost of one more agent. At rest interrupt and fork are equally quick.
//
// Spec: M-19.
func TestDecide_tradeoffs(t *testing.T) {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	m := inbox.Message{ID: 1, Kind: inbox.Mail, From: "kid", Deliver: inbox.Next, Body: "x", Created: now}
	busy := Recipient{Doing: Streaming, Prompt: true}
	resting := Recipient{Doing: Resting, Prompt: true}
	paused := Recipient{Doing: Resting, Prompt: true, Away: IdleAfter}
	for _, c := range []struct {
		mode                Mode
		breaksIn, immediate bool // into the running turn; before it has ended
		when                map[*Recipient]When
	}{
		{Interrupt, true, true, map[*Recipient]When{&busy: AtSeam, &resting: AtOnce, &paused: AtOnce}},
		{Queue, false, false, map[*Recipient]When{&busy: AtPause, &resting: AtPause, &paused: AtPause}},
		{Fork, false, true, map[*Recipient]When{&busy: Forked, &resting: Forked, &paused: Forked}},
	} {
		for who, want := range c.when {
			if d := Decide(m, Policy{Human: Overrides{Mode: c.mode}}, *who, now); d.When != want {
				t.Errorf("%s, %+v: %v, want %v", c.mode, *who, d.When, want)
			}
		}
		d := Decide(m, Policy{Human: Overrides{Mode: c.mode}}, busy, now)
		if breaks := d.When == AtSeam; breaks != c.breaksIn {
			t.Errorf("%s breaks into a turn: %v", c.mode, breaks)
		}
		if soon := d.When == AtSeam || d.Due; soon != c.immediate {
			t.Errorf("%s answers before the turn's end: %v", c.mode, soon)
		}
	}
}
