package agents

import (
	"iter"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/tasks"
)

// waitingAgents shows a pool's agents to those who wait for them.
type waitingAgents struct {
	*fleet.Fleet
	p *Pool // has the schedules
}

var _ tasks.Agents = waitingAgents{}

func (w waitingAgents) Hold(f func()) {
	w.Lock()
	defer w.Unlock()
	f()
}

func (w waitingAgents) Scheduled() bool {
	active, _ := w.p.Schedule.Summary()
	return active > 0
}

func (w waitingAgents) Living() iter.Seq[tasks.Actor] {
	return func(yield func(tasks.Actor) bool) {
		for a := range w.Fleet.Living() {
			if !yield(actor(a)) {
				return
			}
		}
	}
}

func (w waitingAgents) Agent(id int64) (tasks.Actor, bool) {
	if a := w.Of(id); a != nil && !a.Info.State.Terminal() {
		return actor(a), true
	}
	return tasks.Actor{}, false
}

func (w waitingAgents) Called(name string) (tasks.Actor, bool) {
	if a := w.Fleet.Called(name); a != nil {
		return actor(a), true
	}
	return tasks.Actor{}, false
}

func (w waitingAgents) Queue() *tasks.Queue { return w.Fleet.Queue }

func (w waitingAgents) Told() { w.Hold(w.Fleet.Told) }

// actor returns what those who wait must know of the agent. The caller holds the mutex.
func actor(a *fleet.Agent) tasks.Actor {
	return tasks.Actor{
		ID: a.ID, Parent: a.Info.Parent, Name: a.Info.Name, State: a.Info.State,
		Tasked: a.Kind.Tasked() && a.Info.State != event.Idle, Unattended: a.Info.Unattended,
	}
}
