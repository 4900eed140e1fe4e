// Package dialog shows questions, lists and pages over the transcript and takes the answer.
package dialog

import (
	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/tools/permission"
)

// Box is an open dialog. Key returns what was decided (nil: nothing yet); Lines are the whole box,
// border included, at most w by h, every line of the same width. No key that types something closes
// a box that is only read, so that a human who goes on typing loses nothing and sends nothing.
// Paste goes into the box's line of text if one is open, and decides nothing.
type Box interface {
	Key(k tea.KeyPressMsg) Decision
	Paste(s string)
	Lines(w, h int) []string
	Cursor() (x, y int, ok bool)
}

// Question is a box that asks what an agent wants to know. When it may be answered
// is for its owner to say: it takes every key it is given.
type Question interface {
	Box
	// Means reports whether a key that types something is an answer, or part of one.
	Means(k tea.KeyPressMsg) bool
	// Strictly lets no letter answer any more: a digit selects, and Enter confirms. So
	// it asks over what letters mean something else to. Lettered lets no digit answer: so it asks
	// where they go from view to view. Freely lets both.
	Strictly()
	Lettered()
	Freely()
	// Typed is the text in its line for words.
	Typed() string
	// SetTheme changes the colours.
	SetTheme(t *themes.Theme)
}

// answering is which keys answer a question at once.
type answering int

const (
	freely   answering = iota // letters and digits
	lettered                  // letters
	strictly                  // none: a digit selects, and Enter confirms
)

// Decision is what a dialog was closed with; Cancelled if by Esc.
type Decision interface{ decision() }

// Cancelled: nothing was decided. Of a question it means that the human leaves
// it open.
type Cancelled struct{}

// Answered is a question's answer.
type Answered struct {
	Question int64
	Answer   permission.Answer
}

// Picked is the value of the item picked.
type Picked struct{ Value string }

// Confirmed is the key of the option chosen.
type Confirmed struct{ Choice string }

func (Cancelled) decision() {}
func (Answered) decision()  {}
func (Picked) decision()    {}
func (Confirmed) decision() {}

// Option is one choice of a confirmation, e.g. {"k", "kill them"}.
type Option struct{ Key, Label string }

// Item is one line of a picker. The one that is Chosen is highlighted at first.
type Item struct {
	Value, Label, Help string
	Chosen             bool
}

// Row is a row of a table.
type Row struct{ Left, Right string }
