package agents

import (
	"context"

	"fantail/agents/tasks"
	"fantail/store"
)

// Queue returns the queue of the agent by.
func (p *Pool) Queue(ctx context.Context, by int64) (tasks.QueueView, error) {
	var l tasks.QueueView
	err := p.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		l.Tasks, err = rx.Tasks(by)
		return err
	})
	if err != nil {
		return tasks.QueueView{}, err
	}
	p.fleet.Lock()
	defer p.fleet.Unlock()
	if a := p.fleet.Of(by); a != nil && a.Kind.HasPrompt() {
		l.Prompts = a.Info.Prompts
	}
	for i := range l.Tasks {
		if t := &l.Tasks[i]; t.State == tasks.TaskQueued && t.Kind == tasks.KindPrompt && t.Model == "" {
			t.Model = p.fleet.ModelNow(by)
		}
	}
	l.Holds = map[int64]string{}
	for _, q := range p.fleet.Queue.Of(by) {
		if why := p.fleet.Queue.Full(q.Slot); p.fleet.Queue.Wanted(q) && len(q.Needs) == 0 && why != "" && why != "window" {
			l.Holds[q.ID] = why
		}
	}
	return l, nil
}

// Joins reports whether a pushed task starts without another run: its queue is being drained, or it
// has started already.
func (p *Pool) Joins(task int64) bool { return p.fleet.Line.Joins(task) }

// Start queues a task with a prompt that the human typed in the agent by's tab, and starts it before all other queued
// tasks. blocked says why it does not start yet; "": it does.
func (p *Pool) Start(ctx context.Context, by int64, prompt string) (t tasks.Task, blocked string, err error) {
	if t, err = p.Tasks.Start(ctx, by, prompt); err != nil {
		return t, "", err
	}
	return t, p.fleet.Line.Blocked(t.ID), nil
}
