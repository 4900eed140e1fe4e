package schedule

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// errForm names the forms of a when.
var errForm = errors.New("say when: 30m, 14:00, tomorrow 9:00, monday 10:00, at 2026-12-24 18:00, every 30m, every day 9:00, " +
	"every monday 10:00 or cron 30 9 * * 1-5")

// ParseWhen reads the when at the beginning of text, relative to now, and returns the rest of the text.
func ParseWhen(text string, now time.Time) (w When, rest string, err error) {
	r := reader{rest: text, now: now}
	switch strings.ToLower(r.peek()) {
	case "every":
		r.word()
		w, err = r.every()
	case "cron":
		r.word()
		w, err = r.cron()
	case "in":
		r.word()
		d, ok := r.duration()
		if !ok {
			return w, text, fmt.Errorf("%q is no duration, such as 30m or 2 hours", r.peek())
		}
		w = After(d)
	default:
		if r.plural() {
			w, err = r.every()
		} else {
			w, err = r.once()
		}
	}
	if err == nil {
		err = r.goesOn(w)
	}
	return w, strings.TrimSpace(r.rest), err
}

// cron reads what follows `cron`: an expression in quotes, or its five fields.
func (r *reader) cron() (When, error) {
	r.rest = strings.TrimSpace(r.rest)
	if strings.HasPrefix(r.rest, "@") {
		return Cron(strings.Trim(r.word(), `"'`))
	}
	for _, q := range []string{`"`, "'"} {
		if in, ok := strings.CutPrefix(r.rest, q); ok {
			var expr string
			expr, r.rest, _ = strings.Cut(in, q)
			return Cron(strings.TrimSpace(expr))
		}
	}
	var fields []string
	for range 5 {
		fields = append(fields, r.word())
	}
	expr := strings.TrimSpace(strings.Join(fields, " "))
	if next := r.peek(); cronField.MatchString(next) {
		return When{}, fmt.Errorf("cron %s %s has more than five fields: leave out the seconds in front, or the year at the end. "+
			"A text that begins with %s follows an expression in quotes: cron \"0 9 * * *\" %s", expr, next, next, next)
	}
	return Cron(expr)
}

// cronField matches a field of a cron expression that a text may follow.
var cronField = regexp.MustCompile(`(?i)^(` + cronRange + `(,` + cronRange + `)*|\d*[LW]|\d#\d)$`)

const (
	cronRange = `(\*|\?|` + cronValue + `(-` + cronValue + `)?)(/\d+)?`
	cronValue = `(\d+|sun|mon|tue|wed|thu|fri|sat)`
)

// plural reports whether the next word names repeated days: mondays, weekdays, daily. It replaces the word by its
// singular.
func (r *reader) plural() bool {
	word, rest, _ := cut(r.rest)
	name, many := strings.CutSuffix(strings.ToLower(strings.TrimRight(word, ",;")), "s")
	_, day := weekday(name)
	switch {
	case many && (name == "weekday" || name == "workday" || name == "weekend" || name == "day" || day && len(name) > 3):
	case strings.EqualFold(word, "daily"):
		name = "day"
	default:
		return false
	}
	r.rest = name + rest
	return true
}

// goesOn refuses words after a when that would belong to it, but would be taken for the text.
func (r *reader) goesOn(w When) error {
	next := strings.ToLower(strings.TrimRight(r.peek(), ",;"))
	_, day := weekday(next)
	behind := reader{rest: r.rest, now: r.now}
	_, more := together(next)
	and := behind.take("and")
	_, _, clock := behind.clock()
	_, length := behind.duration()
	switch {
	case and && (clock || length):
		return fmt.Errorf("%s is followed by %q: a schedule has one time, or a cron expression such as cron 0 9,17 * * *", w.Text, strings.TrimSpace(r.rest))
	case more:
		return fmt.Errorf("%s is followed by %q: write a duration as one word, such as 1h30m", w.Text, next)
	case !w.At.IsZero() && (next == "today" || next == "tomorrow" || next == "daily" || day && len(next) > 3):
		return fmt.Errorf("%s is followed by %q: write the day before the time, such as tomorrow 9:00 or every monday 9:00. If that word begins the text, put the text in quotes", w.Text, next)
	}
	return nil
}

// After returns a When that is due once, that long after it is made.
func After(d time.Duration) When { return When{Text: "in " + short(d), Delay: d} }

// Interval returns a When that repeats at that interval.
func Interval(d time.Duration) When { return When{Text: "every " + short(d), Every: d} }

// At returns a When that is due once, at that time.
func At(t time.Time) When { return When{Text: "at " + t.Format("Mon "+stamp), At: t} }

// reader reads words from the beginning of a text.
type reader struct {
	rest string
	now  time.Time
}

// peek returns the next word, without punctuation at its end; word consumes it.
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
	r.plural()
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
	if next := strings.ToLower(strings.TrimRight(r.peek(), ",;")); next == "am" || next == "pm" {
		if both := word + next; isClock(both) {
			r.word()
			word = both
		}
	}
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

// isClock reports whether a word is a time with am or pm.
func isClock(word string) bool {
	_, long := time.Parse("3:04pm", word)
	_, short := time.Parse("3pm", word)
	return long == nil || short == nil
}

// weekday returns the day that a word names by at least its first three letters.
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
