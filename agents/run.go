package agents

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/queue"
	"fantail/store"
	"fantail/tools"
)

// Ran tells what Run did.
type Ran struct {
	Running, Queued int
	Window          int       // 0: none, or unlimited
	Outside         []Entered // tasks from outside that it let in
}

// Entered is a task from outside that /run let in, and the beginning of its prompt.
type Entered struct{ Name, Asks string }

// String is what /run prints: `Running 2 of 5 (window 2, 3 queued)`.
func (r Ran) String() string {
	if r.Running+r.Queued == 0 {
		return "The queue is empty"
	}
	s := fmt.Sprintf("Running %d of %d", r.Running, r.Running+r.Queued)
	var more []string
	if r.Window > 0 {
		more = append(more, fmt.Sprintf("window %d", r.Window))
	}
	if r.Queued > 0 {
		more = append(more, fmt.Sprintf("%d queued", r.Queued))
	}
	if len(more) > 0 {
		s += " (" + strings.Join(more, ", ") + ")"
	}
	return s + entered(r.Outside)
}

// entered lists what came in from outside, for the human to see what it wants.
func entered(es []Entered) string {
	if len(es) == 0 {
		return ""
	}
	const listed = 12
	s := "\nFrom outside, and asking before all they do but reading:"
	for i, e := range es {
		if i == listed {
			return s + fmt.Sprintf("\n  - and %d more: /queue --all lists them", len(es)-listed)
		}
		s += "\n  - " + e.Name + ": " + e.Asks
	}
	return s
}

// Run is /run, typed by the human: it lets the tasks from outside in that wait
// in the queue of `by`, and runs it.
func (p *Pool) Run(ctx context.Context, by int64, s tools.Start) (Ran, error) {
	if _, err := p.agent(by); err != nil {
		return Ran{}, err
	}
	if p.o.shows() {
		return Ran{}, p.o.DB.ReadOnly()
	}
	p.mu.Lock()
	var outside []*queue.Task
	for _, q := range p.queue.Of(by) {
		if q.Held {
			q.Held = false
			outside = append(outside, q)
		}
	}
	r, err := p.run(by, s)
	for _, q := range outside {
		q.Held = err != nil
	}
	p.mu.Unlock()
	if err != nil || len(outside) == 0 {
		return r, err
	}
	err = p.o.DB.Read(ctx, func(rx *store.Rx) error {
		r.Outside = nil
		for _, q := range outside {
			t, _, err := rx.Task(q.ID)
			if err != nil {
				return err
			}
			r.Outside = append(r.Outside, Entered{t.Name, llm.Clip(strings.Join(strings.Fields(history.Fit(t.Prompt, history.MostSubject)), " "), 200)})
		}
		return nil
	})
	return r, err
}

// run opens a window: the queue of `by` drains with at most s.Count tasks running
// at once (0: as many as the pool's cap allows). A second run replaces the
// window; tasks pushed while it is open join it. With s.Once it starts so many
// and leaves the rest queued without a window. The caller holds mu.
func (p *Pool) run(by int64, s tools.Start) (Ran, error) {
	if s.Count < 0 {
		return Ran{}, fmt.Errorf("run %d: the number of tasks at once can't be negative", s.Count)
	}
	r := Ran{Window: s.Count, Running: len(p.workOf(by))}
	queued := len(p.queue.Of(by))
	_, open := p.queue.Window(by)
	switch {
	case s.Once:
		r.Window = 0
		p.queue.Shut(by)
		p.queue.Pick(by, s.Count, s.Timeout)
	case queued > 0 || open:
		p.queue.Open(by, queue.Window{Most: s.Count, Limit: s.Timeout})
	default:
		return r, nil
	}
	starts := p.queue.Starts(by)
	r.Running, r.Queued = r.Running+starts, queued-starts
	p.told()
	return r, nil
}

// shutDrained closes the windows of queues that are drained. The caller holds mu.
func (p *Pool) shutDrained() {
	p.queue.ShutDrained(func(owner int64) bool { return len(p.workOf(owner)) > 0 })
}
