// Package dialog is the boxes over the transcript.
//
// Does: the permission question, the switcher, a list to pick from, a
// yes-or-no confirmation, a scrollable text.
//
// Does not: answer anything by itself, know a pool.
//
// Imports: themes, tools/permit (its words), ui/frame.
package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/tools/permit"
)

// Box is an open dialog. Key returns what was decided (nil: nothing yet);
// Lines are the whole box, border included, at most w by h.
type Box interface {
	Key(k tea.KeyPressMsg) Decision
	Lines(w, h int) []string
	Cursor() (x, y int, ok bool)
}

// Decision is what a dialog was closed with; Cancelled if by Esc.
type Decision interface{ decision() }

type Cancelled struct{}
type Answered struct {
	Question int64
	Answer   permit.Answer
}
type Picked struct{ Value string }
type Confirmed struct{ Choice string } // the key of the option chosen

func (Cancelled) decision() {}
func (Answered) decision()  {}
func (Picked) decision()    {}
func (Confirmed) decision() {}

// Grace is how long a question that appeared by itself takes no key.
const Grace = 500 * time.Millisecond

// Option is one choice of a confirmation, e.g. {"k", "kill them"}.
type Option struct{ Key, Label string }

// Item is one line of a picker.
type Item struct{ Value, Label, Help string }

func NewQuestion(t *themes.Theme, q permit.Question, now func() time.Time) Box { panic("contract") }
func NewPicker(t *themes.Theme, title string, items []Item, fuzzy bool) Box    { panic("contract") }
func NewConfirm(t *themes.Theme, title, text string, options []Option) Box     { panic("contract") }
func NewText(t *themes.Theme, title, text string) Box                          { panic("contract") }
