package slash

import (
	"fmt"
	"slices"
	"strings"

	"fantail/tools/permission"
	"fantail/ui/dialog"
	"fantail/ui/manual"
)

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
		rows = append(rows, dialog.Row{Left: k.keys, Right: k.inFull()})
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
