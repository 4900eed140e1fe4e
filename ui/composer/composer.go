// Package composer is the prompt box and the one-line boxes.
//
// Does: edit text of several lines, keep history and drafts, hold large pastes
// aside as chips, complete commands, files and arguments.
//
// Does not: read files or run editors by itself, know agents or commands: what
// to complete is given to it.
//
// Imports: themes, ui/frame.
package composer

import (
	tea "charm.land/bubbletea/v2"

	"fantail/themes"
)

// Box is one prompt box with its draft. It belongs to the interface's goroutine.
type Box struct{ contract }

type contract struct{}

// Intent is what a key meant beyond editing.
type Intent int

const (
	None   Intent = iota
	Submit        // Value is to be sent; call Clear once it is accepted
	Edit          // open the external editor on Value; give the result to Set
)

// Item is a completion candidate.
type Item struct {
	Insert string // what it inserts, without the trigger
	Label  string
	Help   string
}

// Source yields candidates for a trigger: "/" (the whole first word of the
// text), "@" (a path, anywhere), or " " (an argument: word is what stands
// behind `/command `). It is called on every key: it must be quick and do no I/O.
type Source func(trigger string, line string, word string) []Item

func New(t *themes.Theme, source Source, prompt string) *Box { panic("contract") }

func (b *Box) SetTheme(t *themes.Theme)             { panic("contract") }
func (b *Box) SetHistory(lines []string)            { panic("contract") } // oldest first
func (b *Box) AddHistory(line string)               { panic("contract") }
func (b *Box) Key(k tea.KeyPressMsg) (Intent, bool) { panic("contract") } // false: not taken
func (b *Box) Paste(s string)                       { panic("contract") } // large ones become a chip
func (b *Box) Value() string                        { panic("contract") } // byte-exact, chips expanded
func (b *Box) Empty() bool                          { panic("contract") }
func (b *Box) Set(s string)                         { panic("contract") } // replaces the draft; the cursor goes to its end
func (b *Box) Insert(s string)                      { panic("contract") }
func (b *Box) Clear()                               { panic("contract") }
func (b *Box) Height(w, max int) int                { panic("contract") } // lines it wants at width w
func (b *Box) Lines(w, h int) []string              { panic("contract") }
func (b *Box) Cursor() (x, y int)                   { panic("contract") } // within the last Lines
func (b *Box) Popup(w, max int) []string            { panic("contract") } // the completion list, nil if closed
