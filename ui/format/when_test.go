package format

import (
	"testing"
	"time"
)

func TestWhen(t *testing.T) {
	now := time.Date(2026, 3, 4, 15, 30, 20, 0, time.Local) // a Wednesday
	for typed, want := range map[string]string{
		"30m": "Wed 4 16:00", "for 2h": "Wed 4 17:30", "1h30m": "Wed 4 17:00", "2d": "Fri 6 15:30", "1w": "Wed 11 15:30",
		"16:00": "Wed 4 16:00", "14:00": "Thu 5 14:00", "until 15:30": "Thu 5 15:30", "9am": "Thu 5 09:00", "4:15PM": "Wed 4 16:15",
		"tomorrow": "Thu 5 09:00", "tomorrow 8:05": "Thu 5 08:05", "tomorrow at 2pm": "Thu 5 14:00",
		"monday": "Mon 9 09:00", "fri 10:00": "Fri 6 10:00", "wed": "Wed 11 09:00", "wednesday 18:00": "Wed 4 18:00", "today 18:00": "Wed 4 18:00",
		"next tue": "Tue 10 09:00",
		"":         "", "0": "", "30": "", "-5m": "", "0s": "", "25:00": "", "14:60": "", "soon": "", "today 14:00": "", "mo": "", "tomorrow 14:00 15:00": "", "for": "", "99999d": "",
	} {
		at, err := ParseWhen(typed, now)
		got := ""
		if err == nil {
			got = at.Format("Mon 2 15:04")
		}
		if got != want {
			t.Errorf("%q: %s (%v), want %s", typed, got, err, want)
		}
	}
}
