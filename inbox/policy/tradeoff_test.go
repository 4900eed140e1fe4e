package policy

import (
	"testing"
	"time"

	"fantail/inbox"
)

// TestDecide_tradeoffs: an agent at work is broken into by interrupt alone; queue waits
// for its end and a pause; fork answers at once and leaves it alone, for the price of
// an agent more. At rest interrupt and fork are as quick as each other.
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
		breaksIn, immediate bool // into the turn that runs; before that has ended
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
