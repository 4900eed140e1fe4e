// Package intent has the things that a part of the screen wants done and can't do itself: values that the App carries
// out.
//
// Does: name each action that a command, a board or a dialog may ask for. A new one is a type here and a case of
// App.act.
//
// Does not: carry any of it out. A part that returns an intent has changed nothing but itself.
package intent

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// Intent is one of the types of this package; nil: nothing is wanted.
type Intent interface{ intent() }

type (
	// All are several, in order.
	All []Intent

	// Do runs F, which may wait for the disk or an agent, off the interface's goroutine. The intent that F returns is
	// carried out once everything committed before it shows. An error shows instead, in the tab of Agent and below
	// Command.
	Do struct {
		Agent   int64  // 0: the focused tab's
		Command string // shown above the result; "": none
		Back    string // returned to the box if F fails; "": nothing
		Long    bool   // F may take long: later actions don't wait for it
		F       func(ctx context.Context) (Intent, error)
	}
	// Run runs F off the interface's goroutine too, at once and regardless of other actions. What
	// F returns is carried out.
	Run struct {
		F func(ctx context.Context) Intent
	}
	// Call runs on the interface's goroutine.
	Call func() Intent
	// Said is the text a Do results in; it shows where the error would.
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
	// Back puts a text back into an agent's box, before the draft.
	Back struct {
		Agent int64
		Text  string
	}
	// Type puts the beginning of a text into an agent's box, before the draft.
	Type struct {
		Agent int64
		Text  string
	}
	// Press does what that key does.
	Press struct{ Key tea.KeyPressMsg }
	// Say shows a line in the status line while While holds, and no longer than it takes to read.
	Say struct {
		Text  string
		While func() bool // nil: nothing ends it early
	}

	// Go goes to an agent's tab, as soon as there is one.
	Go struct{ Agent int64 }
	// Talk opens the line to an agent without a prompt box, in its tab.
	Talk struct{ Agent int64 }
	// View turns an agent's tab to one of its views.
	View struct {
		Agent int64
		Pane  tabs.Pane
	}
	// Open opens a dialog over everything; Decide returns the intent that follows from the decision. nil: none does.
	Open struct {
		Box    dialog.Box
		Decide func(dialog.Decision) Intent
		// What names a dialog that took time to prepare. It is not opened over another one, which may hold typed text;
		// the human is told instead. "": it opens in any case.
		What string
	}
	// Shut closes that dialog, if it is still the one on top.
	Shut struct{ Box dialog.Box }
	// Question opens an agent's question. Agent 0: the oldest open one.
	Question struct{ Agent int64 }
	// Message opens a message in full.
	Message struct {
		Agent   int64 // an error shows in this agent's tab
		ID      int64
		Command string
	}
	// Document shows a version of a memory document in an agent's tab.
	Document struct {
		Agent    int64
		Document history.Document
	}
	// Inbox and Queue open the board of an agent, Schedules, Servers and Permissions those of the workspace: from
	// there the keys go to the agent's.
	Inbox struct {
		Agent int64
		Name  string
		What  string // as in Open
	}
	Queue struct {
		Agent int64
		Name  string
	}
	Schedules struct {
		Agent int64
		Name  string
	}
	Servers struct {
		Agent int64
		Name  string
	}
	Permissions struct {
		Agent int64
		Name  string
	}
	// Close closes the open board, and any dialog over it.
	Close struct{}
	// Leave ends the screen, and with End the agents too. Fan, Overview, Timeline, Help and Quit do what
	// their keys and commands do; Quit asks first if agents are working.
	Leave    struct{ End bool }
	Fan      struct{}
	Overview struct{}
	Timeline struct{}
	Help     struct{ Page, Command string } // page of the manual or of a command, "": the overview; Command shows above an error
	Quit     struct{}

	// Handle starts a turn with a message, in its recipient's tab; Failed follows if it can't.
	Handle struct {
		Message inbox.Message
		Failed  Intent
	}
	// Terminal sends the terminal a sequence that draws nothing.
	Terminal struct{ Sequence string }

	// Copy puts a text on the terminal's clipboard.
	Copy struct{ Text string }
	// Edit runs the human's editor on a draft, in a file of that name. Then gets the result and the file's path, off
	// the interface's goroutine, and returns whether to keep the file.
	Edit struct {
		Name, Draft string
		Then        func(ctx context.Context, text, path string, err error) (then Intent, keep bool)
	}
	// Mode and Theme set the mode and the theme.
	Mode  struct{ Mode permission.Mode }
	Theme struct{ Theme *themes.Theme }
)

// Quick returns a Run whose result the status line shows.
func Quick(f func(ctx context.Context) (string, error)) Intent {
	return Run{F: func(ctx context.Context) Intent {
		text, err := f(ctx)
		if err != nil {
			text = format.Sentence(err)
		}
		return Say{Text: text}
	}}
}

func (All) intent()         {}
func (Do) intent()          {}
func (Run) intent()         {}
func (Call) intent()        {}
func (Said) intent()        {}
func (Tell) intent()        {}
func (Back) intent()        {}
func (Type) intent()        {}
func (Press) intent()       {}
func (Say) intent()         {}
func (Go) intent()          {}
func (Talk) intent()        {}
func (View) intent()        {}
func (Open) intent()        {}
func (Shut) intent()        {}
func (Question) intent()    {}
func (Message) intent()     {}
func (Document) intent()    {}
func (Inbox) intent()       {}
func (Queue) intent()       {}
func (Schedules) intent()   {}
func (Permissions) intent() {}
func (Servers) intent()     {}
func (Close) intent()       {}
func (Fan) intent()         {}
func (Overview) intent()    {}
func (Timeline) intent()    {}
func (Help) intent()        {}
func (Quit) intent()        {}
func (Leave) intent()       {}
func (Handle) intent()      {}
func (Terminal) intent()    {}
func (Copy) intent()        {}
func (Edit) intent()        {}
func (Mode) intent()        {}
func (Theme) intent()       {}
