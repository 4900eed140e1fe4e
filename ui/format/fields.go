package format

import (
	"fmt"
	"strings"

	"fantail/ui/dialog"
)

// Field is one fact about a listed thing: a schedule, a server, a call, a message.
type Field struct {
	Name string
	Text string
	Max  int // limit of its lines where there is little room; 0: one
}

// Fields describe a listed thing. The shell, a board's preview and a reader show them.
type Fields []Field

// Add adds a field, unless its text is empty.
func (fs *Fields) Add(name, text string) { fs.long(name, text, 0) }

// long is Add for a text of up to `most` lines.
func (fs *Fields) long(name, text string, most int) {
	if strings.TrimSpace(text) != "" {
		*fs = append(*fs, Field{name, text, most})
	}
}

// Text returns the fields, one a line, with an indent.
func (fs Fields) Text(indent string) string {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintf(&b, "%s%-8s  %s\n", indent, f.Name, f.Text)
	}
	return b.String()
}

// Rows returns the fields as rows of a box.
func (fs Fields) Rows() (rows []dialog.Row) {
	for _, f := range fs {
		rows = append(rows, dialog.Row{Left: f.Name, Right: f.Text})
	}
	return rows
}
