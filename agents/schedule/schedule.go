// Package schedule stores when reminders, commands, observers and checks are due, and runs them then.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
)

// Kind is what happens when a schedule is due.
type Kind string

const (
	Reminder Kind = "reminder" // its text comes as mail
	Task     Kind = "task"     // an observer carries it out
	Command  Kind = "command"  // a command line the human typed runs
)

// State is the state of a schedule.
type State string

const (
	Active State = "active"
	Paused State = "paused"
	Ended  State = "ended"
)

// The origins of a schedule.
const (
	Human = "human"
	Agent = "agent"
	CLI   = "cli" // a command outside of the program
)

// NoSandbox is the Sandbox of a command that runs as the user.
const NoSandbox = "off"

// Limits of what may be scheduled.
const (
	Least    = 5 * time.Minute // between two times that a schedule is due
	MaxTasks = 10              // tasks and commands active at once, unless the configuration says otherwise
	Ceiling  = 50              // the highest limit that the configuration may set, and how many reminders may be active at once
	MaxRuns  = 100             // after which a schedule that repeats ends
	Horizon  = 24 * time.Hour  // a later schedule does not keep the process alive: it may fire late
	maxFails = 5               // in a row that could not start, after which one ends

	lateAfter  = time.Minute // a run that late after its due time counts as late
	retry      = 30 * time.Second
	maxText    = 4000 // bytes of the text to say or carry out
	maxName    = 40   // bytes of a name
	maxFinding = 300  // bytes stored of a run's finding
)

// Order is a request for a schedule.
type Order struct {
	Name       string // "": one is made up
	Owner      int64  // the agent that registers it, and gets its mail
	Origin     string // Human, Agent or CLI
	Kind       Kind
	Text       string // the text to say or carry out
	CancelWhen string // of a task: the condition that ends it
	Checks     string // of a task: names of the checks it may run, with spaces
	Dir        string // where it is done; "": the workspace
	Sandbox    string // of a command: NoSandbox; "": it runs in the sandbox of agents' commands
	Always     bool   // of a command: it reports each outcome, not only a changed one
	Deliver    inbox.Deliver
	Priority   inbox.Priority
	When       When
}

// Schedule is one that was registered.
type Schedule struct {
	Order
	ID      int64
	State   State
	Why     string    // it ended
	Due     time.Time // zero unless active
	Runs    int
	Created time.Time
	Last    Run // the newest run; its ID is 0 if there was none
}

// Left returns how many runs are left.
func (s Schedule) Left() int {
	if !s.When.Repeats() {
		return max(0, 1-s.Runs)
	}
	return max(0, MaxRuns-s.Runs)
}

// Run is one time that a schedule fired.
type Run struct {
	ID       int64
	Schedule int64
	Due      time.Time
	Fired    time.Time
	Missed   int // how many earlier due times were missed because no process ran
	Task     int64
	Agent    int64
	Message  int64
	Outcome  string
	Finding  string    // the beginning of what it found
	Ended    time.Time // zero: it has not
}

// Late returns how late the run fired; 0: on time.
func (r Run) Late() time.Duration {
	if d := r.Fired.Sub(r.Due); d >= lateAfter {
		return d
	}
	return 0
}

// Mark returns a remark for people on a run that was late; "": it was on time.
func (r Run) Mark() string {
	if r.Late() == 0 {
		return ""
	}
	s := "late: it was due " + r.Due.Local().Format("Mon 2 Jan 15:04")
	if r.Missed > 0 {
		s += fmt.Sprintf("; %d more missed", r.Missed)
	}
	return s
}

// Firing is a schedule that is due, as Fire gets it: its run's row is in the transaction.
type Firing struct {
	Schedule
	Run       Run
	Recipient int64 // the agent whose inbox gets the result: the owner, or its heir
}

