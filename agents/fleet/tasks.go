package fleet

import (
	"context"
	"fmt"
	"sort"

	"fantail/agents/event"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools"
)

// Line is the fleet's view of the tasks that have not started. The fleet's mutex guards it.
type Line struct {
	fleet *Fleet
	from  map[int64]*Environment // by task: the environment it was queued in; none: the program's own
}

// Enqueue adds a queued task. The caller holds the fleet's mutex, or no other goroutine uses the fleet yet.
func (l *Line) Enqueue(w tasks.QueuedTask) {
	f := l.fleet
	t := w.Task
	q := &tasks.QueuedWork{
		ID: t.ID, Place: t.Place, Name: t.Name, Slot: tasks.Slot{Owner: t.Queue},
		Now: w.Now, Foreign: tasks.FromOutside(t.Origin), Needs: map[int64]string{},
	}
	switch {
	case w.Unsealed:
		q.Held = tasks.Unsealed
	case tasks.FromOutside(t.Origin):
		q.Held = tasks.Outside
	}
	if t.Model != "" {
		if m, err := f.o.Resolve(t.Model); err == nil {
			q.Slot.Vendor, q.Slot.AtOnce = m.Vendor, m.AtOnce
		}
	}
	for _, n := range w.Needs {
		if n.State != tasks.TaskFinished {
			q.Needs[n.ID] = n.Name
		}
	}
	f.Queue.Add(q)
}

// Queued adds a task that was just queued. Its commands run in the environment in which a human queued it, otherwise
// in that of the agent that dispatches it.
func (l *Line) Queued(ctx context.Context, w tasks.QueuedTask) {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	from := EnvironmentOf(ctx)
	if a := f.agents[w.Task.Queue]; from == nil && a != nil {
		from = a.Env.now
	}
	if from != nil {
		l.from[w.Task.ID] = from
	}
	l.shutDrained() // a drained window must not catch the new task
	l.Enqueue(w)
	f.Told()
}

// Leaves removes a task that [Line.Next] returned and whose agent exists now, and frees its slot. It returns the
// results of [tasks.Queue.Begun], and the environment for the agent's commands; nil: the program's own.
func (l *Line) Leaves(task int64) (*tasks.QueuedWork, tasks.Slot, *Environment) {
	t, slot := l.fleet.Queue.Begun(task)
	from := l.from[task]
	delete(l.from, task)
	return t, slot, from
}

// Moved puts tasks in new places.
func (l *Line) Moved(ids, places []int64) {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	for i, id := range ids {
		f.Queue.Move(id, places[i])
	}
	f.Told()
}

// Owner returns the state of the agent whose queue a task joins: its model and its current turn (0: none), and how
// many agents carry out tasks in all.
func (l *Line) Owner(agent int64) (model string, turn int64, live int, err error) {
	a, err := l.fleet.Agent(agent)
	if err != nil {
		return "", 0, 0, err
	}
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	for b := range f.Living() {
		if b.Kind.Tasked() {
			live++
		}
	}
	return a.Info.Model, a.ShownTurn, live, nil
}

// Renamed shows the agent's new name.
func (l *Line) Renamed(agent int64, name string) {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	if a := f.agents[agent]; a != nil {
		a.Change(func(i *event.Info) { i.Name = name })
	}
}

// Known returns the tasks among the changes that are in memory.
func (l *Line) Known(c store.QueueChanges) map[int64]bool {
	l.fleet.Lock()
	defer l.fleet.Unlock()
	known := map[int64]bool{}
	for _, p := range c.Tasks {
		if l.fleet.Queue.Task(p.Task) != nil {
			known[p.Task] = true
		}
	}
	return known
}

// Requeue applies changes of the database to the queue; added are the queued tasks that may not be in memory. A task
// that is being started stays until its agent exists. The caller holds the fleet's mutex.
func (l *Line) Requeue(c store.QueueChanges, added []tasks.QueuedTask) {
	q := l.fleet.Queue
	for _, t := range added {
		if q.Task(t.Task.ID) == nil {
			l.Enqueue(t)
		}
	}
	var gone []int64
	there := map[int64]bool{}
	for _, p := range c.Tasks {
		t := q.Task(p.Task)
		switch {
		case !p.Queued:
			gone = append(gone, p.Task)
		case t != nil:
			q.Arrange(t, p.Queue, p.Place)
		}
		if c.Whole {
			there[p.Task] = true
		}
	}
	if c.Whole {
		for t := range q.All() {
			if !there[t.ID] {
				gone = append(gone, t.ID)
			}
		}
	}
	for _, id := range gone {
		if !q.Starting(id) {
			q.Remove(id)
			delete(l.from, id)
		}
	}
}

