// Package engine is turns that an agent of another vendor carries out. The protocol is in agents/acp.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"fantail/agents/llm"
	"fantail/tools"
	"fantail/tools/proc"
)

// Engine is a provider whose turns are its own. As a provider it refuses: it answers no single requests.
type Engine interface {
	llm.Provider
	NewSession(Options) Session // in which it works as that agent. Nothing is started.
}

// ErrNoRequests is what an engine answers a request with.
var ErrNoRequests = errors.New("an agent of another vendor carries out whole turns, and answers no single request")

// ErrUnasked is why nobody was asked: nobody is there.
var ErrUnasked = errors.New("nobody is here to be asked")

// ErrLost is why nobody was asked: the program that wanted to know has ended.
var ErrLost = errors.New("its program has ended")

// ErrRefused is why an engine ended its turn: it does not go on where the human says no.
var ErrRefused = errors.New("what it asked for was refused")

// Options is the agent as which an engine works.
type Options struct {
	Agent int64
	Name  string
	Dir   string // the workspace
	Go    func(name string, f func())

	// Run says how the engine's program is to run. Its End is called when that has ended.
	Run func(p Program) (Run, error)

	// Tools are those of ours that the engine may call in a turn, and Call carries out such a call; what a tool takes out of
	// the inbox counts as had by the engine if it answers. Theirs reports whether a process comes from the engine's program.
	Tools  func() []tools.Spec
	Call   func(ctx context.Context, name string, args json.RawMessage) tools.Result
	Theirs func(pid int) bool

	// Ask puts a question to the human and returns what they answer: one of the options' labels, or words of their own. call
	// is the call that it is about. It may be called while Next runs, one at a time. A question outlives the engine's program:
	// where that ends first, the turn goes on with the answer once it is there.
	Ask func(ctx context.Context, call, title string, q tools.Question) (string, error)

	// Grace is how long the engine may take to end a turn that is stopped for that cause, before its program is ended.
	Grace func(cause error) time.Duration

	// Later has the engine told that, with what it is told next. It may be called while Next runs.
	Later func(text string)

	// Stirs says that the engine speaks though no turn goes on: its agent is to begin one, and to hear it. It never waits.
	Stirs func()

	Load   func(ctx context.Context) (State, error)
	Save   func(ctx context.Context, s State) error
	Output func(call, tail string) // the end of what a call has written so far, for the screen
	Filled func(tokens, window int)
}

// Program is the program that an engine is.
type Program struct {
	Argv  []string // the first is an absolute path
	Env   []string // what it gets beside the environment of the agent's commands
	Write []string // what it keeps outside the workspace, and so has to write; what ends in / is made if it is not there
	Read  []string // what it reads though it lies where nothing is seen
	Free  bool     // it runs as the user, in no sandbox
}

// Run is how a program runs.
type Run struct {
	proc.Spec
	Door string // a directory of its own through which it reaches this program
	End  func()
}

// State is what an engine has of the agent's conversation, durably.
type State struct {
	Vendor  string // what the rest belongs to
	Session string // the engine's; "": none began
	Sent    int64  // the last entry that it has
	Sending int64  // the last entry of what is on its way to it; 0: nothing is
	Settled int64  // the last entry that it had as a turn of its ended: what came since may not have outlived its program
}

// Input are what is said to an engine.
type Input struct {
	Text  string
	UpTo  int64 // the last entry they are of
	Again bool  // the engine may have got them already
}

// Session carries out the turns of one agent. Only the agent's loop calls it, but for End.
type Session interface {
	// Open has the engine go on with the conversation whose first entry is since, or begin one. It returns the last entry
	// that the engine has, 0 if it has none, and whether what follows may have reached it all the same.
	Open(ctx context.Context, since int64) (sent int64, doubt bool, err error)

	// Say puts words into the turn that goes on, or begins one. Where the engine does not take them now, they begin another
	// as soon as the first has ended.
	Say(ctx context.Context, w Input) error

	// Next yields what the engine says, thinks and calls until a call begins, one ends, or it is done: then, and only then,
	// its Stop is no [llm.ToolUse].
	Next(ctx context.Context) iter.Seq2[llm.Part, error]

	// Ended returns the calls that have ended since, each once, and what else the human is to read.
	Ended() (done []Done, notes []string)

	// Had says that the engine has all up to that entry: some of it was no words, but what its calls returned.
	Had(ctx context.Context, upTo int64) error

	// Steers reports whether words can be put into a turn.
	Steers() bool

	// Rest says that no turn goes on: what costs memory may end after a while.
	Rest()

	// End ends the engine's program, and waits for it.
	End()
}

// Done is a call that has ended.
type Done struct {
	Call   string
	Result tools.Result
	Cut    bool // it did not end by itself, but with the turn
}
