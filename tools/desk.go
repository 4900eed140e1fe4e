package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/tools/allowance"
	"fantail/tools/permit"
)

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
	// transaction and return its entry (0: nothing was taken). Without a callID the call
	// stands elsewhere: the messages are appended by themselves.
	Receive(ctx context.Context, callID, from string, lifo bool, timeout time.Duration) (text string, entry int64, err error)
	Check(ctx context.Context, callID, from string, lifo bool) (text string, entry int64, err error)
	// Delegate pushes t and starts it. In mode sync wait is what waits for its end and
	// appends it as the calling tool's result; else wait is nil and text is the result.
	// Mode "" is what suits the program.
	Delegate(ctx context.Context, callID string, t Task, mode string) (text string, wait Wait, err error)
	Read(ctx context.Context, callID string, id int64, offset int) (text string, entry int64, err error)
	Memory(ctx context.Context, m Memory) (string, error)
	Schedule(ctx context.Context, t Timer) (string, error)
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
	Name        string
	Prompt      string
	Model       string
	Agent       string // that a file describes, which works with Model in place of its own; "": see Model
	Timeout     time.Duration
	Budget      allowance.Amount // what its agent and those below may use; none: as much as usual
	Deliver     string           // "", hold, next, wake
	Interactive bool             // its agent awaits input where a turn of it ends
	Idle        time.Duration    // for how long; 0: as long as usual, Forever: for ever
	Start       bool             // start it at once
	After       []string         // the tasks it waits for, by name
	Resume      bool             // the ended agent of that name goes on with its transcript
}

// Forever as the time an agent awaits input: it does not end by itself.
const Forever time.Duration = -1

// Start is what run takes.
type Start struct {
	Count   int           // tasks at once; 0: as many as may run
	Once    bool          // start so many (0: all) and leave the rest queued
	Timeout time.Duration // for tasks without their own; 0: none
}

// The longest a task, or a wait for a message, may be given.
const mostSeconds = 7 * 24 * 3600

// internal makes the call of a tool that reaches upward.
func (c call) internal(f func(ctx context.Context, d Desk) Result) *Call {
	return &Call{Action: c.action(permit.Internal), Run: func(ctx context.Context) Result {
		if c.env.Desk == nil {
			return fail("%s: not possible here", c.tool.name)
		}
		return f(ctx, c.env.Desk)
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

// oneOf checks a word against those that are allowed; "" is left to the default.
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
	return time.Duration(*v) * time.Second, between("timeout", *v, 1, mostSeconds)
}

// budget reads how much an agent may use; "": it does not say.
func budget(s string) (allowance.Amount, error) {
	if s == "" {
		return allowance.Amount{}, nil
	}
	return allowance.Parse(s)
}

// awaiting is how the agent of a task awaits input, as arguments say it.
type awaiting struct {
	stays   bool
	seconds *int
}

// time returns for how long, as in Task.
func (w awaiting) time() (time.Duration, error) {
	switch {
	case w.seconds == nil:
		return 0, nil
	case !w.stays:
		return 0, errors.New(`the argument "idle" needs "interactive": true`)
	case *w.seconds == 0:
		return Forever, nil
	}
	return time.Duration(*w.seconds) * time.Second, between("idle", *w.seconds, 0, mostSeconds)
}

// from is the title of a tool that takes mail.
func from(verb string, a loose) string {
	if f := a.word("from"); f != "" {
		return verb + " from " + f
	}
	return verb
}
