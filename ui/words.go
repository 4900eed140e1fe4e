package ui

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"fantail/agents"
	"fantail/tools/permit"
	"fantail/ui/dialog"
	"fantail/ui/frame"
)

// sentence is an error as people read it: it begins with a capital and names
// the next step where there is one.
func sentence(err error) string {
	switch {
	case errors.Is(err, agents.ErrStopped):
		return "Stopped."
	case errors.Is(err, agents.ErrNoPrompt):
		return "This agent takes no prompts: m writes to it."
	}
	s := frame.Clean(err.Error())
	r, n := utf8.DecodeRuneInString(s)
	word, _ := firstWord(s)
	if n > 0 && !strings.HasPrefix(s, "http") && !strings.Contains(word, "=") { // an option keeps its spelling
		s = string(unicode.ToUpper(r)) + s[n:]
	}
	return s
}

// doing is what a running agent does, in a few words.
func doing(i agents.Info) string {
	switch {
	case i.Doing == "streaming":
		return "with the model"
	case i.Doing == "":
		return "working"
	case i.Call != "":
		return i.Call
	}
	return strings.Replace(i.Doing, "tool ", "runs ", 1)
}

// whyText says what an agent does or waits for, and what to do about it.
func whyText(n agents.Now, now time.Time) string {
	i := n.Info
	ls := []string{i.Name + " is " + string(i.State)}
	add := func(format string, args ...any) { ls = append(ls, "  "+fmt.Sprintf(format, args...)) }
	ago := func(t time.Time) string { return lasted(now.Sub(t)) }
	if i.Handles != 0 {
		add("%s, from %s", strings.ToLower(handles(i)), i.Sender)
	}
	if n.Queued != "" {
		add("it has not started: %s", n.Queued)
	}
	if i.Retry != nil {
		add("the request failed: %s", i.Retry.Reason)
		add("try %d of %d in %s", i.Retry.Attempt, i.Retry.Of, lasted(i.Retry.At.Sub(now)))
	} else if !n.Asked.IsZero() {
		add("a request to %s was sent %s ago", i.Model, ago(n.Asked))
	}
	for _, c := range n.Calls {
		add("%s · for %s", c.Title, ago(c.Since))
	}
	if q := i.Question; q != nil {
		add("it asks: %s", q.Gist())
		add("answer in its tab (/agent %s goes there), or here: /answer %s", i.Name, i.Name)
	}
	switch {
	case i.Why == "" || i.State == agents.Running:
	case i.State == agents.Waiting:
		add("%s", i.Why)
	default:
		add("because: %s", i.Why)
	}
	if i.State == agents.Running && !i.Active.IsZero() {
		add("its last sign of life was %s ago", ago(i.Active))
	}
	if quiet, ok := i.Stalled(i.Active, now); ok {
		add("stalled for %s: /kill %s ends it now; /wrapup %s has it finish once this step ends", silence(quiet), i.Name, i.Name)
	}
	if i.State.Terminal() && !i.Ended.IsZero() {
		add("it ended %s ago (%s)", ago(i.Ended), i.Outcome)
	}
	if i.State == agents.Idle {
		add("it has nothing to do; a prompt, or a message that wakes it, starts a turn")
	}
	return strings.Join(ls, "\n")
}

// lasted is a duration for people: 12s, 3m05s, 2h10m.
func lasted(d time.Duration) string {
	switch s := int(max(d, 0).Round(time.Second).Seconds()); {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	default:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
}

// keys are what the keyboard does, for the help.
var keys = [...][2]string{
	{"Enter", "send; while the agent is busy the prompt enters at its next step"},
	{"Shift+Enter, Alt+Enter, Ctrl+J", "new line; so does Enter behind a \\"},
	{"Esc", "stop the focused agent's turn or wait, and nothing else"},
	{"Ctrl+B", "let the agent go on: the work it waits for runs in the background (in tmux twice)"},
	{"Alt+Tab, Ctrl+Tab", "the agent used last, and on through those used before"},
	{"Alt+1…9, Ctrl+PgUp/PgDn", "go to a tab, to the next one"},
	{"Ctrl+Space", "go to an agent by name"},
	{"Alt+A, F5", "go to the question above the box (as a click on it does), else to the oldest, whoever asks"},
	{"y, s, n, 1…3", "answer a question you went to, or one that came while nobody typed: a second after it came"},
	{"1…9, then Enter", "answer a question over the inbox, the queue or the overview"},
	{"PgUp/PgDn, wheel, Home/End", "scroll"},
	{"Ctrl+O", "unfold what is folded"},
	{"Ctrl+Up, then y", "select a block, copy it"},
	{"Ctrl+Up, then Enter or o", "open the message it is or names, unfold a memory document; so does a click"},
	{"Shift+Tab", "next permission mode: ask, accept-edits, plan"},
	{"Ctrl+G", "edit the prompt in your editor"},
	{"Ctrl+R", "search the prompt history"},
	{"@, #, /, !", "complete a file, a memory document, a command; run a command of your own"},
	{"F2", "the overview of all agents: who dispatched whom, what each does"},
	{"F3", "the inbox, on the whole screen: take, reply, archive, snooze, search; ? lists its keys"},
	{"F4", "the queue, on the whole screen"},
	{"Alt+U, Alt+X", "handle the urgent message on the card, in its tab; put it off"},
	{"📨, 🔴 urgent", "before the count of what waits: something came since you looked at the tab or sent something from it; something urgent waits"},
	{"m, /", "in a background agent's tab: write to it; a command as main"},
	{"1…4, Left/Right", "there: its prompt, transcript, output, facts; y copies, w twice wraps up"},
	{"Alt+M", "leave the mouse to the terminal"},
	{"Ctrl+Z, Ctrl+L", "suspend, redraw"},
	{"Ctrl+C", "clear the box; twice: quit"},
}

// modes are what a permission mode leaves free.
var modes = [...]struct {
	mode permit.Mode
	help string
}{
	{permit.Ask, "reading is free; writing and commands ask"},
	{permit.AcceptEdits, "writing in the workspace is free too; commands ask"},
	{permit.Plan, "reading only; all else is refused"},
	{permit.Yolo, "nothing asks but what is sensitive"},
}

// helpRows list all commands and keys.
func helpRows() []dialog.Row {
	var rows []dialog.Row
	for _, c := range commands() {
		rows = append(rows, dialog.Row{Left: c.usage(), Right: c.help})
	}
	rows = append(rows, dialog.Row{})
	for _, k := range keys {
		rows = append(rows, dialog.Row{Left: k[0], Right: k[1]})
	}
	return rows
}

// CommandTable is the commands as a Markdown table, for the README.
func CommandTable() string {
	var b strings.Builder
	b.WriteString("| command | does |\n|---|---|\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(c.usage(), "|", "\\|"), c.help)
	}
	return b.String()
}
