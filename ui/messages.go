package ui

import (
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/ui/composer"
	"fantail/ui/intent"
	"fantail/ui/transcript"
)

// The messages to Update other than the terminal's own.
type (
	attached struct{ pool *agents.Pool }
	told     struct{ start string }
	lacks    struct{ text string }
	news     struct{ events []event.Event }
	ticked   struct{ at time.Time }
	rolled   struct{}
	branched struct{ name string }
	listed   struct{ files *composer.FileIndex }
	// known is the list of memory documents.
	known struct{ documents []history.Document }
	paged struct {
		agent   int64
		before  int64 // 0: the newest page
		entries []history.Entry
		err     error
	}
	// factsRead is an agent's facts.
	factsRead struct {
		agent int64
		facts agents.Facts
		err   error
	}
	rendered struct {
		view *transcript.View
		done []transcript.Done
	}
	// done is the result of an action.
	done struct {
		agent   int64
		text    string
		tone    transcript.Tone
		command string // shown above the text; "": none
		back    string // put back into the box, before the draft
	}
	// wanted is an intent that resulted from an action.
	wanted struct{ intent intent.Intent }
	// noted is a line for the status line.
	noted struct{ text string }
)
