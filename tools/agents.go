package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/tools/permission"
)

// Agents is how tools reach the agents. Errors are text for the model.
type Agents interface {
	Push(ctx context.Context, t Task) (string, error)
	Run(ctx context.Context, s Start) (string, error)
	Queue(ctx context.Context, remove string) (string, error)
	Send(ctx context.Context, m Mail) (string, error)
	Reply(ctx context.Context, id int64, body string) (string, error)
	Messages(ctx context.Context, f Filter) (string, error) // does not take them
	// Receive waits for one message, Check takes all that are ready and Read takes one that is pending. They append the
	// calling tool's result in the take's transaction and return its entry (0: they took nothing). Without a callID the
	// call has no result in the transcript: the messages are appended by themselves.
	Receive(ctx context.Context, callID, from string, lifo bool, timeout time.Duration) (text string, entry int64, err error)
	Check(ctx context.Context, callID, from string, lifo bool) (text string, entry int64, err error)
	// Delegate pushes t and starts it. In mode sync, wait waits for its end and appends the end as the calling tool's
	// result; else wait is nil and text is the result. Mode "" means the program's default.
	Delegate(ctx context.Context, callID string, t Task, mode string) (text string, wait Wait, err error)
	Read(ctx context.Context, callID string, id int64, offset int) (text string, entry int64, err error)
	Memory(ctx context.Context, m Memory) (string, error)
	Schedule(ctx context.Context, t Timer) (string, error)
}

// Mail is the input of send.
type Mail struct {
	To       []string
	Body     string
	Priority string // "", low, normal, high, urgent
	Tags     []string
}

// Memory is the input of memory.
type Memory struct {
	Action string // list, read, write, append
	Name   string
	Text   string
	Offset int
	Expect *int // the version that the writer knows
}

// Filter is the input of list_messages. Empty fields match all.
type Filter struct {
	From, Priority string
	Taken          bool // also taken ones
}

// Wait waits for the end of a task; it returns as Receive does.
type Wait func(ctx context.Context) (text string, entry int64, err error)

// Task is the input of push.
type Task struct {
	Name        string
	Suggested   string // what its name begins with if Name is "": a number makes it unused; "": any name
	Prompt      string
	Model       string
	Agent       string // an agent of a file, which works with Model instead of its own; "": see Model
	Timeout     time.Duration
	Budget      Amount        // limit of its agent and those below; none: the default
	Deliver     string        // "", hold, next, wake
	Interactive bool          // its agent waits for input when a turn ends
	Idle        time.Duration // for how long; 0: as long as usual, Forever: for ever
	Start       bool          // start it at once
	After       []string      // the tasks it waits for, by name
	Resume      bool          // the ended agent of that name continues its transcript
}

// Forever as the time that an agent waits for input: it does not end by itself.
const Forever time.Duration = -1

// Start is the input of run.
type Start struct {
	Count   int           // concurrent tasks; 0: as many as may run
	Once    bool          // start so many (0: all) and leave the rest queued
	Timeout time.Duration // for tasks without their own; 0: none
}

// maxSeconds is the largest limit of a task, or of a wait for a message.
const maxSeconds = 7 * 24 * 3600

// internal makes the call of a tool that reaches upward.
func (c call) internal(f func(ctx context.Context, d Agents) Result) *Call {
	return &Call{Action: c.action(permission.Internal), Run: func(ctx context.Context) Result {
		if c.env.Agents == nil {
			return fail("%s: not possible here", c.tool.name)
		}
		return f(ctx, c.env.Agents)
	}}
}

// answer is the result of a text and an error.
func answer(text string, err error) Result {
	if err != nil {
		if text != "" {
			text += "\n"
		}
		return Result{Text: text + err.Error(), Error: true}
	}
	return Result{Text: text}
}

// oneOf checks that a word is allowed; "" means the default.
func oneOf(name, v string, allowed ...string) error {
	if v == "" || slices.Contains(allowed, v) {
		return nil
	}
	return fmt.Errorf("the argument %q must be %s, not %q", name, strings.Join(allowed, ", "), v)
}

// seconds turns an optional number of seconds into a duration.
func seconds(v *int) (time.Duration, error) {
	if v == nil {
		return 0, nil
	}
	return time.Duration(*v) * time.Second, between("timeout", *v, 1, maxSeconds)
}

// budget reads a budget; "": none is given.
func budget(s string) (Amount, error) {
	if s == "" {
		return Amount{}, nil
	}
	return ParseAmount(s)
}

// from is the title of a tool that takes mail.
func from(verb string, a loose) string {
	if f := a.word("from"); f != "" {
		return verb + " from " + f
	}
	return verb
}
