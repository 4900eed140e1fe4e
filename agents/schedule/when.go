package schedule

import (
	"errors"
	"fmt"
	"time"
)

// When is when something is due: once, at a time or some time after it was made, or repeatedly. Exactly one of Delay,
// At, Every and Cron is set; none: at once.
type When struct {
	Text  string        // as people read it
	Delay time.Duration // once, that long after it was made
	At    time.Time     // once
	Every time.Duration // repeatedly
	Cron  string        // repeatedly: minute, hour, day, month and weekday of the wall clock
}

// Repeats reports whether it is due more than once.
func (w When) Repeats() bool { return w.Every > 0 || w.Cron != "" }

// Least returns the shortest time between two due times, unless the clock is changed.
func (w When) Least() time.Duration {
	switch {
	case w.Every > 0:
		return w.Every
	case w.Cron != "":
		return leastOf(w.Cron)
	}
	return 0
}

// First returns the first due time of a schedule made now, in now's zone.
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

// maxCounted is how many missed times are counted one by one.
const maxCounted = 100

// Next returns the first due time after due and now, and how many due times were missed between the two (of a cron
// expression it counts at most about 100). It returns an error if w does not repeat.
func (w When) Next(due, now time.Time) (next time.Time, missed int, err error) {
	switch {
	case w.Every > 0:
		n := max(0, now.Sub(due)/w.Every)
		return due.Add((n + 1) * w.Every), int(n), nil
	case w.Cron == "":
		return time.Time{}, 0, errors.New("it is due only once")
	}
	for t := due.In(now.Location()); missed < maxCounted; missed++ {
		if t, err = after(w.Cron, t); err != nil || t.After(now) {
			return t, missed, err
		}
	}
	next, err = after(w.Cron, now)
	return next, missed, err
}

// Mend returns the due time after the clock may have been put back since due was found: never further after now than a
// new schedule's, and never a time that was due already, unless the clock went back by more than a period.
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

// Check refuses a when that is never due, is over, or is due more often than once in least.
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

// short formats a duration without zero parts at its end.
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