// Options are what New needs.
type Options struct {
	DB    *store.DB
	Inbox *inbox.Inbox
	Now   func() time.Time   // the database's clock
	Zone  *time.Location     // the zone of the wall clock; nil: the local one
	Most  int                // tasks and commands active at once; 0: MaxTasks
	Seals *tasks.LastingSeal // of the rows: one without its seal is held, and does not fire

	// Heir returns the agent that gets an agent's mail: itself, or its heir.
	Heir func(tx *store.Tx, agent int64) (int64, error)

	// Fire starts the work of a task or command, in the transaction that fires it, and calls Began with what carries
	// it out. Its error says why it can't start, and goes to the recipient as a failure. nil: nothing can start.
	Fire func(tx *store.Tx, f Firing) error

	// Recover ends the runs that the previous process started and this one does not continue. nil: there are none.
	Recover func(tx *store.Tx) error

	// Alarm is called with the time when the next schedule is due, zero: none is. It is for machines whose sleep
	// delays timers: its receiver calls Leapt if the clock jumped. nil: off.
	Alarm func(at time.Time) error

	Held    func(ctx context.Context, name string) // called if a schedule that was due is not sealed; nil: off
	Changed func()                                 // called when Run saw a change of the schedules; must be quick. nil: off
	Trouble func(error)                            // gets an error that stops schedules from firing, which is tried again; nil once that is over
}

// Scheduler manages the schedules of a workspace. It is safe for concurrent use.
type Scheduler struct {
	o      Options
	poke   chan struct{}
	leapt  atomic.Bool
	active atomic.Int64
	next   atomic.Int64 // when the next one is due, in milliseconds; 0: none is
}

// New returns the schedules of a workspace. Nothing fires before Run.
func New(o Options) *Scheduler {
	if o.Most == 0 {
		o.Most = MaxTasks
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	if o.Held == nil {
		o.Held = func(context.Context, string) {}
	}
	r := &Scheduler{o: o, poke: make(chan struct{}, 1)}
	r.leapt.Store(true) // the clock may have been changed since the rows were written
	return r
}

// Summary returns how many schedules are active, and when the next one is due (zero: none), as of the last commit that
// Run saw or this Scheduler made.
func (r *Scheduler) Summary() (active int, next time.Time) {
	if ms := r.next.Load(); ms != 0 {
		next = time.UnixMilli(ms)
	}
	return int(r.active.Load()), next
}

// Stays returns how long the process that has the agents must stay for the next schedule; 0: it need not.
func (r *Scheduler) Stays(now time.Time) time.Duration {
	_, next := r.Summary()
	if left := next.Sub(now); !next.IsZero() && left <= Horizon {
		return max(left, 0) + time.Second // it looks again once that has fired
	}
	return 0
}

// Poke makes Run look at the rows again: another process may have changed them.
func (r *Scheduler) Poke() {
	select {
	case r.poke <- struct{}{}:
	default:
	}
}

// Leapt notes that the wall clock was set, or the machine slept.
func (r *Scheduler) Leapt() {
	r.leapt.Store(true)
	r.Poke()
}

// changed makes Run look at the rows again after tx commits.
func (r *Scheduler) changed(tx *store.Tx) {
	tx.Local(r, func() any {
		tx.AfterCommit(r.Poke)
		return nil
	})
}

// Add registers a schedule.
func (r *Scheduler) Add(ctx context.Context, o Order) (s Schedule, err error) {
	err = r.o.DB.Write(ctx, "schedule", func(tx *store.Tx) error {
		s, err = r.AddIn(tx, o)
		return err
	})
	if err != nil {
		return Schedule{}, fmt.Errorf("schedule: %w", err)
	}
	return s, nil
}

// AddIn is Add inside a transaction.
func (r *Scheduler) AddIn(tx *store.Tx, o Order) (Schedule, error) {
	if err := o.complete(); err != nil {
		return Schedule{}, err
	}
	now := r.now(tx)
	if err := o.When.Check(now, Least); err != nil {
		return Schedule{}, err
	}
	if err := r.room(tx, o.Kind); err != nil {
		return Schedule{}, err
	}
	var err error
	if o.Name, err = nameFor(tx, o); err != nil {
		return Schedule{}, err
	}
	due, err := o.When.First(now)
	if err != nil {
		return Schedule{}, err
	}
	s := Schedule{Order: o, State: Active, Due: milli(due), Created: milli(now)}
	if s.ID, err = insert(tx, s); err != nil {
		return Schedule{}, err
	}
	if err := r.o.Seals.Seal(tx, store.Schedules, s.ID); err != nil {
		return Schedule{}, err
	}
	r.changed(tx)
	return s, nil
}

// milli returns t as a row stores it.
func milli(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()) }

