package format

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Morning is the hour that is meant by a day alone.
const Morning = 9

// ParseWhen parses a future time, in local time: after 30m, 1h30m or 2d; the next 14:00 or 2pm;
// tomorrow or monday, in the morning or at the hour that follows. It may begin with for, in, at or
// until.
func ParseWhen(s string, now time.Time) (time.Time, error) {
	said := strings.Fields(strings.ToLower(s))
	for len(said) > 1 && slices.Contains([]string{"for", "in", "at", "until", "till", "next"}, said[0]) {
		said = said[1:]
	}
	wrong := fmt.Errorf("%q is not a time in the future; try 30m, 2h, 2d, 14:00, tomorrow or monday 10:00", strings.TrimSpace(s))
	if len(said) == 0 || len(said) > 3 {
		return time.Time{}, wrong
	}
	if len(said) == 1 {
		if d, ok := lasting(said[0]); ok {
			return now.Add(d), nil
		}
	}
	at := now.Local()
	first, hour, minute, day := said[0], Morning, 0, -1
	if d, ok := days(said[0], at); ok {
		day, said = d, said[1:]
	}
	if len(said) > 1 && said[0] == "at" {
		said = said[1:]
	}
	if len(said) > 1 || len(said) == 0 && day < 0 {
		return time.Time{}, wrong
	}
	if len(said) == 1 {
		var ok bool
		if hour, minute, ok = hours(said[0]); !ok {
			return time.Time{}, wrong
		}
	}
	then := func(day int) time.Time {
		return time.Date(at.Year(), at.Month(), at.Day()+day, hour, minute, 0, 0, at.Location())
	}
	t := then(max(day, 0))
	switch {
	case t.After(now):
		return t, nil
	case day < 0: // that hour has passed today
		return then(1), nil
	case first == "today":
		return time.Time{}, fmt.Errorf("%s today is over", t.Format("15:04"))
	}
	return then(day + 7), nil
}

// lasting parses a duration: what time.ParseDuration accepts, and days and weeks.
func lasting(s string) (time.Duration, bool) {
	for unit, hours := range map[string]int{"d": 24, "w": 7 * 24} {
		if n, err := strconv.Atoi(strings.TrimSuffix(s, unit)); err == nil && strings.HasSuffix(s, unit) && n > 0 && n <= 1000 {
			return time.Duration(n*hours) * time.Hour, true
		}
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d > 0
}

// days parses a day into how many days ahead it is: today, tomorrow, or the next one of that name,
// today included.
func days(s string, now time.Time) (n int, ok bool) {
	switch s {
	case "today":
		return 0, true
	case "tomorrow":
		return 1, true
	}
	for n := range 7 {
		name := strings.ToLower(((now.Weekday() + time.Weekday(n)) % 7).String())
		if len(s) >= 3 && strings.HasPrefix(name, s) {
			return n, true
		}
	}
	return 0, false
}

// hours parses 14:00, 9am and 2:30pm.
func hours(s string) (hour, minute int, ok bool) {
	for _, layout := range []string{"15:04", "3pm", "3:04pm"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Hour(), t.Minute(), true
		}
	}
	return 0, 0, false
}
