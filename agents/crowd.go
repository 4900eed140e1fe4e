package agents

import (
	"iter"

	"fantail/agents/queue"
)

// onlooker is how those who wait see the agents.
type onlooker struct{ p *Pool }

var _ crowd = onlooker{}

func (o onlooker) Hold(f func()) {
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	f()
}

func (o onlooker) Living() iter.Seq[actor] {
	return func(yield func(actor) bool) {
		for _, a := range o.p.living {
			if !yield(a.actor()) {
				return
			}
		}
	}
}

func (o onlooker) Agent(id int64) (actor, bool) {
	if a := o.p.living[id]; a != nil {
		return a.actor(), true
	}
	return actor{}, false
}

// Called returns the agent of that name whose tab is open, be it alive or not.
func (o onlooker) Called(name string) (actor, bool) {
	for _, a := range o.p.agents {
		if a.info.Name == name {
			return a.actor(), true
		}
	}
	return actor{}, false
}

func (o onlooker) Queue() *queue.Queue { return o.p.queue }

func (o onlooker) Told() { o.Hold(o.p.told) }

// actor is what others that wait must know of the agent. The caller holds mu.
func (a *agent) actor() actor {
	return actor{
		ID: a.id, Parent: a.info.Parent, Name: a.info.Name, State: a.info.State, Tasked: a.kind == Sub, Dormant: a.dormant(),
		Acts: !a.dormant() && (a.info.State != Idle || a.p.o.Attended),
	}
}
