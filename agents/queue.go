package agents

import (
	"context"

	"fantail/agents/queue"
	"fantail/agents/roster"
	"fantail/store"
)

// Queue returns the queue of `by`.
func (p *Pool) Queue(ctx context.Context, by int64) (Queue, error) {
	var l Queue
	err := p.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		l.Tasks, err = rx.Tasks(by)
		return err
	})
	if err != nil {
		return Queue{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.agents[by]; a != nil && a.kind.HasPrompt() {
		l.Prompts = a.info.Prompts
	}
	for i := range l.Tasks {
		if t := &l.Tasks[i]; t.State == roster.TaskQueued && t.Kind == roster.KindPrompt && t.Model == "" {
			t.Model = p.modelNow(by)
		}
	}
	l.Holds = map[int64]string{}
	for _, q := range p.queue.Of(by) {
		if why := p.queue.Full(q.Slot); p.queue.Wanted(q) && len(q.Needs) == 0 && why != "" && why != "window" {
			l.Holds[q.ID] = why
		}
	}
	return l, nil
}

// Joins reports whether a task that was pushed starts without another run: one drains
// its queue, or it has begun already.
func (p *Pool) Joins(task int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.queue.Task(task)
	return t == nil || p.queue.Wanted(t)
}

// enqueue keeps a queued task in memory. The caller holds mu, or is alone.
func (p *Pool) enqueue(w roster.QueuedTask) {
	t := w.Task
	q := &queue.Task{
		ID: t.ID, Place: t.Place, Name: t.Name, Slot: queue.Slot{Owner: t.Queue},
		Now: w.Now, Held: roster.FromOutside(t.Origin), Needs: map[int64]string{},
	}
	if t.Model != "" {
		if m, err := p.o.Resolve(t.Model); err == nil {
			q.Slot.Vendor, q.Slot.AtOnce = m.Vendor, m.AtOnce
		}
	}
	for _, n := range w.Needs {
		if n.State != roster.TaskFinished {
			q.Needs[n.ID] = n.Name
		}
	}
	p.queue.Add(q)
}

// ended forgets a queued task that will not start, or one that has ended, with those
// that waited for its end.
func (p *Pool) ended(task int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.Ended(task)
	p.told()
}

// passed shows that `to` has what was another's: its queue, and who lives below it.
func (p *Pool) passed(from, to int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.Pass(from, to)
	for _, a := range p.living {
		if a.info.Parent == from {
			a.change(func(i *Info) { i.Parent = to })
		}
	}
	p.told()
}

// starting is the queued task of that name that starts by itself as soon as it
// can, 0 if there is none.
func (p *Pool) starting(name string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.queue.Named(name); t != nil && p.queue.Wanted(t) {
		return t.ID
	}
	return 0
}
