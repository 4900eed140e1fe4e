// Package when says when something is due.
//
// Does: read how people and models say it (30m, 14:00, tomorrow 9:00, every monday 10:00, cron), find the next time
// after another one by the clock on the wall, and the time that a clock which was put back makes of one.
//
// Does not: look at a clock, wait, keep anything.
//
// Imports: nothing of ours.
package when

import (
	"errors"
	"fmt"
	"time"
)

// When says when something is due: once, at an instant or a while after it was made, or again and again. Exactly one
// of Delay, At, Every and Cron is set; none: at once.
type When struct {
	Text  string        // as people read it
	Delay time.Duration // once, so long after it was made
	At    time.Time     // once
	Every time.Duration // again and again
	Cron  string        // again and again: minute, hour, day, month and weekday on the wall
}

// Repeats reports whether it is due more than once.
func (w When) Repeats() bool { return w.Every > 0 || w.Cron != "" }

// Least is the least time between two times that something is due, as long as no clock is set.
func (w When) Least() time.Duration {
	switch {
	case w.Every > 0:
		return w.Every
	case w.Cron != "":
		return leastOf(w.Cron)
	}
	return 0
}

// First returns when it is due that is made now, in now's zone.
func (w When) First(now time.Time) (time.Time, error) {
	switch {
	case w.Every > 0:
		return now.Add(w.Every), nil
	case w.Cron != "":
		return after(w.Cron, now)
	case !w.At.IsZero():
		return w.At.In(now.Location()), nil
	}
	return now.Add(w.Delay), nil
}

// mostCounted is how many missed times are counted one by one.
const mostCounted = 100

// Next returns when it is due after it was due and now, and how many times passed between the two (at most about
// 100 are counted of times on the wall). It is an error of what does not repeat.
func (w When) Next(due, now time.Time) (next time.Time, missed int, err error) {
	switch {
	case w.Every > 0:
		n := max(0, now.Sub(due)/w.Every)
		return due.Add((n + 1) * w.Every), int(n), nil
	case w.Cron == "":
		return time.Time{}, 0, errors.New("it is due only once")
	}
	for t := due.In(now.Location()); missed < mostCounted; missed++ {
		if t, err = after(w.Cron, t); err != nil || t.After(now) {
			return t, missed, err
		}
	}
	next, err = after(w.Cron, now)
	return next, missed, err
}

// Mend returns when it is due by a clock that may have been put back since due was found: never further away than such
// a thing is due after now, and never again what was due already unless the clock went back by more than a period.
func (w When) Mend(due, now time.Time) (time.Time, error) {
	switch {
	case w.Every > 0 && due.Sub(now) > w.Every:
		return now.Add(w.Every), nil
	case w.Delay > 0 && due.Sub(now) > w.Delay:
		return now.Add(w.Delay), nil
	case w.Cron == "":
		return due, nil
	}
	first, err := after(w.Cron, now)
	if err != nil {
		return due, err
	}
	second, err := after(w.Cron, first)
	if err != nil || due.After(second) {
		return first, nil //nolint:nilerr // there is no second time, and there is a first one
	}
	return due, nil
}

// Check refuses what is never due, is over, or is due more often than once in least.
func (w When) Check(now time.Time, least time.Duration) error {
	if w.Delay < 0 || w.Every < 0 {
		return errors.New("a time ago can't be scheduled")
	}
	first, err := w.First(now)
	switch {
	case err != nil:
		return err
	case !w.At.IsZero() && !first.After(now):
		return fmt.Errorf("%s is over: it is %s now", first.Format(stamp), now.Format(stamp))
	case first.Sub(now) > farthest:
		return errors.New("that is more than ten years away")
	case w.Repeats() && w.Least() < least:
		return fmt.Errorf("it would repeat after %s; %s is the least", short(w.Least()), short(least))
	}
	return nil
}

const (
	stamp    = "2006-01-02 15:04"
	farthest = 10 * 366 * 24 * time.Hour
)

// short writes a duration without what is zero at its end.
func short(d time.Duration) string {
	switch {
	case d > 0 && d%(24*time.Hour) == 0:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d > 0 && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d > 0 && d%time.Minute == 0 && d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d > 0 && d%time.Minute == 0:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return d.String()
}
