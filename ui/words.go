package ui

import (
	"errors"
	"fmt"
	"strings"
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
	if n > 0 && !strings.HasPrefix(s, "http") {
		s = string(unicode.ToUpper(r)) + s[n:]
	}
	return s
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
	{"PgUp/PgDn, wheel, Home/End", "scroll"},
	{"Ctrl+O", "unfold what is folded"},
	{"Ctrl+Up, then y", "select a block, copy it"},
	{"Shift+Tab", "next permission mode: ask, accept-edits, plan"},
	{"Ctrl+G", "edit the prompt in your editor"},
	{"Ctrl+R", "search the prompt history"},
	{"@, /, !", "complete a file, a command; run a command of your own"},
	{"m, /", "in a background agent's tab: write to it; a command as main"},
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
