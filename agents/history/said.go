package history

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"fantail/agents/llm"
	"fantail/inbox"
)

// TailBytes is how much of a command's output ends the partial output of a crashed task.
const TailBytes = 4 << 10

// Said returns the agent's last words in those entries: [FinalText], or for a plain command its result. If the last
// call was cut, it appends the end of the call's output.
func Said(es []Entry) string {
	text := FinalText(es)
	if n := len(es); n > 0 && es[n-1].Kind == EntryEnded {
		es = es[:n-1]
	}
	if len(es) == 0 || es[len(es)-1].Kind != EntryResult {
		return text
	}
	r := *es[len(es)-1].Result
	switch {
	case es[0].Kind == EntryCall && es[0].Call.ID == CommandCall:
		return ran(r)
	case r.Exit != nil && *r.Exit < 0: // it was killed
		return WithTail(text, lastBytes(r.Text))
	}
	return text
}

// GistEntries is how many of an agent's last entries are searched for its result.
const GistEntries = 20

// GistOf returns the first meaningful line of a result without Markdown's marks, for lists.
func GistOf(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.Trim(line, "`~#*-=_ ") != "" {
			return llm.Clip(inbox.Unmarked(line), 200)
		}
	}
	return ""
}

// WithTail appends the end of a command's output to a text.
func WithTail(text, tail string) string {
	if tail == "" {
		return text
	}
	return strings.TrimSpace(text + "\n\nThe output of the command that ran then ended with:\n\n" + fenced(tail))
}

// fenced returns output as a markdown block with its line breaks.
func fenced(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "\n" + s + "\n" + fence
}

// lastBytes returns the end of a text, beginning at a line if it was cut.
func lastBytes(s string) string {
	if len(s) > TailBytes {
		s = s[len(s)-TailBytes:]
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			s = s[i+1:]
		}
		s = strings.ToValidUTF8(s, "")
	}
	return strings.TrimRight(s, "\n")
}

// FinalText joins the texts after the last call or prompt; if there are none, those of the last reply that has any.
func FinalText(es []Entry) string {
	var f Final
	for _, e := range es {
		f.Add(e)
	}
	return f.Text()
}

// Final follows a transcript to its [FinalText]. The zero Final is ready to use.
type Final struct{ last, run []string }

// Add takes the next entry.
func (f *Final) Add(e Entry) {
	switch e.Kind {
	case EntryText:
		f.run = append(f.run, strings.TrimSpace(e.Text))
		f.last = f.run
	case EntryPrompt, EntryMessage, EntryResult, EntryBriefed, EntryHost:
		f.run = nil
	}
}

// Text returns the final text so far.
func (f *Final) Text() string { return strings.Join(f.last, "\n\n") }

// CommandCall is the id of the one call in a plain command's turn.
const CommandCall = "command"

// Exit describes how a command ended.
func Exit(code int) string {
	if code < 0 {
		return "ended by a signal"
	}
	return fmt.Sprintf("exit %d", code)
}

// lastLines is how many lines of a command's output its message carries.
const lastLines = 20

// ran returns the text of a command's message: exit code, duration and the end of its output.
func ran(r Result) string {
	took := (time.Duration(r.Millis) * time.Millisecond).Round(100 * time.Millisecond)
	s := fmt.Sprintf("took %s", took)
	out := strings.TrimRight(r.Text, "\n")
	if r.Exit != nil {
		s = Exit(*r.Exit) + ", " + s
		out = strings.TrimRight(strings.TrimSuffix(out, fmt.Sprintf("[exit code %d]", *r.Exit)), "\n")
	}
	if lines := strings.Split(out, "\n"); len(lines) > lastLines {
		s += fmt.Sprintf("; its last %d lines are:", lastLines)
		out = strings.Join(lines[len(lines)-lastLines:], "\n")
	}
	if out == "" {
		return s
	}
	return s + "\n\n" + fenced(out)
}

// MaxSubject is how many bytes of its task's prompt, and of an error, a message shows.
const MaxSubject = 16 << 10

// Fit cuts a text of more than `most` bytes in the middle; the transcript keeps all of it.
func Fit(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, tail := most/2-100, len(s)-most/2+100
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n… %d bytes are left out; the agent's tab shows all …\n%s", s[:head], tail-head, s[tail:])
}
