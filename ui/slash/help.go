package slash

import (
	"fmt"
	"slices"
	"strings"

	"fantail/tools/permission"
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

// Table returns the commands as a Markdown table for the manual.
func Table() string {
	var b strings.Builder
	b.WriteString("| command | does |\n|---|---|\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(c.usage(), "|", "\\|"), c.help)
	}
	return b.String()
}
