// Package schedule is what is due when: reminders, tasks and plain commands.
//
// Does: keep schedules and their runs as rows ([Room.Add], List, Pause, Resume, Remove, Now), wait for the next one that
// is due and fire it, each in one transaction: the run's row with the reminder, or with what [Options.Fire] begins. What
// Fire began ends with [End], in the transaction that ends the work; until then the schedule does not fire again.
//
// Does not: start an agent or a command, decide when mail enters a conversation, know a screen. A timer only wakes: what
// is due is in the rows, so that nothing is lost with a process, and a clock that leaps is looked at with [Room.Leapt].
//
// Imports: agents/schedule/when, inbox, store.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"fantail/agents/schedule/when"
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

// State is what becomes of a schedule.
type State string

const (
	Active State = "active"
	Paused State = "paused"
	Ended  State = "ended"
)

// Who registered a schedule.
const (
	Human = "human"
	Agent = "agent"
	CLI   = "cli" // a command outside of the program
)

// Limits of what may be scheduled.
const (
	Least     = 5 * time.Minute // between two times that a schedule is due
	MostTasks = 10              // tasks and commands active at once, unless the configuration says otherwise
	Ceiling   = 50              // what it may say, and how many reminders may be active at once
	MostRuns  = 100             // after which a schedule that repeats ends
	Horizon   = 24 * time.Hour  // a schedule due later keeps no process: it may fire late
	mostFails = 5               // in a row that could not start, after which one ends

	lateAfter   = time.Minute // so long after it was due it is late
	retry       = 30 * time.Second
	mostText    = 4000 // bytes of what is to be said or done
	mostName    = 40   // bytes of a name
	mostFinding = 300  // bytes kept of what a run found
)

// Order is what is asked for.
type Order struct {
	Name       string // "": one is made up
	Owner      int64  // who registers it, and gets its mail
	Origin     string // Human, Agent or CLI
	Kind       Kind
	Text       string // what is to be said or done
	CancelWhen string // of a task: the condition that ends it
	Checks     string // of a task: names of the checks it may run, with spaces
	Dir        string // where it is done; "": the workspace
	Always     bool   // of a command: it reports each outcome, not only one that changed
	Deliver    inbox.Deliver
	Priority   inbox.Priority
	When       when.When
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
	return max(0, MostRuns-s.Runs)
}

// Run is one time that a schedule fired.
type Run struct {
	ID       int64
	Schedule int64
	Due      time.Time
	Fired    time.Time
	Missed   int // the times it was due before, and nobody was there
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

// Mark says of a run that was late what people should know; "": it was on time.
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
	Recipient int64 // whose inbox gets what comes of it: the owner, or who inherits from it
}

// Options are what New needs.
type Options struct {
	DB    *store.DB
	Inbox *inbox.Inbox
	Now   func() time.Time // the database's clock
	Zone  *time.Location   // of the clock on the wall; nil: the local one
	Most  int              // tasks and commands active at once; 0: MostTasks

	// Heir returns who gets an agent's mail: itself, or who inherits from it.
	Heir func(tx *store.Tx, agent int64) (int64, error)

	// Fire begins what a task or command is to do, in the transaction that fires it, and tells with Began what carries
	// it out. Its error says why it can't start, and comes to the recipient as a failure. nil: nothing can.
	Fire func(tx *store.Tx, f Firing) error

	// Recover ends the runs that the process before this one began and nobody carries on. nil: there are none.
	Recover func(tx *store.Tx) error

	// Alarm is told when the next schedule is due, zero: none is, for where the machine's sleep holds timers up: somebody
	// calls Leapt then, if the clock leapt. nil: nobody need be told.
	Alarm func(at time.Time) error

	Changed func()      // called where Run saw a change of what is scheduled; quick. nil: nobody cares
	Trouble func(error) // gets what keeps schedules from firing, which is tried again; nil once that is over
}

// Room is what is scheduled in a workspace. It is safe for concurrent use.
type Room struct {
	o      Options
	poke   chan struct{}
	leapt  atomic.Bool
	active atomic.Int64
	next   atomic.Int64 // when the next one is due, in milliseconds; 0: none is
}

// New returns the schedules of a workspace. Nothing fires before Run.
func New(o Options) *Room {
	if o.Most == 0 {
		o.Most = MostTasks
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	r := &Room{o: o, poke: make(chan struct{}, 1)}
	r.leapt.Store(true) // who knows what the clock did since the rows were written
	return r
}

// Summary returns how many schedules are active, and when the next one is due (zero: none), as of the last commit that
// Run saw or this room made.
func (r *Room) Summary() (active int, next time.Time) {
	if ms := r.next.Load(); ms != 0 {
		next = time.UnixMilli(ms)
	}
	return int(r.active.Load()), next
}

// Stays returns how long the process that has the agents stays for what is due next; 0: that is no reason to.
func (r *Room) Stays(now time.Time) time.Duration {
	_, next := r.Summary()
	if left := next.Sub(now); !next.IsZero() && left <= Horizon {
		return max(left, 0) + time.Second // it looks again once that has fired
	}
	return 0
}

// Poke has Run look at the rows again: another process may have changed them.
func (r *Room) Poke() {
	select {
	case r.poke <- struct{}{}:
	default:
	}
}

// Leapt tells that the clock on the wall was set, or the machine slept.
func (r *Room) Leapt() {
	r.leapt.Store(true)
	r.Poke()
}

// changed hangs on tx that the rows were changed.
func (r *Room) changed(tx *store.Tx) {
	tx.Local(r, func() any {
		tx.AfterCommit(r.Poke)
		return nil
	})
}

// Add registers a schedule.
func (r *Room) Add(ctx context.Context, o Order) (s Schedule, err error) {
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
func (r *Room) AddIn(tx *store.Tx, o Order) (Schedule, error) {
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
	r.changed(tx)
	return s, nil
}

// milli is t as a row keeps it.
func milli(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()) }

// now returns the time of a transaction, on the clock on the wall.
func (r *Room) now(tx *store.Tx) time.Time { return tx.Now().In(r.o.Zone) }

// complete fills in what is empty and refuses what can't be scheduled.
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
	switch {
	case o.Kind != Reminder && o.Kind != Task && o.Kind != Command:
		return fmt.Errorf("unknown kind %q: reminder or task", o.Kind)
	case o.Text == "" && o.Kind == Reminder:
		return errors.New("a reminder needs a text")
	case o.Text == "" && o.Kind == Command:
		return errors.New("a schedule needs a command")
	case o.Text == "":
		return errors.New("a scheduled task needs a prompt")
	case len(o.Text) > mostText:
		return fmt.Errorf("its text has %d bytes; %d are the most", len(o.Text), mostText)
	case o.Kind != Task && (o.CancelWhen != "" || o.Checks != ""):
		return fmt.Errorf("a %s takes neither a condition nor checks: no agent looks at them", o.Kind)
	case o.CancelWhen != "" && !o.When.Repeats():
		return errors.New("a condition ends what repeats; this is due only once")
	}
	return nil
}

// room refuses one more than may be active.
func (r *Room) room(tx *store.Tx, k Kind) error {
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
	if len(name) > mostName {
		return fmt.Errorf("the name %q is longer than %d letters", name, mostName)
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
