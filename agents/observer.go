package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/schedule"
	"fantail/agents/tasks"
	"fantail/agents/turn"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// ErrOverlaps is the error of a schedule that fires while its last observer still lives.
var ErrOverlaps = errors.New("the observer of the last time has not ended")

// shown is how long the tab of an ended observer stays open while the human views it.
const shown = 5 * time.Minute

// ObserverOrder says what an observer is to do.
type ObserverOrder struct {
	Schedule   int64  // the schedule that fires
	Name       string // name of the schedule, by which the observer can end it
	Owner      int64  // the agent that gets the report; its heir if it is gone
	Prompt     string
	CancelWhen string   // condition under which it ends its schedule; "": none
	Dir        string   // where it looks, in the workspace; "": everywhere in it
	Checks     []string // names of the checks it may run
	Mark       string   // first line of its report, such as that it is late
	Deliver    inbox.Deliver
	Priority   inbox.Priority
}

// ObserverEnded is the result of an observer.
type ObserverEnded struct {
	Schedule int64
	Agent    int64
	Outcome  string
	Finding  string // what it found, or why it found nothing
	Message  int64  // the report
}

// ObserverOptions are what Observers needs.
type ObserverOptions struct {
	DB     *store.DB
	Inbox  *inbox.Inbox
	Fleet  *fleet.Fleet
	Loops  *turn.Loops
	Ends   *tasks.Ends
	Checks *schedule.Checks
	Root   string // directory of the workspace
	Limits ObserverLimits
}

// Observers runs the observers of a workspace.
type Observers struct {
	o        ObserverOptions
	watching map[int64]*watcher // by observer; living ones only. The fleet's mutex guards it

	// Ended is called in the transaction that ends an observer. Over reports whether the observer's
	// schedule has ended by then, so that the last report can say so. Both may be nil. Set them
	// before agents start.
	Ended func(tx *store.Tx, e ObserverEnded) error
	Over  func(v *store.View, agent int64) (bool, error)
}

var _ turn.Life = &Observers{}

// NewObservers returns an Observers without observers. The loops need it, and it needs them: call
// Begin before the first observer.
func NewObservers() *Observers { return &Observers{watching: map[int64]*watcher{}} }

// Begin sets what observers need.
func (r *Observers) Begin(o ObserverOptions) {
	o.Limits = o.Limits.within()
	r.o = o
}

// Checks returns what observers may run.
func (r *Observers) Checks() *schedule.Checks { return r.o.Checks }

// Gone forgets an ended observer. The caller holds the fleet's mutex.
func (r *Observers) Gone(i event.Info) { delete(r.watching, i.ID) }

// Observe creates an observer inside tx and returns its agent. The observer begins once tx is
// committed and a slot is free. If it can't begin then, or does not come to its end, its owner gets
// mail: the error here is only ErrOverlaps or one of the database.
func (r *Observers) Observe(tx *store.Tx, o ObserverOrder) (int64, error) {
	if lives, err := store.Observing(&tx.View, o.Schedule); err != nil || lives != 0 {
		return 0, errors.Join(err, overlaps(lives))
	}
	owner, err := tasks.Heir(tx, o.Owner)
	if err != nil {
		return 0, err
	}
	above, ok, err := tx.Agent(owner)
	if err != nil || !ok {
		return 0, errors.Join(err, store.Missing(ok, "agent %d", owner))
	}
	row := store.Agent{
		Kind: string(event.Headless), Trust: above.Trust, Parent: owner, Model: above.Model,
		State: string(event.Queued), Created: tx.Now(),
	}
	if row.Name, err = nameFor(&tx.View, o.Name); err != nil {
		return 0, err
	}
	if row.ID, err = tx.AddAgent(row); err != nil {
		return 0, err
	}
	kept := store.Observer{
		Agent: row.ID, Schedule: o.Schedule, Name: o.Name, Prompt: o.Prompt, CancelWhen: o.CancelWhen, Dir: o.Dir,
		Checks: o.Checks, Mark: o.Mark, Deliver: string(o.Deliver), Priority: string(o.Priority),
	}
	if err := store.AddObserver(tx, kept); err != nil {
		return 0, err
	}
	first := event.Prompt{Text: told(kept)}
	if first.ID, err = tx.AddPrompt(row.ID, first.Text, false); err != nil {
		return 0, err
	}
	tx.AfterCommit(func() { r.start(row, kept, first) })
	return row.ID, nil
}

