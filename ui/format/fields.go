package format

import (
	"fmt"
	"strings"

	"fantail/ui/dialog"
)

// Field is one thing that is known of what is listed: a schedule, a server, a call, a message.
type Field struct {
	Name string
	Text string
	Max  int // how many lines of it show where there is little room; 0: one
}

// Fields describe one of what is listed. The shell, a board's preview and a reader show them.
type Fields []Field

// Add adds a field, unless it has no text.
func (fs *Fields) Add(name, text string) { fs.long(name, text, 0) }

// long is Add for a text that may take several lines.
func (fs *Fields) long(name, text string, most int) {
	if strings.TrimSpace(text) != "" {
		*fs = append(*fs, Field{name, text, most})
	}
}

// Text is a line each, behind an indent.
func (fs Fields) Text(indent string) string {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintf(&b, "%s%-8s  %s\n", indent, f.Name, f.Text)
	}
	return b.String()
}

// Rows are the fields as a box shows them.
func (fs Fields) Rows() (rows []dialog.Row) {
	for _, f := range fs {
		rows = append(rows, dialog.Row{Left: f.Name, Right: f.Text})
	}
	return rows
}
