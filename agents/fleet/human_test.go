package fleet_test

import (
	"math"
	"testing"
	"time"

	"fantail/agents/fleet"
)

// TestHuman: keys, looks and drafts report the human, and Turned is called only for what they leave.
func TestHuman(t *testing.T) {
	turned := 0
	hs := &fleet.Humans{Turned: func() { turned++ }}
	h := hs.Arrive()
	moved, end := hs.Watch(1)
	went := func() bool {
		select {
		case <-moved:
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
		{"they look at 1", func() { h.Looks(1) }, 1, true, 1, false},
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
		if turned != c.turned || went() != c.went || !hs.LooksAt(c.looks) || hs.LooksAt(9) || hs.Drafting(1) != c.drafting {
			t.Errorf("%s: turned %d times, looks at 1, 2, 3: %t %t %t, drafting %t",
				c.what, turned, hs.LooksAt(1), hs.LooksAt(2), hs.LooksAt(3), hs.Drafting(1))
		}
	}
}

// TestHuman_away: how long ago the last key came; a clock that was set back never makes it negative.
func TestHuman_away(t *testing.T) {
	var hs fleet.Humans
	h := hs.Arrive()
	now := time.UnixMilli(1_000_000)
	if d := hs.Away(now); d != math.MaxInt64 {
		t.Errorf("before the first key: %s", d)
	}
	h.Pressed(now)
	for after, want := range map[time.Duration]time.Duration{0: 0, time.Minute: time.Minute, -time.Minute: 0} {
		if d := hs.Away(now.Add(after)); d != want {
			t.Errorf("%s after a key: %s", after, d)
		}
	}
}

// TestHumans: the state of one human counts for all of them: the least idle one decides Away, and a tab counts as left
// only when the last one leaves.
func TestHumans(t *testing.T) {
	turned := 0
	hs := &fleet.Humans{Turned: func() { turned++ }}
	a, b := hs.Arrive(), hs.Arrive()
	moved, _ := hs.Watch(1)
	went := func() bool {
		select {
		case <-moved:
			return true
		default:
			return false
		}
	}
	now := time.UnixMilli(1_000_000)
	a.Looks(1)
	b.Looks(1)
	b.Drafts(1, true)
	went()
	for _, c := range []struct {
		what          string
		do            func()
		others        int
		looks, drafts bool
		went          bool
		turns         int
		away          time.Duration
	}{
		{"both look", func() {}, 1, true, true, false, 0, math.MaxInt64},
		{"one presses a key", func() { a.Pressed(now) }, 1, true, true, false, 0, time.Second},
		{"one goes elsewhere", func() { a.Looks(2) }, 1, true, true, true, 1, time.Second},
		{"the other's screen takes nothing", func() { b.Absent() }, 0, false, false, true, 1, time.Second},
		{"it still does not", func() { b.Absent() }, 0, false, false, false, 0, time.Second},
		{"it does again", func() { b.Back() }, 1, true, true, true, 1, time.Second},
		{"it is gone", func() { b.Leave() }, 0, false, false, true, 1, time.Second},
		{"all are", func() { a.Leave() }, 0, false, false, false, 1, time.Second},
	} {
		turned = 0
		c.do()
		if a.Others() != c.others || hs.LooksAt(1) != c.looks || hs.Drafting(1) != c.drafts || went() != c.went || turned != c.turns || hs.Away(now.Add(time.Second)) != c.away {
			t.Errorf("%s: %d others, looked at %t, drafting %t, turned %d times, away %s",
				c.what, a.Others(), hs.LooksAt(1), hs.Drafting(1), turned, hs.Away(now.Add(time.Second)))
		}
	}
}
