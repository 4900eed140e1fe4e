package transcript

import (
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fantail/inbox"
	"fantail/themes"
)

// Messages that entered are known by their numbers: a number in an answer is drawn as a link, and opens its message,
// as a card does.

// ago returns the age of an entry. It changes at most once a minute, so that an idle screen seldom wakes.
func ago(t, now time.Time) string {
	if d := now.Sub(t); d >= time.Minute {
		return inbox.Age(d) + " ago"
	}
	return "just now"
}

// older returns how long the result of ago stays the same.
func older(t, now time.Time) time.Duration {
	d := max(now.Sub(t), 0)
	unit := 24 * time.Hour
	switch {
	case d < time.Hour:
		unit = time.Minute
	case d < 24*time.Hour:
		unit = time.Hour
	}
	return unit - d%unit
}

// Ages returns how long the shown ages stay true; 0: none shows.
func (v *View) Ages() time.Duration { return v.ages }

// age returns the age that block b shows, "" if it shows none.
func age(b *block, now time.Time) string {
	if b.kind != message || b.listed() {
		return ""
	}
	return ago(b.mail.Created, now)
}

// aged notes until when the age that a visible block shows is true.
func (v *View) aged(b *block) {
	now, d := v.now(), time.Duration(0)
	switch {
	case b.hidden || b.listed():
		return
	case b.kind == message:
		d = older(b.mail.Created, now)
	case v.calm && b.spins(): // its clock goes on
		d = time.Second
	case b.kind == waits:
		if d = older(v.info.Started, now); v.info.Retry != nil || now.Sub(v.info.Started) < time.Minute {
			d = time.Second
		}
	default:
		return
	}
	if v.ages == 0 || d < v.ages {
		v.ages = d
	}
}

// Opens returns the messages that the selected block is or names, in its order.
func (v *View) Opens() (ids []int64) {
	if v.selected < 0 || v.selected >= len(v.blocks) {
		return nil
	}
	switch b := v.blocks[v.selected]; b.kind {
	case message:
		return []int64{b.mail.ID}
	case answer:
		text := b.group.source()
		seen := map[int64]bool{}
		numbers(text, func(_, _ int, id int64) {
			if v.letters[id] && !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		})
	}
	return ids
}

// Unfolds unfolds the selected block if Enter does that to it, and reports whether it did.
func (v *View) Unfolds() bool {
	if v.selected < 0 || v.selected >= len(v.blocks) || v.blocks[v.selected].kind != memory {
		return false
	}
	v.unfold()
	return true
}

// Click handles a click on a cell of the last Lines. It returns the message to open (0: none), or unfolds a document.
// ok is false if the click means nothing.
func (v *View) Click(x, y int) (id int64, ok bool) {
	if y < 0 || y >= len(v.places) {
		return 0, false
	}
	at := v.places[y]
	if at.i >= v.count() || at.line < 0 {
		return 0, false
	}
	b, ls := v.at(at.i), v.lines(at.i)
	if at.line >= len(ls) {
		return 0, false
	}
	line := ansi.Strip(ls[at.line])
	numbers(line, func(from, to int, n int64) {
		if cell := ansi.StringWidth(line[:from]); v.letters[n] && x >= cell && x < cell+to-from {
			id = n
		}
	})
	switch {
	case id != 0:
		return id, true
	case b.kind == message && (at.line == 0 || b.listed()):
		return b.mail.ID, true
	case b.kind == memory && at.line == 0:
		b.group.open = !b.group.open
		return 0, true
	}
	return 0, false
}

// numbers calls f with each #12 of a text: where it begins and ends, and the number.
func numbers(text string, f func(from, to int, id int64)) {
	for i := 0; i < len(text); {
		at := strings.IndexByte(text[i:], '#')
		if at < 0 {
			return
		}
		from := i + at
		to := from + 1
		for to < len(text) && text[to] >= '0' && text[to] <= '9' {
			to++
		}
		i = to
		if from > 0 && wordly(text[from-1]) || to < len(text) && wordly(text[to]) {
			continue
		}
		if id, err := strconv.ParseInt(text[from+1:to], 10, 64); err == nil {
			f(from, to, id)
		}
	}
}

func wordly(c byte) bool {
	return c == '_' || c == '#' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// cited draws the numbers of known messages in a line as links; the text around them stays in its style.
func (c canvas) cited(line string) string {
	if len(c.letters) == 0 || strings.IndexByte(line, '#') < 0 {
		return line
	}
	var out strings.Builder
	style := "" // the style in force here
	for len(line) > 0 {
		if line[0] == 0x1b {
			end := strings.IndexByte(line, 'm') + 1
			if end == 0 {
				break
			}
			if seq := line[:end]; seq == "\x1b[m" || seq == "\x1b[0m" {
				style = ""
			} else {
				style += seq
			}
			out.WriteString(line[:end])
			line = line[end:]
			continue
		}
		run := line
		if i := strings.IndexByte(line, 0x1b); i >= 0 {
			run = line[:i]
		}
		line = line[len(run):]
		done := 0
		numbers(run, func(from, to int, id int64) {
			if c.letters[id] {
				out.WriteString(run[done:from] + c.theme.Paint(themes.Link, run[from:to]) + style)
				done = to
			}
		})
		out.WriteString(run[done:])
	}
	out.WriteString(line)
	return out.String()
}