// now returns the time of a transaction in the wall clock's zone.
func (r *Scheduler) now(tx *store.Tx) time.Time { return tx.Now().In(r.o.Zone) }

// complete fills in empty fields and refuses what can't be scheduled.
func (o *Order) complete() error {
	o.Text = strings.TrimSpace(o.Text)
	if o.Kind == "" {
		o.Kind = Task
	}
	if o.Deliver == "" {
		o.Deliver = inbox.Next
	}
	if o.Priority == "" {
		o.Priority = inbox.Normal
	}
	if o.Sandbox == "on" {
		o.Sandbox = ""
	}
	switch {
	case o.Kind != Reminder && o.Kind != Task && o.Kind != Command:
		return fmt.Errorf("unknown kind %q: reminder or task", o.Kind)
	case o.Kind == Command && o.Origin != Human:
		return errors.New("only the human can schedule a command, on a screen: /schedule WHEN !COMMAND")
	case o.Sandbox != "" && o.Sandbox != NoSandbox:
		return fmt.Errorf("sandbox=%s: it is on or off", o.Sandbox)
	case o.Sandbox != "" && o.Kind != Command:
		return errors.New("sandbox=off is for commands (!CMD): an observer's checks run in the sandbox only")
	case o.Text == "" && o.Kind == Reminder:
		return errors.New("a reminder needs a text")
	case o.Text == "" && o.Kind == Command:
		return errors.New("a schedule needs a command")
	case o.Text == "":
		return errors.New("a scheduled task needs a prompt")
	case len(o.Text) > maxText:
		return fmt.Errorf("its text has %d bytes; %d are the most", len(o.Text), maxText)
	case o.Kind != Task && (o.CancelWhen != "" || o.Checks != ""):
		return fmt.Errorf("a %s takes neither a condition nor checks: no agent looks at them", o.Kind)
	case o.CancelWhen != "" && !o.When.Repeats():
		return errors.New("a condition ends what repeats; this is due only once")
	}
	return nil
}

// room refuses one more than may be active.
func (r *Scheduler) room(tx *store.Tx, k Kind) error {
	n, err := count(&tx.View, k)
	switch {
	case err != nil:
		return err
	case k == Reminder && n >= Ceiling:
		return fmt.Errorf("%d reminders are active, which is the most; /schedule rm NAME removes one", n)
	case k != Reminder && n >= r.o.Most:
		return fmt.Errorf("%d schedules are active, which is the most; /schedule rm NAME or pause NAME makes room", n)
	}
	return nil
}

// nameFor returns the name of a new schedule.
func nameFor(tx *store.Tx, o Order) (string, error) {
	if o.Name != "" {
		if err := valid(o.Name); err != nil {
			return "", err
		}
		_, taken, err := find(&tx.View, o.Name)
		if err == nil && taken {
			err = fmt.Errorf("%s is scheduled already; choose another name, or remove it first", o.Name)
		}
		return o.Name, err
	}
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s-%d", o.Kind, n)
		if _, taken, err := find(&tx.View, name); err != nil || !taken {
			return name, err
		}
	}
}

// valid refuses what can't be typed as a name.
func valid(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("the name %q is longer than %d letters", name, maxName)
	}
	for i, c := range name {
		switch {
		case i == 0 && !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'):
			return fmt.Errorf("%q is no name: it begins with a letter", name)
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.ContainsRune("-_.", c):
		default:
			return fmt.Errorf("%q is no name: letters, digits, - _ and . are allowed", name)
		}
	}
	return nil
}