// Ended removes a queued task that will not start, or has ended, along with those that waited for it.
func (l *Line) Ended(task int64) {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	f.Queue.Ended(task)
	if !f.Queue.Starting(task) {
		delete(l.from, task)
	}
	f.Told()
}

// Passed gives `to` everything of `from`: its queue, and the agents below it.
func (l *Line) Passed(from, to int64) {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	f.Queue.Pass(from, to)
	for _, a := range f.living {
		if a.Info.Parent == from {
			a.Change(func(i *event.Info) { i.Parent = to })
		}
	}
	f.Told()
}

// Joins reports whether a pushed task starts without another run: its queue is being drained, or it has started
// already.
func (l *Line) Joins(task int64) bool {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	t := f.Queue.Task(task)
	return t == nil || f.Queue.Wanted(t)
}

// Blocked says why a queued task that waits for no other does not start yet; "": nothing is in its way, or it has
// started.
func (l *Line) Blocked(task int64) string {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	if full := f.Queue.Blocked(task); full != "" {
		return f.crowded(f.Queue.Task(task).Slot, full)
	}
	return ""
}

// Waiting returns the queued task of that name (0: none), and whether it starts by itself as soon as it can.
func (l *Line) Waiting(name string) (task int64, starts bool) {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	if t := f.Queue.Named(name); t != nil {
		return t.ID, f.Queue.Wanted(t)
	}
	return 0, false
}

// Next returns the next task that may start, with its slot reserved; nil: none.
func (l *Line) Next() *tasks.QueuedWork {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	if f.closing {
		return nil
	}
	l.shutDrained()
	return f.Queue.Next()
}

// Work returns the live agents that carry out an agent's tasks. The caller holds the fleet's mutex.
func (f *Fleet) Work(owner int64) (as []*Agent) {
	for _, a := range f.living {
		if a.Kind.Tasked() && a.Info.Parent == owner && a.Info.State != event.Idle {
			as = append(as, a)
		}
	}
	return as
}

// Unended reports whether a task is queued, or its agent is at work.
func (l *Line) Unended(task int64) bool {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	if f.Queue.Task(task) != nil {
		return true
	}
	for _, a := range f.living {
		if a.Task == task {
			return a.Info.State != event.Idle
		}
	}
	return false
}

// Owed returns the names of the work the agent dispatched that is running or about to start.
func (a *Agent) Owed() []string {
	f := a.fleet
	f.Lock()
	defer f.Unlock()
	var names []string
	for _, b := range f.Work(a.ID) {
		names = append(names, b.Info.Name)
	}
	for _, q := range f.Queue.Of(a.ID) {
		if f.Queue.Wanted(q) {
			names = append(names, q.Name)
		}
	}
	sort.Strings(names)
	return names
}

// Begun is what a run started.
type Begun struct {
	Running, Queued int
	Window          int // 0: none, or unlimited
}

// Countable refuses a run of a negative number of tasks.
func Countable(s tools.Start) error {
	if s.Count < 0 {
		return fmt.Errorf("run %d: the number of tasks at once can't be negative", s.Count)
	}
	return nil
}

// Run opens a window: the queue of `by` drains with at most s.Count tasks at once (0: as many as the fleet's cap
// allows). A second run replaces the window; tasks pushed while it is open join it. With s.Once, s.Count tasks start
// and the rest stay queued, without a window. The caller holds the fleet's mutex.
func (l *Line) Run(by int64, s tools.Start) (Begun, error) {
	f := l.fleet
	if err := Countable(s); err != nil {
		return Begun{}, err
	}
	b := Begun{Window: s.Count, Running: len(f.Work(by))}
	queued := len(f.Queue.Of(by))
	_, open := f.Queue.Window(by)
	switch {
	case s.Once:
		b.Window = 0
		f.Queue.Shut(by)
		f.Queue.Pick(by, s.Count, s.Timeout)
	case queued > 0 || open:
		f.Queue.Open(by, tasks.Window{Most: s.Count, Limit: s.Timeout})
	default:
		return b, nil
	}
	starts := f.Queue.Starts(by)
	b.Running, b.Queued = b.Running+starts, queued-starts
	f.Told()
	return b, nil
}

// shutDrained closes the windows of drained queues. The caller holds the fleet's mutex.
func (l *Line) shutDrained() {
	f := l.fleet
	f.Queue.ShutDrained(func(owner int64) bool { return len(f.Work(owner)) > 0 })
}
