package policy

import (
	"testing"
	"time"
)

// A period lasts from its first minute up to, but not including, its last, on its days, also over midnight.
func TestPeriod_holds(t *testing.T) {
	const h = 60
	for _, c := range []struct {
		from, to int
		at       string
		want     bool
	}{
		{9 * h, 17 * h, "08:59", false},
		{9 * h, 17 * h, "09:00", true},
		{9 * h, 17 * h, "16:59", true},
		{9 * h, 17 * h, "17:00", false},
		{17 * h, 9 * h, "16:59", false},
		{17 * h, 9 * h, "17:00", true},
		{17 * h, 9 * h, "23:59", true},
		{17 * h, 9 * h, "00:00", true},
		{17 * h, 9 * h, "08:59", true},
		{17 * h, 9 * h, "09:00", false},
		{7 * h, 7 * h, "06:59", true},
		{7 * h, 7 * h, "07:00", true},
		{0, 24 * h, "00:00", true},
		{0, 24 * h, "23:59", true},
	} {
		at, err := time.ParseInLocation("2006-01-02 15:04", "2026-03-02 "+c.at, time.Local) // a Monday
		if err != nil {
			t.Fatal(err)
		}
		p := Period{From: c.from, To: c.to}
		if p.holds(at) {
			t.Errorf("%d to %d holds at %s on a day that is not its own", c.from, c.to, c.at)
		}
		p.Days[time.Monday] = true
		if got := p.holds(at); got != c.want {
			t.Errorf("%d to %d holds at %s: %v", c.from, c.to, c.at, got)
		}
	}
}

// A time to be idle is of one second to a day, as a duration or in seconds.
func TestParsePause(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1s": time.Second, "30": 30 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "24h": 24 * time.Hour,
		"999ms": 0, "0": 0, "-5s": 0, "24h1s": 0, "25h": 0, "": 0, "soon": 0, "5 m": 0,
	} {
		if got, err := ParsePause(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// Of the rules for senders a name comes before patterns; of patterns the longest match counts, then the first in
// alphabetical order: the choice is always the same.
func TestBySender(t *testing.T) {
	for _, c := range []struct {
		rules []string
		from  string
		as    string
	}{
		{nil, "a", ""},
		{[]string{"a", "a*", "*"}, "a", "a"},
		{[]string{"a", "a*", "*"}, "ab", "a*"},
		{[]string{"b", "*"}, "a", "*"},
		{[]string{"b*", "c?"}, "a", ""},
		{[]string{"a*", "?b", "*b"}, "ab", "*b"},
		{[]string{"ab*", "a*", "*"}, "abc", "ab*"},
		{[]string{"[", "a[", "*"}, "a", "*"},
		{[]string{"test-[ab]", "test-*"}, "test-b", "test-[ab]"},
		{[]string{"a"}, "A", ""},
	} {
		for range 20 {
			rules := map[string]Mode{}
			for _, r := range c.rules {
				rules[r] = Mode(r)
			}
			if mode, as, ok := bySender(rules, c.from); as != c.as || ok != (c.as != "") || mode != Mode(c.as) {
				t.Fatalf("%q of %q: %q %q %v", c.from, c.rules, mode, as, ok)
			}
		}
	}
}
