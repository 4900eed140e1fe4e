// Package dialog shows questions, lists and pages over the transcript and takes the answer.
package dialog

import (
	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/tools/permission"
)

// Box is an open dialog. Key returns the decision; nil: none yet. Lines returns the whole box with
// its border, at most w by h cells, all lines of the same width. A key that types something never
// closes a box that is only read, so that a human who goes on typing loses nothing and sends
// nothing. Paste inserts a text into the open line, if any, and decides nothing.
type Box interface {
	Key(k tea.KeyPressMsg) Decision
	Paste(s string)
	Lines(w, h int) []string
	Cursor() (x, y int, ok bool)
}

// Question is a box with an agent's question. It takes every key it is given: its owner decides
// from when on it may be answered.
type Question interface {
	Box
	// Means reports whether a key that types something is an answer or a part of one.
	Means(k tea.KeyPressMsg) bool
	// These set which keys answer at once. Strictly: none. A digit selects and Enter confirms; it
	// is for questions over boards that use letters. Lettered: letters, for places where digits
	// switch views. Freely: letters and digits.
	Strictly()
	Lettered()
	Freely()
	// Typed returns the text in the line for text.
	Typed() string
	// SetTheme changes the colours.
	SetTheme(t *themes.Theme)
}

// answering says which keys answer a question at once.
type answering int

const (
	freely   answering = iota // letters and digits
	lettered                  // letters
	strictly                  // none: a digit selects, and Enter confirms
)

// Decision is what a dialog was closed with. After Esc it is Cancelled.
type Decision interface{ decision() }

// Cancelled means that nothing was decided. The human leaves a question open.
type Cancelled struct{}

// Answered is the answer to a question about a call.
type Answered struct {
	Question int64
	Answer   permission.Answer
}

// Whole asks for a question on the whole screen. It stays open.
type Whole struct{}

// Picked is the value of the picked item.
type Picked struct{ Value string }

// Confirmed is the key of the chosen option.
type Confirmed struct{ Choice string }

func (Cancelled) decision() {}
func (Answered) decision()  {}
func (Whole) decision()     {}
func (Picked) decision()    {}
func (Confirmed) decision() {}

// Option is one choice of a confirmation, e.g. {"k", "kill them"}.
type Option struct{ Key, Label string }

// Item is one line of a picker. A Chosen item is highlighted at first.
type Item struct {
	Value, Label, Help string
	Chosen             bool
}

// Row is a row of a table.
type Row struct{ Left, Right string }
