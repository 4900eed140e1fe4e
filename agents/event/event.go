// Package event defines what agents publish: the state of each, its feed, the answer it is writing, and its followers.
package event

import (
	"errors"
	"fmt"
	"time"

	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
)

// ErrClosing is the cause of everything that ends because the program is closing.
var ErrClosing = errors.New("the program was closed")

// ErrReadOnly is the error of a write to a database that can only be read.
var ErrReadOnly = store.ErrReadOnly

// EndedError says that an agent has ended, so that it can only be resumed.
type EndedError struct {
	Name  string
	State State
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("the agent %s has ended already (%s)", e.Name, e.State)
}

// State is what an agent does. Only its own loop changes it, and, at rest, a human's wait in its tab. The last four
// are terminal: they never change again.
type State string

const (
	Queued  State = "queued"
	Running State = "running"
	Waiting State = "waiting" // for a message, or for work it dispatched
	Asking  State = "asking"  // a question waits for the human
	Idle    State = "idle"
	Done    State = "done"
	Failed  State = "failed"
	Killed  State = "killed"
	Crashed State = "crashed"
)

// Terminal reports whether the state is final.
func (s State) Terminal() bool { return s == Done || s == Failed || s == Killed || s == Crashed }

// Info is the state of an agent, as of one event. It is a value: readers store it and never have to ask the agent.
type Info struct {
	ID     int64
	Name   string
	Kind   Kind
	Parent int64 // 0: none
	State  State
	Doing  string // while running: "streaming", "tool bash", "starting"; otherwise ""
	Call   string // the title of the tool call that Doing names; else ""
	Why    string // what it waits for, or why it failed ("waiting for any message")
	Retry  *Retry // a failed request that will be tried again
	Model  string // provider/name
	Spent
	Pending   int    // messages in its inbox, without questions and approvals
	Asks      int    // questions and approvals in its inbox: only an answer takes them
	Urgent    int    // of all these
	Came      int    // messages received since the program started, not counting muted threads
	Called    int64  // the last message received since then that calls the human, as a reminder does; 0: none
	Delegated int    // synchronous delegations it waits for
	Prompt    string // a sub-agent's task (`!` begins a plain command), or the message a fork handles
	Handles   int64  // the message a fork handles; 0: not a fork
	Sender    string // of that message
	Task      int64  // the task it carries out; 0: none
	Attempt   int    // how many tasks it has carried out, including this one
	Judged
	Await    *Await          // how long it stays idle where its turn has ended; nil: it ends with its turn
	Prompts  []Prompt        // typed, not yet absorbed, oldest first
	Question *Question       // while asking
	Outcome  history.Outcome // of the last turn that ended
	Gist     string          // the first line of its result, once it is done
	Created  time.Time
	Started  time.Time // of the current or last turn, or of a wait between turns; zero: never
	Ended    time.Time // when it reached a terminal state; zero: alive
	Active   time.Time // last sign of life as of this event; later deltas and entries count too
}

// Held is how the program of another vendor's agent runs.
type Held int

const (
	NotKnown  Held = iota // it has not been started
	InSandbox             // in one of this program's
	AsUser                // as the user does
)

// Rests reports whether the agent rests between turns, so that a message for it may start one.
func (i Info) Rests() bool { return i.Kind.HasPrompt() || i.Await != nil }

// Killable returns why the agent can't be killed; nil: it can.
func (i Info) Killable() error {
	switch {
	case i.Kind.HasPrompt():
		return fmt.Errorf("the agent %s can't be killed; Esc in its tab stops its turn", i.Name)
	case i.State.Terminal():
		return &EndedError{Name: i.Name, State: i.State}
	}
	return nil
}

// Counted records how many messages wait for the agent.
func (i *Info) Counted(c inbox.Change) { i.Pending, i.Asks, i.Urgent = c.Pending, c.Asks, c.Urgent }

// Abroad returns the vendor whose agent carries out this one's turns; false: a model does.
func (i Info) Abroad() (vendor string, is bool) { return tools.VendorOf(i.Model) }

// Compactable returns why the agent's conversation is not compacted by this program; nil: it is.
func (i Info) Compactable() error {
	if vendor, abroad := i.Abroad(); abroad {
		return fmt.Errorf("%s, another vendor's agent, keeps this conversation, and compacts it when it has to; /new begins a new one", vendor)
	}
	return nil
}

// Await is how an agent awaits input. It is a value: a change replaces it.
type Await struct {
	For      time.Duration // how long after a turn; 0: for ever
	Until    time.Time     // when it ends; zero: no time limit runs, since it works, its tab is viewed, a program is attached, or For is 0
	Attached int           // programs attached to it
	Ends     bool          // it was told to end after its present turn
}

// With returns a changed copy; nil of nil.
func (a *Await) With(change func(a *Await)) *Await {
	if a == nil {
		return nil
	}
	b := *a
	change(&b)
	return &b
}

// Left returns how much of its time an idle agent has left at that moment, and whether the time runs.
func (a *Await) Left(now time.Time) (left time.Duration, counts bool) {
	if a == nil || a.Until.IsZero() {
		return 0, false
	}
	return max(0, a.Until.Sub(now)), true
}

