// Package tools is what a model may do; one tool is one .go and one .md.
//
// Does: describe the tools to a model, turn a call's arguments into an action
// for the gate and then into work, keep file access inside the workspace.
//
// Does not: decide (permit does), ask, know a model, or write to the database:
// what reaches upward goes through [Desk].
//
// Imports: tools/permit, tools/proc, tools/secret.
package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/tools/secret"
)

// Spec describes a tool to a model. Schema is a JSON Schema object.
type Spec struct {
	Name        string
	Description string
	Schema      json.RawMessage
	ReadOnly    bool // calls may run in parallel with other read-only calls
}

// Call is a parsed call: what it would do, and how to do it. Run must not be
// called before the gate allowed Action. Start, if there is one, is called
// before it, for neighbours in their order. With Asks there is no Run: the human's
// answer is the result.
type Call struct {
	Action permit.Action
	Beside string // neighbours with the same word here may run side by side; "": alone
	Start  func(ctx context.Context)
	Run    func(ctx context.Context) Result
	Asks   *Question
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
	Root    string                           // the workspace, absolute and resolved
	Private []string                         // directories and files no tool may open (database, sockets, configuration)
	Outputs string                           // the directory of this agent's tool-output files; readable by read_file
	Environ []string                         // for commands
	Keys    *secret.Keys                     // what nothing is shown of; nil: none
	Desk    Desk                             // what reaches upward
	Tick    func(callID string, tail string) // a command's latest output
	Hurry   <-chan struct{}                  // once it is closed, commands that are to end get only a moment for it; nil: a call's end hurries
	Seen    *Seen                            // which files were read, and how they were then
	Changes *permit.Changes                  // where it is noted what these tools write and run; nil: nowhere

	Keep func(proc.Group) func() // has a command's group ended if this program dies; nil: nobody does

	// Started records a command before it runs; an error keeps it from running.
	Started func(ctx context.Context, callID, output string, g proc.Group) error
}

// Desk is how tools reach the agents. Errors are text for the model.
type Desk interface {
	Push(ctx context.Context, t Task) (string, error)
	Run(ctx context.Context, s Start) (string, error)
	Queue(ctx context.Context, remove string) (string, error)
	Send(ctx context.Context, m Mail) (string, error)
	Reply(ctx context.Context, id int64, body string) (string, error)
	Messages(ctx context.Context, f Filter) (string, error) // takes nothing
	// Receive waits for one message, Check takes all that are ready and Read takes
	// one that is pending; they append the calling tool's result in the take's
	// transaction and return its entry (0: nothing was taken).
	Receive(ctx context.Context, callID, from string, lifo bool, timeout time.Duration) (text string, entry int64, err error)
	Check(ctx context.Context, callID, from string, lifo bool) (text string, entry int64, err error)
	// Delegate pushes t and starts it. In mode sync wait is what waits for its end and
	// appends it as the calling tool's result; else wait is nil and text is the result.
	// Mode "" is what suits the program.
	Delegate(ctx context.Context, callID string, t Task, mode string) (text string, wait Wait, err error)
	Read(ctx context.Context, callID string, id int64, offset int) (text string, entry int64, err error)
	Memory(ctx context.Context, m Memory) (string, error)
}

// Mail is what send takes.
type Mail struct {
	To       []string
	Body     string
	Priority string // "", low, normal, high, urgent
	Tags     []string
}

// Memory is what memory takes.
type Memory struct {
	Action string // list, read, write, append
	Name   string
	Text   string
	Offset int
	Expect *int // the version that the writer knows
}

// Filter is what list_messages takes. Empty fields match all.
type Filter struct {
	From, Priority string
	Taken          bool // those that were taken too
}

// Wait waits for the end of a task; it returns as Receive does.
type Wait func(ctx context.Context) (text string, entry int64, err error)

// Task is what push takes.
type Task struct {
	Name    string
	Prompt  string
	Model   string
	Timeout time.Duration
	Deliver string   // "", hold, next, wake
	Start   bool     // start it at once
	After   []string // the tasks it waits for, by name
	Resume  bool     // the ended agent of that name goes on with its transcript
}

