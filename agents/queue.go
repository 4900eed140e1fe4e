package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/queue"
	"fantail/inbox"
	"fantail/store"
)

// Queue is an agent's task queue, and what is queued for the agent itself.
type Queue struct {
	Tasks   []Task           // in their order, ended ones too; a queued one with the model it would start with now
	Holds   map[int64]string // by task: what holds one back that could start: "cap", or who serves its model
	Prompts []Prompt         // typed, not entered yet
}

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
		if t := &l.Tasks[i]; t.State == taskQueued && t.Kind == kindPrompt && t.Model == "" {
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

// enqueue keeps a queued task in memory; now: it starts without a window. The caller
// holds mu, or is alone.
func (p *Pool) enqueue(t store.Task, needs []store.Task, now bool) {
	q := &queue.Task{
		ID: t.ID, Place: t.Place, Name: t.Name, Slot: queue.Slot{Owner: t.Queue},
		Now: now, Held: fromOutside(t.Origin), Needs: map[int64]string{},
	}
	if t.Model != "" {
		if m, err := p.o.Resolve(t.Model); err == nil {
			q.Slot.Vendor, q.Slot.AtOnce = m.Vendor, m.AtOnce
		}
	}
	for _, n := range needs {
		if n.State != taskFinished {
			q.Needs[n.ID] = n.Name
		}
	}
	p.queue.Add(q)
}

// ended forgets a queued task that will not start, or one that has ended, with those
// that waited for its end. The caller holds mu.
func (p *Pool) ended(task int64) {
	p.queue.Ended(task)
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

// QueueText lists a queue as /queue prints it: sections `Queued:`, `Running:` and
// `Finished:`, those that finished last (most of them; 0: all) with outcome and age,
// and `Prompts:`.
func QueueText(l Queue, now time.Time, most int) string {
	var queued, running, finished, prompts []string
	ended := slices.Clone(l.Tasks)
	slices.SortStableFunc(ended, func(a, b Task) int { return a.Finished.Compare(b.Finished) })
	for _, t := range ended {
		if t.State == taskFinished {
			finished = append(finished, fmt.Sprintf("  - %s (%s %s ago)%s", t.Name, t.Outcome, inbox.Age(now.Sub(t.Finished)), origin(t)))
		}
	}
	for _, t := range l.Tasks {
		switch t.State {
		case taskQueued:
			queued = append(queued, "  - "+t.Name+l.mark(t)+origin(t))
		case taskRunning:
			running = append(running, fmt.Sprintf("  - %s (started %s ago)%s", t.Name, inbox.Age(now.Sub(t.Started)), origin(t)))
		}
	}
	if older := len(finished) - most; most > 0 && older > 0 {
		finished = append(finished[older:], fmt.Sprintf("  (+%d older, /queue --all)", older))
	}
	for _, q := range l.Prompts {
		held := ""
		if q.Held {
			held = " (held)"
		}
		prompts = append(prompts, "  - "+inbox.Label(q.Text)+held)
	}
	var parts []string
	for _, s := range []struct {
		title string
		lines []string
	}{{"Queued:", queued}, {"Running:", running}, {"Finished:", finished}, {"Prompts:", prompts}} {
		if len(s.lines) > 0 {
			parts = append(parts, s.title+"\n"+strings.Join(s.lines, "\n"))
		}
	}
	if len(parts) == 0 {
		return "The queue is empty. /push PROMPT adds a task."
	}
	return strings.Join(parts, "\n\n")
}

// origin says that a task was asked for outside of the program.
func origin(t Task) string {
	if !fromOutside(t.Origin) {
		return ""
	}
	return " (from outside: " + t.Origin + ")"
}

// mark says what a queued task waits for: ` (after a, b)`, `: queued (cap)`.
func (l Queue) mark(t Task) string {
	switch why := l.Holds[t.ID]; {
	case len(t.After) > 0:
		return " (after " + strings.Join(t.After, ", ") + ")"
	case why != "":
		return ": queued (" + why + ")"
	}
	return ""
}
