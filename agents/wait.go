package agents

import (
	"context"
	"iter"
	"slices"
	"sync"

	"fantail/agents/queue"
	"fantail/inbox"
)

// waits is who waits for whom. Every wait of an agent, and of the human in its tab,
// goes through Until here, so that one place can tell when nothing can end a wait any
// more: that is a property of all waits together.
//
// Its mutex is taken after the crowd's, never before: judging needs both, and the
// crowd calls changed and came while it holds its own.
type waits struct {
	crowd crowd
	ended []func(agent int64) // called, without a lock, after a wait of that agent ended

	mu      sync.Mutex
	version int64             // counts what those who wait must look at
	of      map[int64][]*wait // by agent, which has several where its calls run side by side
}

// crowd is what waits sees of the agents. All but Hold and Told are called inside Hold.
type crowd interface {
	Hold(f func())                // calls f, during which nobody begins, ends or changes state
	Living() iter.Seq[actor]      // those that have not ended
	Agent(id int64) (actor, bool) // one of these
	Called(name string) (actor, bool)
	Queue() *queue.Queue
	Told() // who can act may have changed
}

// actor is an agent that others may wait for.
type actor struct {
	ID, Parent int64
	Name       string
	State      State
	Tasked     bool // it carries out a task of its parent's
	Dormant    bool // it stays at a question that nobody is here to answer
	Acts       bool // it could end a wait of others, unless it waits itself
}

// wait is an agent that goes on when something arrives.
type wait struct {
	in       *waits
	agent    int64
	from     string // the one sender it waits for; "": any
	children bool   // it waits for the work it dispatched
	task     int64  // it waits for the end of this task, which always comes; 0: none
	patient  bool   // moved to the background, the task may take longer
	outside  bool   // mail from outside may end it
	mail     bool   // it waits for a message, and for nothing else
	poke     chan struct{}

	// The mutex of waits guards these.
	looked int64  // the version as of which it found nothing
	moved  bool   // to the background
	why    string // nothing can end it: found by another of its circle
}

// nothing ends a wait that nothing else can end. It is an ErrNothing.
type nothing struct{ why string }

func (n nothing) Error() string { return ErrNothing.Error() + ": " + n.why }
func (nothing) Unwrap() error   { return ErrNothing }

func newWaits(c crowd) *waits { return &waits{crowd: c, of: map[int64][]*wait{}} }

// begin makes others know of a wait. Its agent shows that it waits only afterwards:
// whoever sees that may rely on messages being left to the wait.
func (ws *waits) begin(w *wait) *wait {
	w.in, w.poke = ws, make(chan struct{}, 1)
	ws.mu.Lock()
	ws.of[w.agent] = append(ws.of[w.agent], w)
	ws.mu.Unlock()
	ws.crowd.Told()
	return w
}

// end forgets a wait. It comes before the agent takes its slot back: an agent that
// waits for a slot goes on by itself, and must not count as one that others block.
func (w *wait) end() {
	ws := w.in
	ws.mu.Lock()
	rest := slices.DeleteFunc(ws.of[w.agent], func(v *wait) bool { return v == w })
	if ws.of[w.agent] = rest; len(rest) == 0 {
		delete(ws.of, w.agent)
	}
	ws.mu.Unlock()
	for _, f := range ws.ended {
		f(w.agent)
	}
	ws.crowd.Told()
}

// until returns nil once look finds what w waits for. It looks again whenever something
// happened that could matter, and returns look's error, ctx's cause, or nothing if
// nobody is left who could end w. The caller has begun w and ends it.
//
// The version is read before looking: whatever comes while it looks makes it look
// again, and so does whatever comes between its look and the judgement.
func (w *wait) until(ctx context.Context, look func() (bool, error)) error {
	for {
		version := w.in.now()
		if found, err := look(); found || err != nil {
			return err
		}
		if why, stuck := w.in.stuck(w, version); stuck {
			return nothing{why}
		}
		select {
		case <-w.poke:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (ws *waits) now() int64 {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.version
}

// changed has all look again: who can act may have changed. The crowd calls it while
// it holds its own mutex.
func (ws *waits) changed() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.version++
	for w := range ws.all() {
		token(w.poke)
	}
}

// came has an agent look again: a message came for it. The others judge anew when it
// has looked. The crowd calls it while it holds its own mutex.
func (ws *waits) came(agent int64) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.version++
	for _, w := range ws.of[agent] {
		token(w.poke)
	}
}

// all are the waits of all agents. The caller holds mu.
func (ws *waits) all() iter.Seq[*wait] {
	return func(yield func(*wait) bool) {
		for _, vs := range ws.of {
			for _, v := range vs {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// awaited reports whether the agent, or the human in its tab, waits for m.
func (ws *waits) awaited(agent int64, m inbox.Message) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return slices.ContainsFunc(ws.of[agent], func(w *wait) bool { return w.awaits(m) })
}

// awaits reports whether w may take m.
func (w *wait) awaits(m inbox.Message) bool {
	switch {
	case w.task != 0:
		return w.task == m.Task
	case w.children:
		return m.Task != 0
	}
	return w.from == "" || w.from == m.From
}

// background ends an agent's waits for single tasks, which run on without it. It
// returns their names, and which of the tasks may take longer now.
func (ws *waits) background(agent int64) (names []string, longer []int64) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.of[agent] {
		if w.task == 0 || w.moved {
			continue
		}
		w.moved = true
		names = append(names, w.from)
		if w.patient {
			longer = append(longer, w.task)
		}
		token(w.poke)
	}
	return names, longer
}

// inBackground reports whether what w waits for was moved to the background.
func (w *wait) inBackground() bool {
	w.in.mu.Lock()
	defer w.in.mu.Unlock()
	return w.moved
}
