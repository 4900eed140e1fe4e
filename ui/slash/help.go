package slash

import (
	"fmt"
	"slices"
	"strings"

	"fantail/tools/permission"
	"fantail/ui/dialog"
	"fantail/ui/manual"
)

// keys lists the keys for the help.
var keys = [...][2]string{
	{"Enter", "send; while the agent is busy the prompt enters at its next step"},
	{"Shift+Enter, Alt+Enter, Ctrl+J", "new line; so does Enter behind a \\"},
	{"Esc", "stop the focused agent's turn or wait, and nothing else"},
	{"Ctrl+B", "let the agent go on: the work it waits for runs in the background (in tmux twice)"},
	{"Alt+Tab, Ctrl+Tab", "the agent used last, and on through those used before"},
	{"Alt+1…9, Ctrl+PgUp/PgDn", "go to a tab, to the next one"},
	{"Ctrl+Space", "go to an agent by name"},
	{"Alt+A, F5", "go to the question above the box (as a click on it does), else to the oldest, whoever asks"},
	{"Tab", "from an empty box: go to the question above it"},
	{"y, s, p, a, n", "answer a question you went to, or one that came while nobody typed: a second after it came; digits show views in a background agent's tab"},
	{"1…9, then Enter", "answer a question over the inbox, the queue or the overview"},
	{"PgUp/PgDn, wheel, Home/End", "scroll"},
	{"Ctrl+O", "unfold all in sight, or fold it"},
	{"Ctrl+Up, then y", "select a block, copy it"},
	{"Ctrl+Up, then Enter or o", "open the message it is or names, unfold a memory document; so does a click"},
	{"Shift+Tab", "next permission mode: ask, accept-edits, auto where the sandbox prevents harm, plan; what it frees holds after a second"},
	{"Ctrl+G", "edit the prompt in your editor"},
	{"Ctrl+R", "search the prompt history"},
	{"@, #, /, !", "complete a file, a memory document, a command; run a command of your own"},
	{"F2", "the Fan: the last lines of all agents at once; l shows them as a list, ? lists its keys"},
	{"Alt+R", "hide the agents beside the conversation, or show them again; they show from 140 columns"},
	{"F3", "the inbox, on the whole screen: take, reply, archive, snooze, search; ? lists its keys"},
	{"F4", "the queue, on the whole screen"},
	{"F6", "what is due when, on the whole screen: pause, resume, run, remove"},
	{"Alt+U, Alt+X", "handle the urgent message on the card, in its tab; put it off"},
	{"📨, 🔴 urgent", "before the count of what waits: something came since you looked at the tab or sent something from it; something urgent waits"},
	{"m, /", "in a background agent's tab: write to it; a command as main"},
	{"1…4, Left/Right", "there: its prompt, transcript, output, facts; y copies, w twice wraps up"},
	{"Alt+M", "leave the mouse to the terminal"},
	{"Ctrl+Z, Ctrl+L", "suspend, redraw"},
	{"Ctrl+C", "clear the box; twice: leave, work goes on"},
}

// loose is a permission mode and what it allows without asking.
type loose struct {
	mode permission.Mode
	help string
}

var modes = []loose{
	{permission.Ask, "reading is free; writing and commands ask"},
	{permission.AcceptEdits, "writing in the workspace is free too; commands ask"},
	{permission.Auto, "commands that run in the sandbox are free too"},
	{permission.Plan, "reading only; all else is refused"},
	{permission.Yolo, "outside the sandbox: nothing asks but what is sensitive"},
}

// offered returns the modes that can be chosen here.
func (e Options) offered() []loose {
	return slices.DeleteFunc(slices.Clone(modes), func(m loose) bool { return m.mode == permission.Auto && e.Tally.Wall != permission.Prevents })
}

// Help lists the pages of the manual, all commands, those that files bring, and the keys.
func Help(files CustomCommands) []dialog.Row {
	var rows []dialog.Row
	for _, name := range manual.Names() {
		if p, ok := manual.Find(name); ok {
			rows = append(rows, dialog.Row{Left: "/help " + name, Right: "the manual: " + p.Title})
		}
	}
	rows = append(rows, dialog.Row{})
	for _, c := range commands() {
		rows = append(rows, dialog.Row{Left: c.usage(), Right: c.help})
	}
	if more := files.Rows(); more != nil {
		rows = append(append(rows, dialog.Row{}), more...)
	}
	rows = append(rows, dialog.Row{})
	for _, k := range keys {
		rows = append(rows, dialog.Row{Left: k[0], Right: k[1]})
	}
	return rows
}

// Table returns the commands as a Markdown table for the manual.
func Table() string {
	var b strings.Builder
	b.WriteString("| command | does |\n|---|---|\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(c.usage(), "|", "\\|"), c.help)
	}
	return b.String()
}
