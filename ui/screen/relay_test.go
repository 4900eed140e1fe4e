package screen

import "testing"

// TestDrop: what the terminal has not taken it does not show, whichever way it was on.
func TestDrop(t *testing.T) {
	for _, c := range []struct {
		taken, waits string
		full         bool
	}{
		{"", "", false},
		{enters, "x", true},
		{"", "x" + enters + "y", false},
		{enters, "x" + leaves, true},
		{enters + leaves, "", false},
		{enters + leaves, enters, false},
		{enters, leaves + enters, true},
		{"", enters + leaves, false},
	} {
		r := &relay{shown: []byte(c.waits)}
		r.notice([]byte(c.taken))
		r.notice(r.shown)
		r.drop()
		if r.full != c.full || len(r.shown) > 0 {
			t.Errorf("taken %q, waiting %q: full %t, want %t", c.taken, c.waits, r.full, c.full)
		}
	}
}
