package tasks

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"fantail/agents/event"
	"fantail/inbox"
)

// ErrNothing ends a wait that nothing can end; the text says why.
var ErrNothing = errors.New("nothing can arrive")

// Waits records which agents wait, and for whom. Every wait of an agent, and of the human in its tab, goes through
// [Wait.Until]: whether a wait can still end depends on all waits together, so one place must know them all.
//
// Its mutex is taken after that of Agents, never before: judging a wait needs both, and Agents calls Changed and Came
// while holding its own.
type Waits struct {
	agents Agents
	OnEnd  []func(agent int64) // called, without a lock, after a wait of that agent ended

	mu      sync.Mutex
	version int64             // counts the changes that waiters must look at
	of      map[int64][]*Wait // by agent, which has several if its calls run concurrently
}

// Agents gives Waits access to the agents. All methods but Hold and Told are called inside Hold.
type Agents interface {
	Hold(f func())                // calls f; meanwhile no agent begins, ends or changes state
	Living() iter.Seq[Actor]      // those that have not ended
	Agent(id int64) (Actor, bool) // one of these
	Called(name string) (Actor, bool)
	Queue() *Queue
	Scheduled() bool // something comes by the clock
	Told()           // the agents that can act may have changed
}

// Actor is an agent that others may wait for.
type Actor struct {
	ID, Parent int64
	Name       string
	State      event.State
	Tasked     bool // it carries out a task of its parent's
	Unattended bool // no human can make it act
}

// Wait is one wait of an agent.
type Wait struct {
	in       *Waits
	Agent    int64
	From     string // the only sender it waits for; "": any
	Children bool   // it waits for the work it dispatched
	Task     int64  // it waits for the end of this task, which always comes; 0: none
	Patient  bool   // it was moved to the background, where the task may take longer
	Outside  bool   // mail from outside the program may end it
	Mail     bool   // it waits only for a message
	poke     chan struct{}

	// The mutex of Waits guards these.
	looked int64  // the version as of which it found nothing
	moved  bool   // moved to the background
	why    string // why nothing can end it, as found by another wait of its cycle
}

// Nothing ends a wait that nothing else can end. It is an ErrNothing.
type Nothing struct{ Why string }

func (n Nothing) Error() string { return ErrNothing.Error() + ": " + n.Why }
func (Nothing) Unwrap() error   { return ErrNothing }

func NewWaits(as Agents) *Waits { return &Waits{agents: as, of: map[int64][]*Wait{}} }

// Begin registers a wait. Its agent must show as waiting only afterwards: whatever sees that may rely on messages
// being left to the wait.
func (ws *Waits) Begin(w *Wait) *Wait {
	w.in, w.poke = ws, make(chan struct{}, 1)
	ws.mu.Lock()
	ws.of[w.Agent] = append(ws.of[w.Agent], w)
	ws.mu.Unlock()
	ws.agents.Told()
	return w
}

// lookAgain makes the waiter look again.
func (w *Wait) lookAgain() {
	select {
	case w.poke <- struct{}{}:
	default:
	}
}

// End removes a wait. Call it before the agent takes its slot back: an agent that waits for a slot goes on by itself,
// and must not count as blocked by others.
func (w *Wait) End() {
	ws := w.in
	ws.mu.Lock()
	rest := slices.DeleteFunc(ws.of[w.Agent], func(v *Wait) bool { return v == w })
	if ws.of[w.Agent] = rest; len(rest) == 0 {
		delete(ws.of, w.Agent)
	}
	ws.mu.Unlock()
	for _, f := range ws.OnEnd {
		f(w.Agent)
	}
	ws.agents.Told()
}

// Until returns nil once look finds what w waits for. It looks again whenever something relevant happened, and returns
// look's error, ctx's cause, or Nothing if no agent is left that could end w. The caller has begun w and ends it.
//
// The version is read before looking, so that a change during the look, or between the look and the judgement, makes
// it look again.
func (w *Wait) Until(ctx context.Context, look func() (bool, error)) error {
	for {
		version := w.in.now()
		if found, err := look(); found || err != nil {
			return err
		}
		if why, stuck := w.in.stuck(w, version); stuck {
			return Nothing{why}
		}
		select {
		case <-w.poke:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (ws *Waits) now() int64 {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.version
}

// Changed makes all waiters look again: the agents that can act may have changed. The caller holds the mutex of
// Agents.
func (ws *Waits) Changed() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.version++
	for w := range ws.all() {
		w.lookAgain()
	}
}

// Came makes an agent's waiters look again: a message came for it. The others judge again once it has looked. The
// caller holds the mutex of Agents.
func (ws *Waits) Came(agent int64) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.version++
	for _, w := range ws.of[agent] {
		w.lookAgain()
	}
}

// all returns the waits of all agents. The caller holds ws.mu.
func (ws *Waits) all() iter.Seq[*Wait] {
	return func(yield func(*Wait) bool) {
		for _, vs := range ws.of {
			for _, v := range vs {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// Awaited reports whether the agent, or the human in its tab, waits for m.
func (ws *Waits) Awaited(agent int64, m inbox.Message) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return slices.ContainsFunc(ws.of[agent], func(w *Wait) bool { return w.awaits(m) })
}

// awaits reports whether w may take m.
func (w *Wait) awaits(m inbox.Message) bool {
	switch {
	case w.Task != 0:
		return w.Task == m.Task
	case w.Children:
		return m.Task != 0
	}
	return w.From == "" || w.From == m.From
}

// Background ends an agent's waits for single tasks, which go on without it. It returns their names, and which of the
// tasks may take longer now.
func (ws *Waits) Background(agent int64) (names []string, longer []int64) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.of[agent] {
		if w.Task == 0 || w.moved {
			continue
		}
		w.moved = true
		names = append(names, w.From)
		if w.Patient {
			longer = append(longer, w.Task)
		}
		w.lookAgain()
	}
	return names, longer
}

// InBackground reports whether w was moved to the background.
func (w *Wait) InBackground() bool {
	w.in.mu.Lock()
	defer w.in.mu.Unlock()
	return w.moved
}
