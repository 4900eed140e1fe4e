package fleet

import (
	"fmt"
	"slices"
	"sort"

	"fantail/agents/event"
	"fantail/agents/queue"
	"fantail/agents/roster"
	"fantail/tools"
)

// Line is the tasks that have not started, as they are in memory: the fleet's, whose mutex
// guards it.
type Line struct{ fleet *Fleet }

// Enqueue keeps a queued task. The caller holds the mutex, or is alone.
func (l *Line) Enqueue(w roster.QueuedTask) {
	f := l.fleet
	t := w.Task
	q := &queue.Task{
		ID: t.ID, Place: t.Place, Name: t.Name, Slot: queue.Slot{Owner: t.Queue},
		Now: w.Now, Held: roster.FromOutside(t.Origin), Needs: map[int64]string{},
	}
	if t.Model != "" {
		if m, err := f.o.Resolve(t.Model); err == nil {
			q.Slot.Vendor, q.Slot.AtOnce = m.Vendor, m.AtOnce
		}
	}
	for _, n := range w.Needs {
		if n.State != roster.TaskFinished {
			q.Needs[n.ID] = n.Name
		}
	}
	f.Queue.Add(q)
}

// Queued keeps a task that was just queued.
func (l *Line) Queued(w roster.QueuedTask) {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	l.shutDrained() // it joins none that is drained
	l.Enqueue(w)
	f.Told()
}

// Moved puts tasks in other places.
func (l *Line) Moved(tasks, places []int64) {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	for i, id := range tasks {
		f.Queue.Move(id, places[i])
	}
	f.Told()
}

// Owner is what is known of whose queue a task goes into: its model, the turn that runs
// (0: none), and how many of all agents carry out tasks.
func (l *Line) Owner(agent int64) (model string, turn int64, live int, err error) {
	a, err := l.fleet.Agent(agent)
	if err != nil {
		return "", 0, 0, err
	}
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	for b := range f.Living() {
		if b.Kind.Nature().Tasked {
			live++
		}
	}
	return a.Info.Model, a.ShownTurn, live, nil
}

// Renamed shows the name an agent has now.
func (l *Line) Renamed(agent int64, name string) {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	if a := f.agents[agent]; a != nil {
		a.Change(func(i *event.Info) { i.Name = name })
	}
}

// Requeue makes the queued tasks those of the file. One that is being
// started stays until its agent is there. The caller holds the mutex.
func (l *Line) Requeue(ts []roster.QueuedTask) {
	f := l.fleet
	there := map[int64]bool{}
	for _, t := range ts {
		there[t.Task.ID] = true
		if f.Queue.Task(t.Task.ID) == nil {
			l.Enqueue(t)
		}
	}
	for _, t := range slices.Collect(f.Queue.All()) {
		if !there[t.ID] && !f.Queue.Starting(t.ID) {
			f.Queue.Remove(t.ID)
		}
	}
}

// Ended forgets a queued task that will not start, or one that has ended, with those
// that waited for its end.
func (l *Line) Ended(task int64) {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	f.Queue.Ended(task)
	f.Told()
}

// Passed shows that `to` has what was another's: its queue, and who lives below it.
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

// Joins reports whether a task that was pushed starts without another run: one drains
// its queue, or it has begun already.
func (l *Line) Joins(task int64) bool {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	t := f.Queue.Task(task)
	return t == nil || f.Queue.Wanted(t)
}

// Waiting is the queued task of that name, 0 if there is none, and whether it starts by
// itself as soon as it can.
func (l *Line) Waiting(name string) (task int64, starts bool) {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	if t := f.Queue.Named(name); t != nil {
		return t.ID, f.Queue.Wanted(t)
	}
	return 0, false
}

// Next is the next task that may start; its slot is reserved. nil: none.
func (l *Line) Next() *queue.Task {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	if f.closing {
		return nil
	}
	l.shutDrained()
	return f.Queue.Next()
}

// Work lists the agents that carry out tasks of an agent's and have not ended. The caller
// holds the mutex.
func (f *Fleet) Work(owner int64) (as []*Agent) {
	for _, a := range f.living {
		if a.Kind.Nature().Tasked && a.Info.Parent == owner {
			as = append(as, a)
		}
	}
	return as
}

// Unended reports whether a task is queued or runs.
func (l *Line) Unended(task int64) bool {
	f := l.fleet
	f.Lock()
	defer f.Unlock()
	if f.Queue.Task(task) != nil {
		return true
	}
	for _, a := range f.living {
		if a.Task == task {
			return true
		}
	}
	return false
}

// Owed names the work the agent dispatched that still runs or is about to start.
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

// Begun is what a run has set going.
type Begun struct {
	Running, Queued int
	Window          int // 0: none, or unlimited
}

// Run opens a window: the queue of `by` drains with at most s.Count tasks running
// at once (0: as many as the fleet's cap allows). A second run replaces the
// window; tasks pushed while it is open join it. With s.Once it starts so many
// and leaves the rest queued without a window. The caller holds the mutex.
func (l *Line) Run(by int64, s tools.Start) (Begun, error) {
	f := l.fleet
	if s.Count < 0 {
		return Begun{}, fmt.Errorf("run %d: the number of tasks at once can't be negative", s.Count)
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
		f.Queue.Open(by, queue.Window{Most: s.Count, Limit: s.Timeout})
	default:
		return b, nil
	}
	starts := f.Queue.Starts(by)
	b.Running, b.Queued = b.Running+starts, queued-starts
	f.Told()
	return b, nil
}

// shutDrained closes the windows of queues that are drained. The caller holds the mutex.
func (l *Line) shutDrained() {
	f := l.fleet
	f.Queue.ShutDrained(func(owner int64) bool { return len(f.Work(owner)) > 0 })
}
