package ui

import (
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/ledger"
	"fantail/agents/memory"
	"fantail/ui/files"
	"fantail/ui/intent"
	"fantail/ui/transcript"
)

// What reaches Update beside the terminal's own messages.
type (
	attached struct{ pool *pool }
	told     struct{ start string }
	news     struct{ events []event.Event }
	ticked   struct{ at time.Time }
	rolled   struct{}
	branched struct{ name string }
	listed   struct{ files *files.Index }
	// known are the memory documents there are.
	known struct{ documents []memory.Document }
	paged struct {
		agent   int64
		before  int64 // 0: the newest page
		entries []history.Entry
		err     error
	}
	// looked are an agent's facts.
	looked struct {
		agent int64
		facts ledger.Facts
		err   error
	}
	rendered struct {
		view *transcript.View
		done []transcript.Done
	}
	// done is what became of something that was acted on.
	done struct {
		agent   int64
		text    string
		tone    transcript.Tone
		command string // stands above the text; "": none
		back    string // what is given back to the box: it stands before the draft
	}
	// wanted is an intent that came of an action.
	wanted struct{ intent intent.Intent }
	// noted is a line for the status line.
	noted struct{ text string }
)
