// Package tools is what a model may do; one tool is one .go and one .md.
//
// Does: describe the tools to a model, turn a call's arguments into an action
// for the gate and then into work, keep file access inside the workspace.
//
// Does not: decide (permit does), ask, know a model, or write to the database:
// what reaches upward goes through [Desk].
//
// Imports: tools/permit, tools/proc.
package tools

import (
	"context"
	"encoding/json"
	"time"

	"fantail/tools/permit"
	"fantail/tools/proc"
)

// Spec describes a tool to a model. Schema is a JSON Schema object.
type Spec struct {
	Name        string
	Description string
	Schema      json.RawMessage
	ReadOnly    bool // calls may run in parallel with other read-only calls
}

// Call is a parsed call: what it would do, and how to do it.
type Call struct {
	Action   permit.Action
	ReadOnly bool
	Run      func(ctx context.Context) Result
}

// Result is what a call gives the model and the screen. A tool never returns a
// Go error: what went wrong is text for the model with Error set.
type Result struct {
	Text  string
	Error bool
	Diff  string // unified diff of an edit, for the screen
	File  string // the file with the whole output, if Text is cut
	Exit  *int   // a command's exit code
	Entry int64  // for a tool that takes mail: the entry its take already appended; 0: none
}

// Env is where one agent's tools work. One Env belongs to one agent.
type Env struct {
	Root    string                                           // the workspace, absolute and resolved
	Private []string                                         // directories and files no tool may open (database, sockets, configuration)
	Outputs string                                           // the directory of this agent's tool-output files; readable by read_file
	Environ []string                                         // for commands
	Desk    Desk                                             // what reaches upward
	Started func(callID string, output string, g proc.Group) // a command runs; recorded before it goes on
	Tick    func(callID string, tail string)                 // its latest output
	Seen    *Seen                                            // which files were read, and how they were then
}

// Desk is how tools reach the agents. Errors are text for the model.
type Desk interface {
	Push(ctx context.Context, t Task) (string, error)
	Run(ctx context.Context, count int) (string, error)
	Queue(ctx context.Context) (string, error)
	Send(ctx context.Context, to, body, priority string) (string, error)
	// Receive waits for one message and Check takes all that are ready; both
	// append the calling tool's result in the take's transaction and return its entry (0: nothing was taken).
	Receive(ctx context.Context, callID, from string, lifo bool, timeout time.Duration) (text string, entry int64, err error)
	Check(ctx context.Context, callID, from string, lifo bool) (text string, entry int64, err error)
}

// Task is what push takes.
type Task struct {
	Name    string
	Prompt  string
	Model   string
	Timeout time.Duration
	Deliver string // "", hold, next, wake
	Start   bool   // start it at once (delegate)
}

// Set is the tools of a program.
type Set struct{ contract }

type contract struct{}

// Seen remembers files as they were read (by device, inode, size, time, hash).
type Seen struct{ contract }

// NewSeen returns an empty memory.
func NewSeen() *Seen { panic("contract") }

// New returns all tools.
func New() *Set { panic("contract") }

// Specs lists the tools in a fixed order.
func (s *Set) Specs() []Spec { panic("contract") }

// Parse turns a call into what it would do. An unknown tool or bad arguments are
// an error whose text tells the model what to do instead.
func (s *Set) Parse(env *Env, callID, name string, args json.RawMessage) (*Call, error) {
	panic("contract")
}

// Title is the one line a call shows as, even if its arguments are bad.
func (s *Set) Title(name string, args json.RawMessage) string { panic("contract") }
