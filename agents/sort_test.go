package agents

import (
	"testing"

	"fantail/inbox"
)

// TestSorted_keepsWhatCame: a seam that let all in forgets what was due, but not what
// came back between its look and its end.
func TestSorted_keepsWhatCame(t *testing.T) {
	due := inbox.Decision{Mode: inbox.Interrupt, When: inbox.AtSeam}
	a := &agent{p: &Pool{}}
	a.sorting.upTo = 7
	a.sorting.seen(7, due)
	a.sorted(arrivals{known: a.sorting, whole: true})
	if a.sorting.eager != 0 {
		t.Errorf("after all entered #%d is due", a.sorting.eager)
	}
	s := arrivals{known: a.sorting, whole: true}
	a.sorting.seen(3, due) // it was snoozed
	if a.sorted(s); a.sorting.eager != 3 {
		t.Errorf("#%d is due, want 3", a.sorting.eager)
	}
	s = arrivals{known: a.sorting, whole: true}
	a.sorting.anew() // the policy changed, and all was looked at again
	a.sorting.upTo = 7
	a.sorting.seen(3, due)
	if a.sorted(s); a.sorting.eager != 3 {
		t.Errorf("after a change of the policy #%d is due, want 3", a.sorting.eager)
	}
}