// Start is what run takes.
type Start struct {
	Count   int           // tasks at once; 0: as many as may run
	Once    bool          // start so many (0: all) and leave the rest queued
	Timeout time.Duration // for tasks without their own; 0: none
}

// tool is one tool. parse gets whole JSON; title gets whatever the model sent.
type tool struct {
	name     string
	text     string // its .md
	schema   string
	readOnly bool              // its calls may run side by side
	writes   bool              // its arguments become what stands in a file
	spelt    map[string]string // other names of its arguments -> their own
	parse    func(c call) (*Call, error)
	title    func(a loose) string
}

// call is what parse works on.
type call struct {
	env   *Env
	id    string
	tool  *tool
	args  json.RawMessage
	title string
}

// action is the call's action without what it touches.
func (c call) action(k permit.Kind) permit.Action {
	return permit.Action{Tool: c.tool.name, Kind: k, Title: c.title, Dir: c.env.Root}
}

// Set is the tools of a program.
type Set struct{ list []tool }

// New returns all tools.
func New() *Set {
	return &Set{list: []tool{
		readFile(), writeFile(), editFile(), listFiles(), globFiles(), grepFiles(), bash(),
		push(), run(), queue(), delegate(), send(), receive(), check(), listMessages(), readMessage(), replyToMessage(), memory(), askUser(),
	}}
}

// Without returns the set without the named tools: no model is offered them, and
// a call of one is refused like that of a tool that never was.
func (s *Set) Without(names []string) (*Set, error) {
	var rest []tool
	known := make(map[string]bool, len(s.list))
	for _, t := range s.list {
		known[t.name] = true
		if !slices.Contains(names, t.name) {
			rest = append(rest, t)
		}
	}
	for _, n := range names {
		if !known[n] {
			return nil, s.none(n)
		}
	}
	return &Set{list: rest}, nil
}

// Only returns those of the set that are named.
func (s *Set) Only(names ...string) *Set {
	var some []tool
	for _, t := range s.list {
		if slices.Contains(names, t.name) {
			some = append(some, t)
		}
	}
	return &Set{list: some}
}

// none is the error of a name no tool has.
func (s *Set) none(name string) error {
	names := make([]string, 0, len(s.list))
	for _, t := range s.list {
		names = append(names, t.name)
	}
	return fmt.Errorf("there is no tool %q; the tools are %s", name, strings.Join(names, ", "))
}

// Specs lists the tools in a fixed order.
func (s *Set) Specs() []Spec {
	out := make([]Spec, 0, len(s.list))
	for _, t := range s.list {
		out = append(out, Spec{Name: t.name, Description: strings.TrimSpace(t.text), Schema: json.RawMessage(t.schema), ReadOnly: t.readOnly})
	}
	return out
}

// Parse turns a call into what it would do. An unknown tool or bad arguments are
// an error whose text tells the model what to do instead. Parse may read files of
// the workspace, to show an edit as a diff; it changes nothing.
func (s *Set) Parse(env *Env, callID, name string, args json.RawMessage) (*Call, error) {
	t, args := s.meant(name, args)
	if t == nil {
		return nil, s.none(name)
	}
	if key := env.Keys.Marked(string(args)); key != "" && t.writes {
		return nil, fmt.Errorf("%s: %s stands for a key that is kept from you; written to a file it would take the key's place: leave that line alone, and change others with edit_file",
			name, secret.Mark(key))
	}
	c, err := t.parse(call{env: env, id: callID, tool: t, args: args, title: s.Title(t.name, args)})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if t.readOnly {
		c.Beside = "read"
	}
	return c, nil
}

// Title is the one line a call shows as, even if its arguments are bad.
func (s *Set) Title(name string, args json.RawMessage) string {
	t, args := s.meant(name, args)
	if t == nil {
		return line(name)
	}
	var a loose
	if json.Unmarshal(t.retype(args), &a) != nil {
		return line(t.name)
	}
	return line(t.title(a))
}

// fail is a result that tells the model what went wrong.
func fail(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), Error: true}
}
