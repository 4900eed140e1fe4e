package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
)

// Agent is the part of an agent that other goroutines than its own loop read and change. The fields it was made with
// never change; the fleet's mutex guards the rest.
type Agent struct {
	ID    int64
	Kind  event.Kind
	Task  int64         // the task it carries out; 0: none
	Pokes chan struct{} // a token tells it to look at the tables
	Gone  chan struct{} // closed when its loop ended

	fleet  *Fleet
	hasten func() // ends its commands at once, for callers that can't wait; nil: they always end so

	Env       Environments
	Await     Awaiting
	Info      event.Info
	Model     llm.Model
	ShownTurn int64 // the turn that runs

	halted   error          // why it was stopped or killed for good, possibly before it began
	stops    map[*stop]bool // what Halt ends
	active   time.Time      // its last sign of life
	asked    time.Time      // when the current request was sent
	calls    []Working      // the tools that run
	steer    int64          // the last prompt that tells it to go on at once, until it is absorbed; 0: none
	wrap     int64          // the one that tells it to finish with what it has, until it is absorbed; 0: none
	wrapping bool           // it was told to, and has not finished
	steered  map[*stop]bool // what such a prompt cancels
	clock    *clock         // fires at the time-out; nil: none
	away     away           // what its concurrently waiting calls wait for
}

// NewAgent returns an agent that has no open tab yet. One in a terminal state has no loop, so it is Gone at once.
func (f *Fleet) NewAgent(i event.Info, task int64) *Agent {
	a := &Agent{
		ID: i.ID, Kind: i.Kind, Task: task, Pokes: make(chan struct{}, 1), Gone: make(chan struct{}), fleet: f,
		Info: i, stops: map[*stop]bool{}, steered: map[*stop]bool{}, active: f.o.Now(),
		Env: Environments{fleet: f, typed: map[int64]*Environment{}},
	}
	a.Await = Awaiting{a}
	if i.State.Terminal() {
		close(a.Gone)
	}
	if i.Model != "" {
		a.Model, _ = f.o.Resolve(i.Model)
	}
	return a
}

// Poke makes the agent look at the tables.
func (a *Agent) Poke() { token(a.Pokes) }

// Known returns the agent's present state.
func (a *Agent) Known() event.Info {
	a.fleet.Lock()
	defer a.fleet.Unlock()
	return a.Info
}

// Present returns the agent's present model and state.
func (a *Agent) Present() (llm.Model, event.Info) {
	a.fleet.Lock()
	defer a.fleet.Unlock()
	return a.Model, a.Info
}

// Set changes the agent's state and tells the feeds. A terminal state is final: a change leaves it as it is. If the
// state changed, everything that depends on which agents can act is woken.
func (a *Agent) Set(change func(i *event.Info)) {
	a.fleet.Lock()
	defer a.fleet.Unlock()
	a.Change(change)
}

// Change is Set for a caller that holds the fleet's mutex.
func (a *Agent) Change(change func(i *event.Info)) {
	f, before, sends := a.fleet, a.Info.State, typed(a.Info)
	i := a.Info
	change(&i)
	if before.Terminal() {
		i.State = before
	}
	if i.State.Terminal() {
		i.Await = nil
	}
	if !strings.HasPrefix(i.Doing, "tool ") {
		i.Call = ""
	}
	if i.State != before || i.Doing != a.Info.Doing || i.Retry != a.Info.Retry || i.Steps != a.Info.Steps {
		a.active = f.o.Now()
	}
	i.Active = a.active
	a.Info = i
	if f.agents[a.ID] != a {
		return // its tab is closed, or not open yet
	}
	if i.State.Terminal() && !before.Terminal() {
		a.steer, a.wrap = 0, 0
		delete(f.living, a.ID)
		for _, hear := range f.callbacks.Ended {
			hear(i)
		}
		f.letGo(a)
	}
	f.hub.Emit(event.Changed{Info: i})
	if i.State != before || typed(i) != sends {
		f.Told()
	}
}

// typed reports whether a prompt will be sent at the agent's next seam.
func typed(i event.Info) bool {
	return slices.ContainsFunc(i.Prompts, func(q event.Prompt) bool { return !q.Held })
}

// Show tells the feeds of something the agent did: a sign of life.
func (a *Agent) Show(e event.Event) {
	a.fleet.Lock()
	a.active = a.fleet.o.Now()
	a.fleet.Unlock()
	a.fleet.hub.Emit(e)
}

// Trouble shows an error that can't be recorded; nil: it is over.
func (a *Agent) Trouble(err error) {
	why := ""
	if err != nil {
		why = err.Error()
	}
	a.Set(func(i *event.Info) { i.Why = why })
}

// Book returns the writer of the agent's transcript. Appending to it counts as a sign of life.
func (a *Agent) Book() history.Writer {
	b := a.fleet.Book(a.ID)
	b.Room = func() int { return history.TakeRoom(a.Known().Window) }
	b.Tell = func(es []history.Entry, live bool) { a.Show(event.Appended{Agent: a.ID, Entries: es, Live: live}) }
	return b
}

