package dialog

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fantail/ui/cells"
)

// input is a line of text.
type input struct{ line textinput.Model }

func newInput() *input {
	in := &input{line: textinput.New()}
	in.line.Prompt = ""
	in.line.SetVirtualCursor(false)
	in.line.Focus()
	return in
}

func (in *input) value() string { return in.line.Value() }

// typed returns the value of a line; "" if it is closed.
func (in *input) typed() string {
	if in == nil {
		return ""
	}
	return in.value()
}

// insert inserts s at the cursor. Line ends become blanks, and control characters are dropped.
func (in *input) insert(s string) {
	in.line, _ = in.line.Update(tea.PasteMsg{Content: strings.ReplaceAll(s, "\r\n", "\n")})
}

// key edits the line. A key that does not edit text does nothing.
func (in *input) key(k tea.KeyPressMsg) { in.line, _ = in.line.Update(k) }

// view returns the part of the line around the cursor that fits w columns, without control
// characters, and the cursor's column in it.
func (in *input) view(w int) (string, int) {
	in.line.SetWidth(max(w-1, 1))
	typed := []rune(in.line.Value())[:in.line.Position()]
	x := cells.Width(cells.CleanLine(string(typed)))
	if c := in.line.Cursor(); x >= w && c != nil {
		x = c.Position.X // the line is scrolled
	}
	return cells.Cut(cells.CleanLine(ansi.Strip(in.line.View())), w), min(x, w-1)
}
