package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/adhocore/gronx"
)

// Wall-clock time is uneven. A time that a day skips (the clock goes from 2:00 to 3:00) is due at once afterwards, and
// one that a day has twice is due the first time only. What is due every hour follows the real hours: it is due in
// both of the hours that look the same, and not in a skipped one.

// fields are the indices of an expression's fields in gronx.
const (
	minute = 1
	hour   = 2
)

// Cron returns the when of a cron expression: five fields, or one of @hourly @daily @weekly @monthly @yearly.
func Cron(expr string) (When, error) {
	expr = strings.Join(strings.Fields(expr), " ")
	if n := len(strings.Fields(expr)); n != 5 && !strings.HasPrefix(expr, "@") {
		return When{}, fmt.Errorf("cron %q has %d fields; it takes five: minute hour day month weekday", expr, n)
	}
	segments, err := gronx.Segments(expr)
	if err != nil || !gronx.IsValid(expr) || len(segments) < 6 || segments[0] != "0" {
		return When{}, fmt.Errorf("cron %q is not understood; an example is 30 9 * * 1-5", expr)
	}
	for i, most := range []int{60, 24, 31, 12, 7} { // a longer step would be none
		for part := range strings.SplitSeq(segments[i+1], ",") {
			if _, step, ok := strings.Cut(part, "/"); ok {
				if n, err := strconv.Atoi(step); err != nil || n > most {
					return When{}, fmt.Errorf("cron %q is not understood: the step of %s is longer than %d", expr, part, most)
				}
			}
		}
	}
	w := When{Text: "cron " + expr, Cron: expr}
	if _, err := tick(expr, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		return When{}, fmt.Errorf("cron %q is never due", expr)
	}
	return w, nil
}

// after returns the first time after t that expr is due in t's zone.
func after(expr string, t time.Time) (time.Time, error) {
	segments, err := gronx.Segments(expr)
	if err != nil {
		return t, fmt.Errorf("cron %q: %w", expr, err)
	}
	hourly := segments[hour] == "*"
	from := wall(t, 0).Truncate(time.Minute).Add(time.Minute)
	for { // one round for each period with a fixed offset of the zone
		begin, end := t.ZoneBounds()
		if !hourly && !begin.IsZero() { // what the stretch before had
			if old := wall(begin, offset(begin.Add(-1))-offset(begin)); from.Before(old) {
				from = old
			}
		}
		w, err := tick(expr, from)
		if err != nil {
			return t, fmt.Errorf("cron %q is never due again", expr)
		}
		at := w.Add(-time.Duration(offset(t)) * time.Second).In(t.Location())
		if end.IsZero() || at.Before(end) {
			return at, nil
		}
		if !hourly && w.Before(wall(end, 0)) {
			return end, nil
		}
		t, from = end, wall(end, 0)
	}
}

// wall returns the UTC time with the wall clock of t plus that many seconds; in UTC all days are equally long.
func wall(t time.Time, more int) time.Time {
	return t.UTC().Add(time.Duration(offset(t)+more) * time.Second)
}

// offset returns the seconds that t's zone is ahead of UTC at t.
func offset(t time.Time) int {
	_, s := t.Zone()
	return s
}

// tick returns the first minute at or after from that expr is due, in UTC.
func tick(expr string, from time.Time) (time.Time, error) {
	t, err := gronx.NextTickAfter(expr, from, true)
	if err == nil && t.Before(from) {
		err = errors.New("it went back")
	}
	return t, err
}

// leastOf returns the shortest time between two minutes of an hour at which expr is due.
func leastOf(expr string) time.Duration {
	segments, err := gronx.Segments(expr)
	if err != nil {
		return 0
	}
	c := &gronx.SegmentChecker{}
	first, last, least := -1, -1, 60
	for m := range 60 {
		c.SetRef(time.Date(2024, 1, 1, 0, m, 0, 0, time.UTC))
		if due, err := c.CheckDue(segments[minute], minute); err != nil || !due {
			continue
		}
		if last >= 0 {
			least = min(least, m-last)
		} else {
			first = m
		}
		last = m
	}
	return time.Duration(min(least, 60+first-last)) * time.Minute
}
