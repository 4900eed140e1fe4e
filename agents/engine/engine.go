// Package engine runs turns that an agent of another vendor carries out. The protocol is in
// agents/acp.
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

// Engine is a provider that carries out whole turns. As a provider it refuses every single request.
type Engine interface {
	llm.Provider
	NewSession(Options) Session // session in which it works as that agent; nothing is started yet
}

// ErrNoRequests is an engine's answer to a request.
var ErrNoRequests = errors.New("an agent of another vendor carries out whole turns, and answers no single request")

// ErrUnasked is the error of a question that no human is there to answer.
var ErrUnasked = errors.New("nobody is here to be asked")

// ErrLost is the error of a question whose program has ended.
var ErrLost = errors.New("its program has ended")

// ErrRefused is the error of an engine that ended its turn because the human said no.
var ErrRefused = errors.New("what it asked for was refused")

// Options describe the agent as which an engine works, and connect the engine to it.
type Options struct {
	Agent int64
	Name  string
	Dir   string // directory of the workspace
	Go    func(name string, f func())

	// Run says how to run the engine's program. The caller calls its End when the program has
	// ended.
	Run func(p Program) (Run, error)

	// Tools returns our tools that the engine may call in a turn. Call carries out such a call; if
	// it succeeds, the engine counts as having what the tool took out of the inbox. Theirs reports
	// whether a process belongs to the engine's program.
	Tools  func() []tools.Spec
	Call   func(ctx context.Context, name string, args json.RawMessage) tools.Result
	Theirs func(pid int) bool

	// Ask asks the human and returns the answer: an option's label or free text. call is the call
	// that the question is about. It may be called while Next runs, one question at a time. A
	// question outlives the engine's program: if the program ends first, the turn goes on with the
	// answer once it is there.
	Ask func(ctx context.Context, call, title string, q tools.Question) (string, error)

	// Grace returns how long the engine may take to end a turn that is stopped for that cause,
	// before its program is ended.
	Grace func(cause error) time.Duration

	// Later adds a text to what the engine is told next. It may be called while Next runs.
	Later func(text string)

	// Stirs reports that the engine has something to say outside a turn, so that its agent begins
	// one. It never blocks.
	Stirs func()

	Load   func(ctx context.Context) (State, error)
	Save   func(ctx context.Context, s State) error
	Output func(call, tail string) // shows the end of a call's output so far on the screen
	Filled func(tokens, window int)
}

// Program describes an engine's program.
type Program struct {
	Argv  []string // the first is an absolute path
	Env   []string // in addition to the environment of the agent's commands
	Write []string // paths outside the workspace that it must write; one that ends in / is created if missing
	Read  []string // paths that it must read although the sandbox hides them
	Free  bool     // it runs as the user, without a sandbox
}

// Run says how a program runs.
type Run struct {
	proc.Spec
	Door string // its own directory, through which it reaches this program
	End  func()
}

// State is what an engine has of the agent's conversation, as stored.
type State struct {
	Vendor  string // the vendor that the rest belongs to
	Session string // the engine's session; "": none
	Sent    int64  // last entry that it has
	Sending int64  // last entry being sent to it; 0: none
	Settled int64  // last entry that it had when a turn ended; later ones may be lost if its program ended
}

// Input is a text for an engine.
type Input struct {
	Text  string
	UpTo  int64 // last entry in the text
	Again bool  // the engine may have got it already
}

// Session carries out the turns of one agent. Only the agent's loop calls it, except End.
type Session interface {
	// Open continues the conversation whose first entry is since, or begins one. It returns the
	// last entry that the engine has, 0 for none, and whether later ones may have reached it
	// nevertheless.
	Open(ctx context.Context, since int64) (sent int64, doubt bool, err error)

	// Say adds a text to the current turn, or begins a turn. If the engine can't take it now, it
	// begins another turn as soon as the current one has ended.
	Say(ctx context.Context, w Input) error

	// Next yields text, thinking and calls of the engine until a call begins or ends, or the turn
	// is over. Only then its Stop is not [llm.ToolUse].
	Next(ctx context.Context) iter.Seq2[llm.Part, error]

	// Ended returns the calls that have ended since the last time, each once, and notes for the
	// human.
	Ended() (done []Done, notes []string)

	// Had records that the engine has all entries up to upTo, some as results of its calls.
	Had(ctx context.Context, upTo int64) error

	// Steers reports whether text can be added to a running turn.
	Steers() bool

	// Rest notes that no turn runs, so that what uses memory may end after a while.
	Rest()

	// End ends the engine's program and waits for it.
	End()
}

// Done is a call that has ended.
type Done struct {
	Call   string
	Result tools.Result
	Cut    bool // it ended with the turn, not by itself
}
