// Package transcript is the region that shows an agent's transcript.
//
// Does: keep blocks (immutable once done, one reply live), render those that
// are visible, scroll by an anchor, fold and unfold.
//
// Does not: read the database, know a pool, run commands by itself.
//
// Imports: agents (for its words), inbox, themes, ui/frame, ui/markdown.
package transcript

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/themes"
)

// View is the transcript of one agent. It belongs to the interface's goroutine.
// No method does I/O or renders markdown; Lines costs what is visible, whatever
// the transcript's length.
type View struct{ contract }

type contract struct{}

// Tone colours a local line.
type Tone int

const (
	Plain Tone = iota
	Good
	Bad
)

// Job is markdown to be rendered off the interface's goroutine: Run it in a
// command and give its result to Rendered.
type Job struct{ contract }
type Done struct{ contract }

func New(t *themes.Theme, now func() time.Time) *View { panic("contract") }

func (v *View) SetTheme(t *themes.Theme)             { panic("contract") }
func (v *View) Append(es []agents.Entry, live bool)  { panic("contract") } // live: they replace the streamed blocks
func (v *View) Prepend(es []agents.Entry, more bool) { panic("contract") } // an older page; more: there are older ones still
func (v *View) Older() (before int64, ok bool)       { panic("contract") } // ok once per page: the view is near its top and older entries exist
func (v *View) Delta(d agents.Delta)                 { panic("contract") }
func (v *View) Void()                                { panic("contract") } // what was streamed is void
func (v *View) Output(o agents.Output)               { panic("contract") } // the tail of a running command
func (v *View) SetInfo(i agents.Info)                { panic("contract") } // queued prompts, retry countdown, open question, running tool: shown at the end
func (v *View) Local(text string, tone Tone)         { panic("contract") } // the program to the human: a command's answer or an error; not in the database
func (v *View) Key(k tea.KeyPressMsg) bool           { panic("contract") } // pgup pgdown home end ctrl+home ctrl+end ctrl+o; with a selected block: up down y
func (v *View) Scroll(lines int)                     { panic("contract") } // negative: up; the wheel
func (v *View) Follow()                              { panic("contract") } // to the end
func (v *View) NewBelow() int                        { panic("contract") } // blocks appended below a view that is scrolled up
func (v *View) Lines(w, h int) []string              { panic("contract") } // exactly h lines of at most w cells
func (v *View) Jobs() []Job                          { panic("contract") } // for blocks that became visible or whose live text grew; each once
func (j Job) Run() Done                              { panic("contract") } // any goroutine
func (v *View) Rendered(d Done)                      { panic("contract") }
func (v *View) Animating() bool                      { panic("contract") } // a visible spinner, clock or countdown moves
func (v *View) LastAnswer() string                   { panic("contract") } // unwrapped source of the last answer, for /copy
func (v *View) Selected() string                     { panic("contract") } // unwrapped source of the selected block, for y; "" if none
func (v *View) SelectPrev() bool                     { panic("contract") } // select the block above (from none: the last); false: none
func (v *View) Deselect()                            { panic("contract") }
