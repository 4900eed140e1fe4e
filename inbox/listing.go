package inbox

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Listing is the text of `/inbox`: `Messages:`, and for each message an indented line `- from: NAME (received 30s
// ago)`, and below it its number, its nature, its first words, and who took it. Without messages it is `No messages.`.
func Listing(ms []Message, now time.Time) string {
	if len(ms) == 0 {
		return "No messages."
	}
	return ListingTitle + "\n" + ListingLines(ms, now)
}

// ListingTitle is the first line of a Listing.
const ListingTitle = "Messages:"

// ListingLines are the lines below it.
func ListingLines(ms []Message, now time.Time) string {
	lines := make([]string, len(ms))
	for i, m := range ms {
		lines[i] = fmt.Sprintf("  - %s\n    %s", m.came(now), m.gist(now))
	}
	return strings.Join(lines, "\n")
}

// Listed is m on one line of a listing.
func (m Message) Listed(now time.Time) string { return m.came(now) + " · " + m.gist(now) }

// came says who sent m and when.
func (m Message) came(now time.Time) string {
	return fmt.Sprintf("from: %s (received %s ago)", Label(m.From), Age(now.Sub(m.Created)))
}

// gist is m's number, nature, first words and fate.
func (m Message) gist(now time.Time) string {
	s := fmt.Sprintf("#%d · %s", m.ID, m.facts())
	if m.InReplyTo != 0 {
		s += fmt.Sprintf(" · in reply to #%d, thread_id %d", m.InReplyTo, m.Thread)
	}
	if m.Pinned {
		s += " · pinned"
	}
	if m.Muted {
		s += " · muted"
	}
	if words := m.words(beginning); words != "" {
		s += " · " + words
	}
	switch {
	case m.TakenBy == bySnooze:
		s += " · " + m.Fate()
	case !m.Taken.IsZero():
		s += fmt.Sprintf(" · %s %s ago", m.Fate(), Age(now.Sub(m.Taken)))
	}
	return s
}

// Headed is the whole of m, after a line with its number, sender, age, nature and fate.
func (m Message) Headed(now time.Time) string {
	parts := []string{fmt.Sprintf("#%d from %s, %s ago, %s, %s", m.ID, Label(m.From), Age(now.Sub(m.Created)), m.facts(), m.Fate())}
	for _, text := range []string{m.Subject, m.Error, m.Body, m.Partial} {
		if text != "" {
			parts = append(parts, strings.TrimSuffix(text, "\n"))
		}
	}
	return strings.Join(parts, "\n\n")
}

// Nature describes the kind of m in a word or two.
func (m Message) Nature() string {
	s := Label(m.Outcome)
	if s == "" {
		s = string(m.Kind)
	}
	if m.Outside() {
		s = "external " + s
	}
	if m.Priority != Normal && m.Priority != "" {
		s = string(m.Priority) + " " + s
	}
	return s
}

// Labels are m's tags, each in brackets.
func (m Message) Labels() string {
	tags := make([]string, len(m.Tags))
	for i, t := range m.Tags {
		tags[i] = "[" + Label(t) + "]"
	}
	return strings.Join(tags, " ")
}

// facts are m's nature and tags.
func (m Message) facts() string { return strings.TrimSpace(m.Nature() + " " + m.Labels()) }

// Gist is the first words of m on one line: of its subject, else of its text.
func (m Message) Gist() string {
	if s := Line(m.Subject); s != "" {
		return s
	}
	return m.words(Label)
}

// words are the first words of m on one line, cut by shorten, without Markdown's marks.
func (m Message) words(shorten func(s string) string) string {
	for _, s := range []string{m.Body, m.Error, m.Partial} {
		if s = shorten(Unmarked(s)); s != "" {
			return s
		}
	}
	return ""
}

// Line is the first words of a text on one line, without Markdown's marks.
func Line(text string) string { return Label(Unmarked(text)) }

// Fate says in a few words whether m was taken, and by what.
func (m Message) Fate() string {
	switch m.TakenBy {
	case "":
		return "pending"
	case "turn":
		return "entered a turn"
	case "show":
		return "shown to you alone"
	case "next", "fire", "check", "receive":
		return "taken by " + map[string]string{
			"next": "/messages next", "fire": "/fire", "check": "/check", "receive": "/receive",
		}[m.TakenBy]
	case "start":
		return "came with its task"
	case byArchive:
		return "archived"
	case bySnooze:
		return "snoozed until " + Clock(m.Snoozed, m.Taken)
	case ByAnswer:
		return "answered by you"
	case BySettle:
		return "settled without your answer"
	case "tool":
		return "taken by a tool call"
	case "cli", "mcp":
		return "taken from outside (" + m.TakenBy + ")"
	}
	if fork, ok := m.Handler(); ok {
		return "handled by " + fork
	}
	return "taken by " + Label(m.TakenBy)
}

// byFork and a fork's name are the TakenBy of a message that a fork took.
const byFork = "fork "

// ByForkOf is the TakenBy of messages that a fork of that name takes.
func ByForkOf(name string) string { return byFork + name }

// Handler is the fork that took m, as it was called then.
func (m Message) Handler() (fork string, ok bool) {
	fork, ok = strings.CutPrefix(m.TakenBy, byFork)
	return Label(fork), ok
}

// Clock formats t for that day: 14:00, or Mon 14:00 on another day.
func Clock(t, day time.Time) string {
	t, day = t.Local(), day.Local()
	switch days := t.Sub(day) / (24 * time.Hour); {
	case t.YearDay() == day.YearDay() && t.Year() == day.Year():
		return t.Format("15:04")
	case days < 6:
		return t.Format("Mon 15:04")
	}
	return t.Format("2 Jan 15:04")
}

// Age is a short age: 12s, 3m, 2h, 4d. A time in the future is 0s old.
func Age(d time.Duration) string {
	n, unit := d/(24*time.Hour), "d"
	switch {
	case d < time.Minute:
		n, unit = max(d, 0)/time.Second, "s"
	case d < time.Hour:
		n, unit = d/time.Minute, "m"
	case d < 24*time.Hour:
		n, unit = d/time.Hour, "h"
	}
	return strconv.FormatInt(int64(n), 10) + unit
}

// joiners are invisible, but part of words and of emoji.
const joiners = "\u200C\u200D"

// beginning is a label of s that ends with a whole word, and with … if s continues.
func beginning(s string) string {
	l := line(s, maxLabel+1)
	if utf8.RuneCountInString(l) <= maxLabel {
		return l
	}
	rs := []rune(l)[:maxLabel]
	l = string(rs[:maxLabel-1])
	if i := strings.LastIndexByte(string(rs), ' '); i > len(l)/2 {
		l = string(rs)[:i]
	}
	return l + "…"
}

// maxLabel is the longest label, in runes.
const maxLabel = 100

// Label is the first 100 runes of s on one line: control characters and other
// invisible ones count as spaces, and neighbouring spaces as one.
func Label(s string) string { return line(s, maxLabel) }

// line is the first most runes of s on one line.
func line(s string, most int) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range s {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp) && !strings.ContainsRune(joiners, r) {
			space = n > 0
			continue
		}
		if space {
			if n++; n >= most {
				break
			}
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		if n++; n >= most {
			break
		}
	}
	return b.String()
}
