package format

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/ui/cells"
)

// grouped formats a number with commas: 12,345.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count formats a number of things: 1 message, 3 messages.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Hashes formats the numbers of messages: #4 #7.
func Hashes(ids []int64) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = "#" + strconv.FormatInt(id, 10)
	}
	return strings.Join(words, " ")
}

// MaxListed limits the names listed in one line.
const MaxListed = 5

// Some lists the first few of the names and counts the others.
func Some(names []string) string {
	if n := len(names); n > MaxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:MaxListed], ", "), n-MaxListed)
	}
	return strings.Join(names, ", ")
}

// Fenced returns text as a Markdown code block, with a fence that no line of it can close.
func Fenced(lang, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + lang + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// Age formats how long ago something was, for lists.
func Age(d time.Duration) string { return inbox.Age(max(d, 0)) }

// Amount formats a number of tokens in few cells: 950, 12k.
func Amount(n int) string {
	if n >= 1000 {
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

// Clock formats a running time: 0:42, 12:05, 1:02:03.
func Clock(d time.Duration) string {
	s := int(max(d, 0).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Countdown formats the time left until something: 4:12. It is 0:00 only at the end.
func Countdown(left time.Duration) string { return Clock(left + time.Second - 1) }

// Silence formats the time since an agent's last sign of life: 95s, 12m.
func Silence(d time.Duration) string {
	if d < exact {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return Age(d)
}

// exact is how long times that many agents show at once are shown in seconds, because every change
// wakes the screen.
const exact = 2 * time.Minute

// Ran formats how long an agent has worked, where many are shown: 0:42, then 2m.
func Ran(d time.Duration) string {
	if d < exact {
		return Clock(d)
	}
	return Age(d)
}

// stands returns how long a time in such a format stays the same.
func stands(d time.Duration) time.Duration {
	unit := time.Second
	switch {
	case d >= time.Hour:
		unit = time.Hour
	case d >= exact:
		unit = time.Minute
	}
	return unit - max(d, 0)%unit
}

// Sentence formats an error for people: it begins with a capital letter, and errors that any agent
// may return say what to do instead.
func Sentence(err error) string {
	switch {
	case errors.Is(err, fleet.ErrStopped):
		return "Stopped."
	case errors.Is(err, tasks.ErrNoPrompt):
		return "This agent has no prompt box. Press m in its tab, or type /tell."
	}
	s := cells.Clean(err.Error())
	if errors.Is(err, event.ErrReadOnly) { // the human sees what could not be written
		if i := strings.Index(s, event.ErrReadOnly.Error()); i > 0 {
			s = s[i:]
		}
	}
	r, n := utf8.DecodeRuneInString(s)
	word := s
	if i := strings.IndexAny(s, " \t\n"); i >= 0 {
		word = s[:i]
	}
	if n > 0 && !strings.HasPrefix(s, "http") && !strings.Contains(word, "=") { // an option keeps its case
		s = string(unicode.ToUpper(r)) + s[n:]
	}
	return s
}

// Lasted formats a duration: 12s, 3m05s, 2h10m.
func Lasted(d time.Duration) string {
	switch s := int(max(d, 0).Round(time.Second).Seconds()); {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	default:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
}

// ParseUntil parses `until 14:00` and `for 2h`, both also without their first word, as a future
// time. Without words it returns the zero time.
func ParseUntil(args []string, now time.Time) (time.Time, error) {
	switch {
	case len(args) == 0:
		return time.Time{}, nil
	case len(args) == 1 && (args[0] == "until" || args[0] == "for"):
		return time.Time{}, errors.New("until when? Type until 14:00 or for 2h")
	}
	return ParseWhen(strings.Join(args, " "), now)
}
