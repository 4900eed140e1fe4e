package when

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// errForm names the forms of a when.
var errForm = errors.New("say when: 30m, 14:00, tomorrow 9:00, monday 10:00, at 2026-12-24 18:00, every 30m, every day 9:00, " +
	"every monday 10:00 or cron 30 9 * * 1-5")

// Parse reads the when that text begins with, as said now, and returns what follows it.
func Parse(text string, now time.Time) (w When, rest string, err error) {
	r := reader{rest: text, now: now}
	switch strings.ToLower(r.peek()) {
	case "every":
		r.word()
		w, err = r.every()
	case "cron":
		r.word()
		n := 5
		if strings.HasPrefix(r.peek(), "@") {
			n = 1
		}
		var fields []string
		for range n {
			fields = append(fields, strings.Trim(r.word(), `"'`))
		}
		w, err = Cron(strings.TrimSpace(strings.Join(fields, " ")))
	case "in":
		r.word()
		d, ok := r.duration()
		if !ok {
			return w, text, fmt.Errorf("%q is no duration, such as 30m or 2 hours", r.peek())
		}
		w = After(d)
	default:
		w, err = r.once()
	}
	return w, strings.TrimSpace(r.rest), err
}

// After is once, a while after it is made.
func After(d time.Duration) When { return When{Text: "in " + short(d), Delay: d} }

// Interval is again and again.
func Interval(d time.Duration) When { return When{Text: "every " + short(d), Every: d} }

// At is once, at an instant.
func At(t time.Time) When { return When{Text: "at " + t.Format("Mon "+stamp), At: t} }

// reader reads words from the beginning of a text.
type reader struct {
	rest string
	now  time.Time
}

// peek returns the next word, without what ends it; word takes it.
func (r *reader) peek() string {
	word, _, _ := cut(r.rest)
	return word
}

func (r *reader) word() string {
	word, rest, _ := cut(r.rest)
	r.rest = rest
	return word
}

func cut(s string) (word, rest string, found bool) {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, " \t\n"); i >= 0 {
		return s[:i], s[i:], true
	}
	return s, "", s != ""
}

// take takes the next word if it is that one.
func (r *reader) take(word string) bool {
	if strings.EqualFold(r.peek(), word) {
		r.word()
		return true
	}
	return false
}

// every reads what follows `every`.
func (r *reader) every() (When, error) {
	if d, ok := r.duration(); ok {
		return Interval(d), nil
	}
	name := strings.ToLower(r.peek())
	days := ""
	switch day, is := weekday(name); {
	case is:
		days = strconv.Itoa(int(day))
	case name == "day":
		days = "*"
	case name == "weekday" || name == "workday":
		days = "1-5"
	case name == "weekend":
		days = "0,6"
	case name == "hour":
		r.word()
		return Interval(time.Hour), nil
	default:
		return When{}, fmt.Errorf("every %s: %w", name, errForm)
	}
	r.word()
	h, m, ok := r.clock()
	if !ok {
		return When{}, fmt.Errorf("every %s: at what time? For example every %s 9:00", name, name)
	}
	return When{Text: fmt.Sprintf("every %s %d:%02d", name, h, m), Cron: fmt.Sprintf("%d %d * * %s", m, h, days)}, nil
}

// once reads a when without `every` or `in`.
func (r *reader) once() (When, error) {
	r.take("at")
	if t, err := time.Parse(time.RFC3339, r.peek()); err == nil {
		r.word()
		return At(t.In(r.now.Location())), nil
	}
	if d, ok := r.duration(); ok {
		return After(d), nil
	}
	day, said := r.now, true
	switch name := strings.ToLower(r.peek()); {
	case name == "today":
	case name == "tomorrow":
		day = r.now.AddDate(0, 0, 1)
	default:
		if wd, is := weekday(name); is {
			day = r.now.AddDate(0, 0, (int(wd)-int(r.now.Weekday())+7)%7)
		} else if d, err := time.ParseInLocation(time.DateOnly, name, r.now.Location()); err == nil {
			day = d
		} else {
			said = false
		}
	}
	name := r.peek()
	if said {
		r.word()
	}
	h, m, ok := r.clock()
	if !ok {
		if said {
			return When{}, fmt.Errorf("%s: at what time? For example %s 9:00", name, name)
		}
		return When{}, errForm
	}
	at := date(day, h, m)
	if !at.After(r.now) {
		if _, is := weekday(name); is {
			at = date(day.AddDate(0, 0, 7), h, m)
		} else if !said {
			at = date(day.AddDate(0, 0, 1), h, m)
		}
	}
	return At(at), nil
}

func date(day time.Time, h, m int) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), h, m, 0, 0, day.Location())
}

// clock reads a time of the day: 14:00, 9am, noon.
func (r *reader) clock() (h, m int, ok bool) {
	before := r.rest
	r.take("at")
	word := strings.ToLower(strings.TrimRight(r.word(), ",;"))
	switch word {
	case "noon":
		return 12, 0, true
	case "midnight":
		return 0, 0, true
	}
	for _, form := range []string{"15:04", "3:04pm", "3pm"} {
		if t, err := time.Parse(form, word); err == nil {
			return t.Hour(), t.Minute(), true
		}
	}
	r.rest = before
	return 0, 0, false
}

// weekday returns the day that a word names, at least by its first three letters.
func weekday(word string) (time.Weekday, bool) {
	word = strings.TrimRight(word, ",;")
	for d := time.Sunday; d <= time.Saturday; d++ {
		if name := strings.ToLower(d.String()); len(word) >= 3 && (strings.HasPrefix(name, word) || word == name+"s") {
			return d, true
		}
	}
	return 0, false
}

// units are the words for a duration's unit.
var units = map[string]time.Duration{
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": day, "day": day, "days": day, "w": 7 * day, "week": 7 * day, "weeks": 7 * day,
}

const day = 24 * time.Hour

// duration reads a positive duration: 30m, 1h30m, 2d, 30 minutes, an hour.
func (r *reader) duration() (time.Duration, bool) {
	before := r.rest
	word := strings.ToLower(strings.TrimRight(r.word(), ",;:"))
	if d, ok := together(word); ok {
		return d, true
	}
	n, err := strconv.Atoi(word)
	if word == "a" || word == "an" {
		n, err = 1, nil
	}
	if unit, ok := units[strings.ToLower(strings.TrimRight(r.peek(), ",;:"))]; ok && err == nil && n > 0 && n < 100_000 {
		r.word()
		return time.Duration(n) * unit, true
	}
	r.rest = before
	return 0, false
}

// together reads a duration in one word, such as 1h30m.
func together(word string) (d time.Duration, ok bool) {
	for word != "" {
		digits := 0
		for digits < len(word) && word[digits] >= '0' && word[digits] <= '9' {
			digits++
		}
		letters := digits
		for letters < len(word) && (word[letters] < '0' || word[letters] > '9') {
			letters++
		}
		n, err := strconv.Atoi(word[:digits])
		unit, known := units[word[digits:letters]]
		if err != nil || !known || n >= 100_000_000 || d > farthest {
			return 0, false
		}
		d += time.Duration(n) * unit
		word = word[letters:]
	}
	return d, d > 0
}
