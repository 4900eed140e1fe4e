package mail

import (
	"testing"

	"fantail/inbox/policy"
)

// TestSorted_keepsWhatCame: a seam that let all in forgets what was due, but not what came back between its look and
// its end.
func TestSorted_keepsWhatCame(t *testing.T) {
	due := policy.Decision{Mode: policy.Interrupt, When: policy.AtSeam}
	m := New(Options{Fleet: fleetOf(t)})
	m.Opens(1)
	k := &m.Tray(1).sorting
	k.upTo = 7
	k.seen(7, due)
	m.Sorted(1, Arrivals{known: *k, whole: true})
	if k.eager != 0 {
		t.Errorf("after all entered #%d is due", k.eager)
	}
	s := Arrivals{known: *k, whole: true}
	k.seen(3, due) // it was snoozed
	if m.Sorted(1, s); k.eager != 3 {
		t.Errorf("#%d is due, want 3", k.eager)
	}
	s = Arrivals{known: *k, whole: true}
	k.anew() // the policy changed, and all was looked at again
	k.upTo = 7
	k.seen(3, due)
	if m.Sorted(1, s); k.eager != 3 {
		t.Errorf("after a change of the policy #%d is due, want 3", k.eager)
	}
}