func overlaps(lives int64) error {
	if lives == 0 {
		return nil
	}
	return ErrOverlaps
}

// start begins an observer whose rows are committed.
func (r *Observers) start(row store.Agent, o store.Observer, first event.Prompt) {
	i := event.Info{
		ID: row.ID, Name: row.Name, Kind: event.Headless, Parent: row.Parent, State: event.Queued, Model: row.Model,
		Created: row.Created, Started: row.Created, Attempt: 1, Prompt: o.Prompt, Prompts: []event.Prompt{first},
	}
	tasks.TrustIn(row).Mark(&i)
	w := &watcher{limits: r.o.Limits, schedule: o.Name}
	dir := ""
	dir, w.unready = r.dir(o.Dir)
	under := turn.Watched{Guard: w, Dir: dir}
	if len(o.Checks) > 0 {
		under.Check = func(name string) (tools.Check, error) { return r.check(o.Checks, name) }
	}
	f := r.o.Fleet
	f.Lock()
	defer f.Unlock()
	if f.Closing() {
		return // the next start of the program tells its owner
	}
	l := r.o.Loops.Make(i, 0)
	l.Agent.Info.Window, l.Agent.Info.Priced = l.Agent.Model.Window, l.Agent.Model.Price != nil
	turn.Watch(l, under)
	r.watching[l.Agent.ID] = w
	f.Open(l.Agent)
	l.Start()
}

// dir returns the directory where an observer looks: the workspace or one below it. Links are
// resolved now, so that the path can't lead elsewhere later.
func (r *Observers) dir(asked string) (string, error) {
	if asked == "" {
		return r.o.Root, nil
	}
	if !filepath.IsAbs(asked) {
		asked = filepath.Join(r.o.Root, asked)
	}
	dir, err := filepath.EvalSymlinks(asked)
	if err != nil {
		return r.o.Root, fmt.Errorf("find its directory: %w", err)
	}
	if rel, err := filepath.Rel(r.o.Root, dir); err != nil || !filepath.IsLocal(rel) {
		return r.o.Root, fmt.Errorf("its directory %s is outside the workspace", asked)
	}
	if i, err := os.Stat(dir); err != nil || !i.IsDir() {
		return r.o.Root, fmt.Errorf("%s is no directory", asked)
	}
	return dir, nil
}

// check finds a check if it is attached.
func (r *Observers) check(attached []string, name string) (tools.Check, error) {
	if !slices.Contains(attached, name) {
		return tools.Check{}, fmt.Errorf("no check %q is attached to this task; attached is %s", name, strings.Join(attached, ", "))
	}
	return r.o.Checks.Find(r.o.Fleet.Context(), name)
}

// Attend runs an observer from start to end: one turn, once it has a slot.
func (r *Observers) Attend(ctx context.Context, l *turn.Loop) {
	SingleTurn{Fleet: r.o.Fleet, DB: r.o.DB, Ready: r.watcher(l.Agent.ID).unready, Limit: r.o.Limits.Time, Shown: shown}.Attend(ctx, l)
}

// watcher returns the watcher of a living observer.
func (r *Observers) watcher(agent int64) *watcher {
	r.o.Fleet.Lock()
	defer r.o.Fleet.Unlock()
	return r.watching[agent]
}

// nameFor returns a name for a schedule's next observer: headless-NAME-1, headless-NAME-2, … No
// number is used twice.
func nameFor(v *store.View, of string) (string, error) {
	plain := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
			return c
		}
		return '-'
	}, of)
	called := func(n int) string { return fmt.Sprintf("headless-%s-%d", plain[:min(len(plain), 40)], n) }
	n, err := tasks.FirstFree(func(n int) (bool, error) {
		if queued, err := v.TaskQueued(called(n)); queued || err != nil {
			return true, err
		}
		_, used, err := v.AgentByName(called(n))
		return used, err
	})
	return called(n), err
}

// told returns an observer's prompt.
func told(o store.Observer) string {
	if o.CancelWhen == "" {
		return o.Prompt
	}
	return fmt.Sprintf("%s\n\n---\nYou have a cancel condition: \"%s\"\n"+
		"If this condition is now satisfied, call the schedule tool with action \"unregister\" and task_id \"%s\" "+
		"to stop this recurring check.\n", o.Prompt, o.CancelWhen, o.Name)
}
