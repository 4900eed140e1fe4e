package fleet_test

import (
	"math"
	"testing"
	"time"

	"fantail/agents/fleet"
)

// TestHuman: the human is told of by keys, looks and drafts, and only what they leave
// turns anything.
func TestHuman(t *testing.T) {
	turned := 0
	h := &fleet.Human{Turned: func() { turned++ }}
	left, end := h.Leaves(1)
	went := func() bool {
		select {
		case <-left:
			return true
		default:
			return false
		}
	}
	for _, c := range []struct {
		what     string
		do       func()
		turned   int
		went     bool
		looks    int64
		drafting bool
	}{
		{"they look at 1", func() { h.Looks(1) }, 1, false, 1, false},
		{"they still do", func() { h.Looks(1) }, 1, false, 1, false},
		{"they write", func() { h.Drafts(1, true) }, 1, false, 1, true},
		{"they write on", func() { h.Drafts(1, true) }, 1, false, 1, true},
		{"the draft is gone", func() { h.Drafts(1, false) }, 2, false, 1, false},
		{"it still is", func() { h.Drafts(1, false) }, 2, false, 1, false},
		{"they look at 2", func() { h.Looks(2) }, 3, true, 2, false},
		{"they look at 3", func() { h.Looks(3) }, 4, false, 3, false},
		{"nobody wants to know any more", func() { end(); h.Looks(1); h.Looks(2) }, 6, false, 2, false},
	} {
		c.do()
		if turned != c.turned || went() != c.went || !h.LooksAt(c.looks) || h.LooksAt(9) || h.Drafting(1) != c.drafting {
			t.Errorf("%s: turned %d times, looks at 1, 2, 3: %t %t %t, drafting %t",
				c.what, turned, h.LooksAt(1), h.LooksAt(2), h.LooksAt(3), h.Drafting(1))
		}
	}
}

// TestHuman_away: how long ago the last key came; a clock that was set back makes it no
// less than now.
func TestHuman_away(t *testing.T) {
	var h fleet.Human
	now := time.UnixMilli(1_000_000)
	if d := h.Away(now); d != math.MaxInt64 {
		t.Errorf("before the first key: %s", d)
	}
	h.Pressed(now)
	for after, want := range map[time.Duration]time.Duration{0: 0, time.Minute: time.Minute, -time.Minute: 0} {
		if d := h.Away(now.Add(after)); d != want {
			t.Errorf("%s after a key: %s", after, d)
		}
	}
}
