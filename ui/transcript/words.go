package transcript

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"charm.land/bubbles/v2/spinner"
)

// maxShown bounds how much of one line is examined while it is folded.
const maxShown = 2000

// excerpt is how many lines of a text show while it is folded: its first and its last ones.
type excerpt struct{ head, tail int }

// lines are what shows of a text; more says what does not.
type lines struct {
	head, tail []string
	more       string
}

// of cuts text; it examines only the lines that show.
func (e excerpt) of(text string, folded bool) lines {
	n := strings.Count(text, "\n") + 1
	if !folded {
		return lines{head: strings.Split(text, "\n")}
	}
	if n <= e.head+e.tail+1 { // a line about one line saves nothing
		ls := strings.Split(text, "\n")
		cut := 0
		for i, l := range ls {
			if len(l) > maxShown {
				cut += len(l) - maxShown
				ls[i] = clip(l)
			}
		}
		if cut > 0 {
			return lines{head: ls, more: "… " + thousands(cut) + " bytes more · ctrl+o"}
		}
		return lines{head: ls}
	}
	out := lines{tail: lastLines(text, e.tail), more: more(n - e.head - e.tail)}
	rest := text
	for range e.head {
		var l string
		l, rest, _ = strings.Cut(rest, "\n")
		out.head = append(out.head, clip(l))
	}
	for i, l := range out.tail {
		out.tail[i] = clip(l)
	}
	return out
}

func more(n int) string { return "… " + plural(n, "more line") + " · ctrl+o" }

// lastLines returns the last n lines of text.
func lastLines(text string, n int) []string {
	if n == 0 {
		return nil
	}
	end := len(text)
	for range n {
		i := strings.LastIndexByte(text[:end], '\n')
		if i < 0 {
			return strings.Split(text, "\n")
		}
		end = i
	}
	return strings.Split(text[end+1:], "\n")
}

// clip bounds one line.
func clip(s string) string { return clipTo(s, maxShown) }

func clipTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

func lineCount(n int) string { return plural(n, "line") }

// thousands is n with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// lasted returns a duration for people: 0.3s, 12s, 3m05s, 2h10m.
func lasted(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 1, 64), ".0") + "s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// When returns a time of day, with the day if it is not today's.
func When(t, now time.Time) string {
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("2 Jan 15:04")
}

// spin returns the frame of the one animation at a time.
func (c canvas) spin() string {
	if c.calm {
		return "●"
	}
	s := spinner.MiniDot
	return s.Frames[c.now.UnixMilli()/spinGap.Milliseconds()%int64(len(s.Frames))]
}

// spinGap is how long a frame shows: the interface redraws ten times a second.
const spinGap = 100 * time.Millisecond
