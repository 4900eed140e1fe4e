package agents

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/queue"
	"fantail/store"
	"fantail/tools"
)

// Ran tells what Run did.
type Ran struct {
	fleet.Begun
	Outside []Entered // tasks from outside that it let in
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
	if _, err := p.fleet.Agent(by); err != nil {
		return Ran{}, err
	}
	if p.o.shows() {
		return Ran{}, p.o.DB.ReadOnly()
	}
	p.fleet.Lock()
	var outside []*queue.Task
	for _, q := range p.fleet.Queue.Of(by) {
		if q.Held {
			q.Held = false
			outside = append(outside, q)
		}
	}
	b, err := p.fleet.Line.Run(by, s)
	r := Ran{Begun: b}
	for _, q := range outside {
		q.Held = err != nil
	}
	p.fleet.Unlock()
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
			asks := strings.Join(strings.Fields(history.Fit(t.Prompt, history.MostSubject)), " ")
			r.Outside = append(r.Outside, Entered{t.Name, llm.Clip(asks, 200)})
		}
		return nil
	})
	return r, err
}
