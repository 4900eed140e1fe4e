package agents

import (
	"fmt"
	"strings"
	"time"

	"fantail/agents/queue"
)

// Working is a call that runs.
type Working struct {
	Call  string
	Title string
	Since time.Time
}

// Now is what an agent, or a queued task, does or waits for.
type Now struct {
	Info   Info      // of a task that has not started: its name alone
	Calls  []Working // the tools that run
	Asked  time.Time // when the request that runs was sent; zero: none runs
	Queued string    // why the task has not started; "": it is none
}

// Does tells what the agent or the queued task of that name does or waits for.
func (p *Pool) Does(name string) (Now, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.queue.Named(name); q != nil {
		return Now{Info: Info{Name: name, State: Queued}, Queued: p.holdUp(q)}, nil
	}
	for _, a := range p.agents {
		if a.info.Name != name {
			continue
		}
		n := Now{Info: a.info, Calls: append([]Working(nil), a.calls...)}
		n.Info.Active = a.active
		if a.info.State == Queued { // a fork
			n.Queued = p.crowded(a.slot())
		}
		if a.info.State == Running && a.info.Doing == "streaming" {
			n.Asked = a.asked
		}
		return n, nil
	}
	return Now{}, fmt.Errorf("%q: %w", name, ErrNoAgent)
}

// holdUp says why a queued task has not started. The caller holds mu.
func (p *Pool) holdUp(q *queue.Task) string {
	switch {
	case q.Held:
		return "it came from outside: /run lets it in"
	case !p.queue.Wanted(q):
		return "nobody has started it: /run does"
	case len(q.Needs) > 0:
		return "it waits for " + strings.Join(q.Waits(), ", ")
	}
	return p.crowded(q.Slot)
}

// crowded says what keeps whoever wants that slot from running. The caller holds mu.
func (p *Pool) crowded(s queue.Slot) string {
	switch full := p.queue.Full(s); full {
	case "":
		return "it is about to start"
	case "cap":
		return fmt.Sprintf("%d agents run, as many as may at once", p.queue.Running())
	case "window":
		w, _ := p.queue.Window(s.Owner)
		return fmt.Sprintf("so many of its queue run as /run %d allows", w.Most)
	default:
		return full + " serves as many agents as it does at once"
	}
}
