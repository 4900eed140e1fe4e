// Package event is what is told of agents: to screens, to programs, and to who waits.
//
// Does: say what is known of an agent (Info) and of a question to the human, what
// the events are, spread them to feeds and join what may be joined.
//
// Does not: know where the events come from, read rows by itself, show anything.
//
// Imports: agents/history, agents/llm, inbox, store, tools, tools/permit.
package event

import (
	"errors"
	"time"

	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools/permit"
)

// ErrClosing is the cause of what ends because the program does.
var ErrClosing = errors.New("the program was closed")

// ErrReadOnly is the error of what would write where the database can only be read.
var ErrReadOnly = store.ErrReadOnly

// State is where an agent is. Only its own loop changes it; the last four are
// terminal and always win.
type State string

const (
	Queued  State = "queued"
	Running State = "running"
	Waiting State = "waiting" // for a message, or for its own dispatched work
	Asking  State = "asking"  // a question waits for the human
	Idle    State = "idle"
	Done    State = "done"
	Failed  State = "failed"
	Killed  State = "killed"
	Crashed State = "crashed"
)

// Terminal reports whether nothing can follow.
func (s State) Terminal() bool { return s == Done || s == Failed || s == Killed || s == Crashed }

// Info is what is known of an agent, as of one event. It is a value: readers
// keep it and ask nobody.
type Info struct {
	ID        int64
	Name      string
	Kind      Kind
	Parent    int64 // 0: none
	State     State
	Doing     string    // while running: "streaming", "tool bash", "starting"; else ""
	Call      string    // the title of the tool's call that Doing names; else ""
	Why       string    // while waiting or failed: for what, why ("waiting for any message")
	Retry     *Retry    // a failed request that will be tried again
	Model     string    // provider/name
	Window    int       // tokens the model can read; 0: unknown
	Context   int       // tokens of the last request and its reply
	Usage     llm.Usage // all turns together
	Cost      int64     // millionths of a dollar, all turns together; 0 with Priced false: unknown
	Priced    bool
	Steps     int
	Pending   int // messages in its inbox
	Urgent    int
	Came      int             // messages that came into it since the program started, those of muted threads aside
	Delegated int             // sync delegations it waits for
	Prompt    string          // a sub-agent's task; a plain command begins with `!`, and has no Model; what a fork's message says
	Handles   int64           // a fork's message; 0: it is no fork
	Sender    string          // who wrote that
	Task      int64           // that task's id; 0: none
	Attempt   int             // how many tasks it carried out, this one included
	Outside   bool            // its work was asked for outside of the program: it asks before all but reading
	Prompts   []Prompt        // typed, not entered yet, oldest first
	Question  *Question       // while asking
	Outcome   history.Outcome // of the last turn, once it ended
	Gist      string          // of one that is done: the first line of its result
	Created   time.Time
	Started   time.Time // of the current or last turn, or of a wait between turns; zero: none yet
	Ended     time.Time // of a terminal state; zero: alive
	Active    time.Time // of its last sign of life as of this event; later pieces and entries are signs too
}

// StallAfter is how long a running agent may give no sign of life before it
// stands as stalled.
const StallAfter = 90 * time.Second

// Stalled is for how long a running agent has given no sign of life, if that is
// too long; active is the last one. One that waits, asks or is about to try a
// request again says by itself for what.
func (i Info) Stalled(active, now time.Time) (time.Duration, bool) {
	quiet := now.Sub(active)
	return quiet, i.State == Running && i.Retry == nil && !active.IsZero() && quiet >= StallAfter
}

// Prompt is a queued prompt.
type Prompt struct {
	ID   int64
	Text string
	Held bool // shown, not sent by itself: typed before a crash
	Then bool // a command that is carried out when the turn ends
}

// Retry tells of a request that failed and will be tried again.
type Retry struct {
	Attempt, Of int
	At          time.Time // of the next try
	Reason      string
}

// Event is what an agent tells its feeds. The implementations are [Changed],
// [Appended], [Delta], [Void], [Output], [Tally], [Mailed] and [Closed]. Live and replay are
// the same: a new [Feed] begins with a Changed for every agent and a Tally, and
// [Pool.Page] returns the entries an Appended would have carried.
type Event interface{ event() }

// Changed replaces all that was known of the agent. Neighbouring Changed of one
// agent coalesce.
type Changed struct{ Info }

// Appended carries entries that are in the database. With Live they are the
// record of what the deltas since the last Appended with Live showed, and replace it.
type Appended struct {
	Agent   int64
	Entries []history.Entry
	Live    bool
}

// Delta is the next piece of the reply being streamed. Pieces of one Block
// belong together; Blocks count from 0 in each reply. Neighbouring pieces coalesce.
type Delta struct {
	Agent    int64
	Block    int
	Thinking bool
	Summary  bool // of a conversation that is being compacted
	Text     string

	Words *history.Words // the block's text, of which this is a part
	UpTo  int            // where it ends there
}

// Void says that what was streamed since the last Appended with Live is void.
type Void struct{ Agent int64 }

// Output is the latest tail of a running command's output; it replaces the one before.
type Output struct {
	Agent int64
	Call  string
	Tail  string
}

// Tally counts the pool's tasks and questions. It replaces the one before.
type Tally struct {
	Running int      // sub-agents and forks that run or wait
	Queued  int      // tasks not started
	Names   []string // of those, in the order they came
	Asking  int      // questions waiting
	Mode    permit.Mode
	Quiet   inbox.Quiet // whether all mail is held, and until when
}

// Mailed says that messages came to or left that agent's inbox, or that what is
// said of them changed: read it again. Until a feed is read it holds one for each
// agent at most.
type Mailed struct{ Agent int64 }

// Closed says that the agent's tab is closed.
type Closed struct{ Agent int64 }

// Trouble says that somebody changed the database's files while nobody wrote, and
// what became of that. Err is nil once that is undone.
type Trouble struct{ Err error }

func (Changed) event()  {}
func (Trouble) event()  {}
func (Appended) event() {}
func (Delta) event()    {}
func (Void) event()     {}
func (Output) event()   {}
func (Tally) event()    {}
func (Mailed) event()   {}
func (Closed) event()   {}

// About notes what a fork handles.
func (i *Info) About(m inbox.Message) {
	i.Handles, i.Sender, i.Prompt = m.ID, m.From, history.Fit(m.Text(), history.MostSubject)
}

// Cut makes i that of an agent that nobody runs, as recovery would leave it.
func (i *Info) Cut() {
	if i.State == Running || i.State == Waiting {
		i.Outcome, i.Why, i.State = history.OutCrashed, history.CutShort, Crashed
		if i.Kind.HasPrompt() {
			i.State = Idle
		}
	}
	for n := range i.Prompts {
		i.Prompts[n].Held = true
	}
}