// HasMail reports whether there is a message that the agent can take.
func (a *Agent) HasMail() bool { return a.Known().Pending > 0 }

// SetModel makes the agent use that model from now on. If the agent is main, new agents use it too.
func (a *Agent) SetModel(m llm.Model) {
	a.fleet.Lock()
	defer a.fleet.Unlock()
	a.Model = m
	if a.Kind.Nature().Stays {
		a.fleet.model = m.Name
	}
	a.Change(func(i *event.Info) { i.Model, i.Window, i.Priced = m.Name, m.Window, m.Price != nil })
}

// ModelOf returns the model of the agent's next request, which a task that names none gets too; for an unknown agent,
// the model of new agents.
func (f *Fleet) ModelOf(agent int64) string {
	f.Lock()
	defer f.Unlock()
	return f.ModelNow(agent)
}

// ModelNow is ModelOf for a caller that holds the fleet's mutex.
func (f *Fleet) ModelNow(agent int64) string {
	if a := f.agents[agent]; a != nil {
		return a.Info.Model
	}
	return f.model
}

// Queued shows a prompt that waits for the agent's next seam. The caller holds the fleet's mutex.
func (a *Agent) Queued(q event.Prompt) {
	a.Change(func(i *event.Info) { i.Prompts = append(i.Prompts[:len(i.Prompts):len(i.Prompts)], q) })
}

// Unqueue removes a prompt from those shown as queued.
func (a *Agent) Unqueue(id int64) {
	a.Set(func(i *event.Info) {
		if id == a.steer {
			a.steer = 0
		}
		if id == a.wrap {
			a.wrap = 0
		}
		delete(a.Env.typed, id)
		i.Prompts = slices.DeleteFunc(slices.Clone(i.Prompts), func(q event.Prompt) bool { return q.ID == id })
	})
}

// Prompted returns the agent with a prompt box where that prompt is queued; nil: none.
func (f *Fleet) Prompted(id int64) *Agent {
	f.Lock()
	defer f.Unlock()
	for _, a := range f.agents {
		for _, q := range a.Info.Prompts {
			if q.ID == id && a.Kind.HasPrompt() {
				return a
			}
		}
	}
	return nil
}

// Asking shows that the agent asks the human, and frees its slot.
func (a *Agent) Asking(q *event.Question) {
	f := a.fleet
	f.Lock()
	defer f.Unlock()
	f.asking[a] = true
	a.Change(func(i *event.Info) { i.State, i.Doing, i.Question = event.Asking, "", q })
	f.letGo(a)
	f.Told()
}

// Heard shows that the agent's question is closed. If ans is not nil, the agent goes on once it has a slot.
func (a *Agent) Heard(ans *event.Answer) {
	f := a.fleet
	f.Lock()
	defer f.Unlock()
	delete(f.asking, a)
	a.Change(func(i *event.Info) {
		if i.Question = nil; ans != nil {
			i.State, i.Why = event.Waiting, "waiting for a slot"
		}
	})
	f.Told()
}

// Begins shows that a turn begins. The caller holds the fleet's mutex.
func (a *Agent) Begins(turn int64, started time.Time) {
	a.ShownTurn = turn
	a.Change(func(i *event.Info) {
		i.State, i.Doing, i.Why, i.Started, i.Outcome = event.Running, "starting", "", started, ""
		i.Await = i.Await.With(func(a *event.Await) { a.Until = time.Time{} })
	})
}

// Asked records that the agent sends a request, and shows what it is doing. An engine may send one while a call of the
// agent waits or while it asks: then it does not show as running, since that is what others go by.
func (a *Agent) Asked(doing string) {
	a.Set(func(i *event.Info) {
		if a.asked = a.fleet.o.Now(); !a.Waits() && !a.fleet.asking[a] {
			i.State, i.Doing = event.Running, doing
		}
	})
}

// Working records that a call runs; calling end removes it.
func (a *Agent) Working(call, title string) (end func()) {
	f := a.fleet
	f.Lock()
	defer f.Unlock()
	a.calls = append(a.calls, Working{call, title, f.o.Now()})
	return func() {
		f.Lock()
		defer f.Unlock()
		if at := slices.IndexFunc(a.calls, func(w Working) bool { return w.Call == call }); at >= 0 {
			a.calls = slices.Delete(slices.Clone(a.calls), at, at+1)
		}
	}
}

// AwaitEnd waits until the loop of a halted agent has ended.
func (a *Agent) AwaitEnd(ctx context.Context) error {
	select {
	case <-a.Gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the agent to end: %w", ctx.Err())
	}
}

// The causes that end an agent or what it runs.
var (
	ErrStopped = errors.New("stopped")
	ErrTimeout = errors.New("timed out")
	ErrKilled  = errors.New("killed")
	ErrFelled  = fmt.Errorf("%w with all below it", ErrKilled)
	ErrSteered = errors.New("the user wrote meanwhile")
)
