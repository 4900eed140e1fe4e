// Package intent has what a room of the screen wants done that it can't do itself:
// values, which the App carries out.
//
// Does: name each thing that a command, a board or a dialog may ask for. A new one is a
// type here and a case of App.act.
//
// Does not: do any of it. A room that returns an intent has changed nothing but itself.
//
// Imports: agents/memory, inbox, themes, tools/permit, ui/dialog, ui/tabs, ui/transcript, ui/words.
package intent

import (
	"context"

	"fantail/agents/memory"
	"fantail/inbox"
	"fantail/themes"
	"fantail/tools/permit"
	"fantail/ui/dialog"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// Intent is one of the types of this package; nil: nothing is wanted.
type Intent interface{ intent() }

type (
	// All are several, in their order.
	All []Intent

	// Do runs F, which may wait for the disk or an agent, off the interface's goroutine.
	// What it returns is carried out once everything that was committed before shows. An
	// error is shown instead, in the tab of Agent and below Command.
	Do struct {
		Agent   int64  // 0: the focused tab's
		Command string // shown above what comes of it; "": none
		Back    string // given back to the box if F fails; "": nothing
		Long    bool   // F may wait long: it holds up nothing that is done after it
		F       func(ctx context.Context) (Intent, error)
	}
	// Run runs F off the interface's goroutine too, at once and whatever else is being
	// done. What it returns is carried out.
	Run struct {
		F func(ctx context.Context) Intent
	}
	// Call is run on the interface's goroutine.
	Call func() Intent
	// Said is what came of a Do; it is shown where its error would be.
	Said struct {
		Text string
		Tone transcript.Tone
	}
	// Tell shows a text in an agent's tab.
	Tell struct {
		Agent   int64
		Command string // shown above it; "": none
		Text    string
		Tone    transcript.Tone
	}
	// Back puts a text into an agent's box, before the draft.
	Back struct {
		Agent int64
		Text  string
	}
	// Say shows a line in the status line, for as long as While holds and no longer than
	// it takes to read it.
	Say struct {
		Text  string
		While func() bool // nil: nothing ends it early
	}

	// Go goes to an agent's tab, once it is there.
	Go struct{ Agent int64 }
	// View turns an agent's tab to one of its views.
	View struct {
		Agent int64
		Pane  tabs.Pane
	}
	// Open opens a dialog over everything; Decide says what follows from what it is
	// closed with, nil if nothing does.
	Open struct {
		Box    dialog.Box
		Decide func(dialog.Decision) Intent
		// What it is, if it took its time: then it is not opened over another, which may
		// hold what was typed, and the human is told. "": it is opened whatever is open.
		What string
	}
	// Question opens an agent's question. Agent 0: the oldest question that is open.
	Question struct{ Agent int64 }
	// Message opens a message whole.
	Message struct {
		Agent   int64 // in whose tab it is said if there is none
		ID      int64
		Command string
	}
	// Document shows a version of a memory document in an agent's tab.
	Document struct {
		Agent    int64
		Document memory.Document
	}
	// Inbox and Queue open the board of an agent.
	Inbox struct {
		Agent int64
		Name  string
		What  string // as in Open
	}
	Queue struct {
		Agent int64
		Name  string
	}
	// Close closes the board that is open, and what is open over it.
	Close struct{}
	// Leave ends the screen. Overview, Help and Quit are what their keys do; Quit asks first
	// if agents are at work.
	Leave    struct{}
	Overview struct{}
	Help     struct{}
	Quit     struct{}

	// Handle starts a turn with a message, in the tab of who got it; Failed follows if it
	// can't.
	Handle struct {
		Message inbox.Message
		Failed  Intent
	}
	// Terminal sends the terminal a sequence that draws nothing.
	Terminal struct{ Sequence string }

	// Copy puts a text on the terminal's clipboard.
	Copy struct{ Text string }
	// Edit runs the human's editor on a draft, in a file of that name. Then gets what came
	// of it and where it lies, off the interface's goroutine, and says whether the file is
	// to be kept.
	Edit struct {
		Name, Draft string
		Then        func(ctx context.Context, text, path string, err error) (then Intent, keep bool)
	}
	// Mode and Theme set what they name.
	Mode  struct{ Mode permit.Mode }
	Theme struct{ Theme *themes.Theme }
)

// Quick is a Run whose outcome the status line tells.
func Quick(f func(ctx context.Context) (string, error)) Intent {
	return Run{F: func(ctx context.Context) Intent {
		text, err := f(ctx)
		if err != nil {
			text = words.Sentence(err)
		}
		return Say{Text: text}
	}}
}

func (All) intent()      {}
func (Do) intent()       {}
func (Run) intent()      {}
func (Call) intent()     {}
func (Said) intent()     {}
func (Tell) intent()     {}
func (Back) intent()     {}
func (Say) intent()      {}
func (Go) intent()       {}
func (View) intent()     {}
func (Open) intent()     {}
func (Question) intent() {}
func (Message) intent()  {}
func (Document) intent() {}
func (Inbox) intent()    {}
func (Queue) intent()    {}
func (Close) intent()    {}
func (Overview) intent() {}
func (Help) intent()     {}
func (Quit) intent()     {}
func (Leave) intent()    {}
func (Handle) intent()   {}
func (Terminal) intent() {}
func (Copy) intent()     {}
func (Edit) intent()     {}
func (Mode) intent()     {}
func (Theme) intent()    {}