// Judged is what restricts an agent's calls, besides the session's mode and rules.
type Judged struct {
	Outside    bool            // its work was requested from outside the program, so it asks before anything but reading
	Unattended bool            // no human answers its questions, even if one is at a screen
	Mode       permission.Mode // the mode for its calls, instead of the session's; "": the session's
	Role       *Role           // its role from a file, which may restrict it; nil: none. It never changes
	Held       Held            // of another vendor's agent: by whose rules its own calls go
}

// Spent is what an agent has used, all turns together, and how full its context is.
type Spent struct {
	Usage   llm.Usage
	Cost    int64 // in millionths of a dollar; unknown unless Priced
	Priced  bool
	Steps   int
	Context int     // tokens of the last request and its reply
	Window  int     // tokens the model can read; 0: unknown
	Budget  *Budget // the limit for it and all it dispatches; nil: none
}

// Budget is how much an agent may use, and how much of that is used. It is a value: a change replaces it.
type Budget struct {
	Amount tools.Amount
	Used   int64 // in the amount's unit
}

// BudgetOf reads a budget from its row.
func BudgetOf(row store.Budget) *Budget {
	return &Budget{Amount: tools.Amount{N: row.Amount, Money: row.Money}, Used: row.Used}
}

// String returns how much of it is used.
func (b *Budget) String() string { return b.Amount.Used(b.Used) }

// StallAfter is how long a running agent may stay silent before it is shown as stalled.
const StallAfter = 90 * time.Second

// Stalled returns how long the agent has been silent, given when it was last active, and whether that makes it
// stalled. An agent that waits, asks or is about to retry a request shows that itself and never counts as stalled.
func (i Info) Stalled(active, now time.Time) (time.Duration, bool) {
	quiet := now.Sub(active)
	return quiet, i.State == Running && i.Retry == nil && !active.IsZero() && quiet >= StallAfter
}

// Prompt is a queued prompt.
type Prompt struct {
	ID   int64
	Text string
	Held bool // typed before a crash: shown, but not sent on its own
	Then bool // a command, to be carried out when the turn ends
}

// Retry describes a failed request that will be tried again.
type Retry struct {
	Attempt, Of int
	At          time.Time // of the next attempt
	Reason      string
}

// Event is what an agent tells its feeds. The implementations are [Changed], [Appended], [Delta], [Over], [Void],
// [Output], [Tally], [Mailed], [Closed] and [Trouble]. Live and replay are the same: a new [Feed] begins with a
// Changed for every agent and a Tally, and a page of the transcript returns the entries an Appended would have
// carried.
type Event interface{ event() }

// Changed replaces the agent's whole state. Neighbouring Changed of one agent coalesce.
type Changed struct{ Info }

// Appended carries entries that are in the database. If Live, they are the record of what the deltas since the previous
// live Appended showed, and replace it.
type Appended struct {
	Agent   int64
	Entries []history.Entry
	Live    bool
}

// Delta is the next piece of the reply being streamed. Pieces of one Block belong together; Blocks count from 0 in each
// reply. Neighbouring pieces coalesce.
type Delta struct {
	Agent    int64
	Block    int
	Thinking bool
	Summary  bool // of a conversation being compacted
	Text     string

	Words *history.BlockText // the text of the block that this is a part of
	UpTo  int                // where this part ends in Words
}

// Over says that the last words of a reply were streamed. Its record follows once that is on disk, which takes longer
// than a human should wait for them.
type Over struct{ Agent int64 }

// Void discards everything streamed since the last live Appended.
type Void struct{ Agent int64 }

// Output is the latest tail of a running command's output; it replaces the previous one.
type Output struct {
	Agent int64
	Call  string
	Tail  string
}

// Tally counts the pool's tasks and questions. It replaces the previous one.
type Tally struct {
	Running int                // sub-agents and forks that run or wait
	Queued  int                // tasks not started
	Names   []string           // of the queued tasks, in the order they were queued
	Asking  int                // open questions
	Mode    permission.Mode    // that holds
	Coming  permission.Mode    // a looser one that was chosen and takes effect soon, unless another is chosen; "": none
	Wall    permission.Sandbox // what the sandbox under commands is worth
	Quiet   policy.Quiet       // whether all mail is held, and until when

	Scheduled int       // schedules that are active
	Due       time.Time // when the next of them is; zero: none
}

// Mailed says that the agent's inbox, or the shown state of its messages, has changed: read it again. An unread feed
// holds at most one of these per agent.
type Mailed struct{ Agent int64 }

// Closed says that the agent's tab was closed.
type Closed struct{ Agent int64 }

// Trouble reports an error of no single agent, such as that another program changed the database's files, and its
// outcome. Err is nil once that is repaired.
type Trouble struct{ Err error }

func (Changed) event()  {}
func (Trouble) event()  {}
func (Appended) event() {}
func (Delta) event()    {}
func (Over) event()     {}
func (Void) event()     {}
func (Output) event()   {}
func (Tally) event()    {}
func (Mailed) event()   {}
func (Closed) event()   {}

// About records the message a fork handles.
func (i *Info) About(m inbox.Message) {
	i.Handles, i.Sender, i.Prompt = m.ID, m.From, history.Fit(m.Text(), history.MaxSubject)
}

// Cut turns i into the state that recovery would give to an agent that no process runs any more.
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
