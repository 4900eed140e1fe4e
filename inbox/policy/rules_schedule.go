package policy

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"fantail/inbox"
)

// days are the words for days of the week.
var days = map[string][]time.Weekday{
	"weekdays": {time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday},
	"weekends": {time.Saturday, time.Sunday},
	"daily":    {time.Sunday, time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday},
	"monday":   {time.Monday}, "tuesday": {time.Tuesday}, "wednesday": {time.Wednesday}, "thursday": {time.Thursday},
	"friday": {time.Friday}, "saturday": {time.Saturday}, "sunday": {time.Sunday},
}

// schedule reads days of the week with a mode, or with ranges of hours and their modes. A single day takes precedence
// over weekdays and weekends, and those over daily.
func schedule(n ast.Node) ([]Period, error) {
	var ranked [3][]Period
	err := each(n, func(key string, k, v ast.Node) error {
		on, ok := days[strings.ToLower(key)]
		if !ok {
			return fault(k, "unknown days %q: weekdays, weekends, daily or a day such as monday", inbox.Label(key))
		}
		p := Period{Name: key}
		for _, d := range on {
			p.Days[d] = true
		}
		rank := map[int]int{1: 0, 7: 2}[len(on)]
		if len(on) == 2 || len(on) == 5 {
			rank = 1
		}
		if _, ok := scalar(v); ok {
			var err error
			if p.Mode, err = mode(v); err != nil {
				return err
			}
			ranked[rank] = append(ranked[rank], p)
			return nil
		}
		return each(v, func(hours string, k, v ast.Node) (err error) {
			p := p
			p.Name += " " + hours
			if p.From, p.To, ok = span(hours); !ok {
				return fault(k, "%q is no range of hours: it is written 9am-5pm or 09:00-17:30, and may cross midnight", inbox.Label(hours))
			}
			p.Mode, err = mode(v)
			ranked[rank] = append(ranked[rank], p)
			return err
		})
	})
	return append(append(ranked[0], ranked[1]...), ranked[2]...), err
}

var hours = regexp.MustCompile(`^\s*(\d{1,2})(?::(\d\d))?\s*(am|pm|AM|PM)?\s*[-–]\s*(\d{1,2})(?::(\d\d))?\s*(am|pm|AM|PM)?\s*$`)

// span reads a range of hours as minutes since midnight.
func span(s string) (from, to int, ok bool) {
	m := hours.FindStringSubmatch(s)
	if m == nil {
		return 0, 0, false
	}
	from, ok = minute(m[1], m[2], strings.ToLower(m[3]))
	to, ok2 := minute(m[4], m[5], strings.ToLower(m[6]))
	return from, to % (24 * 60), ok && ok2 && from < 24*60 && (from != to)
}

func minute(hour, minute, half string) (int, bool) {
	h, _ := strconv.Atoi(hour)
	m, _ := strconv.Atoi("0" + minute)
	switch {
	case half != "" && (h < 1 || h > 12), h > 24, m > 59, h == 24 && m > 0:
		return 0, false
	case half == "am":
		h %= 12
	case half == "pm":
		h = h%12 + 12
	}
	return h*60 + m, true
}
