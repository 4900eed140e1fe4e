// Package fleet tracks which agents live and what each does, starts waiting tasks, and enforces budgets.
package fleet

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/tools/permission"
	"fantail/tools/secret"
)

// Options are what New needs.
type Options struct {
	Now     func() time.Time
	Go      func(name string, f func())
	Resolve func(model string) (llm.Model, error)
	Model   string // of new agents
	Cap     int    // how many agents may run at once
	Keys    *secret.Keys
	Modes   func() (holds, coming permission.Mode) // the present permission mode, and a looser one that will follow; "": none
	Wall    func() permission.Sandbox              // the state of the sandbox for commands, if it is known
	Audit   history.Auditor
}

// Fleet is all agents whose tab is open, and the queue in memory. Its mutex guards both. It is never held across I/O:
// commit hooks take it, so a caller that wrote while holding it would deadlock.
type Fleet struct {
	sync.Mutex

	Humans  Humans
	Line    Line
	Letters Letters
	Queue   *tasks.Queue  // tasks not started, and the slots of running agents; guarded by the mutex
	Due     chan struct{} // holds a token when there may be a task to start

	o         Options
	hub       *event.Hub
	callbacks Callbacks
	ctx       context.Context // of all agents
	stop      context.CancelCauseFunc
	loops     sync.WaitGroup

	agents  map[int64]*Agent // those whose tab is open
	living  map[int64]*Agent // the subset that has not ended: work done at every change loops over these only
	model   string           // of new agents
	asking  map[*Agent]bool  // agents with an open question
	resumes resumes          // agents that want their slot back, in order
	changed chan struct{}    // closed and replaced whenever the result of Rest may change
	closing bool
}

// Callbacks are the callbacks by which other parts of the pool follow the fleet, and answer it. All are called with
// the fleet's mutex held: they only record the news, and take no lock but their own.
type Callbacks struct {
	Changed []func()                                   // the agents that can act may have changed
	Opened  []func(agent int64)                        // a live agent got a tab
	Mailed  []func(i *event.Info, change inbox.Change) // a message arrived
	Ended   []func(i event.Info)                       // an agent ended
	Closed  []func(agent int64)                        // an agent's tab was closed
	Busy    []func(agent int64) bool                   // whether the agent has a reason to go on; agent 0: the pool itself
	Count   []func(t *event.Tally)                     // adds counts to the tally
}

// New returns an empty fleet, whose agents live until ctx ends or Close is called.
func New(ctx context.Context, o Options) *Fleet {
	f := &Fleet{
		Queue: tasks.NewQueue(o.Cap), Due: make(chan struct{}, 1), o: o, hub: event.NewHub(), model: o.Model,
		agents: map[int64]*Agent{}, living: map[int64]*Agent{}, asking: map[*Agent]bool{},
		changed: make(chan struct{}),
	}
	f.Line = Line{fleet: f, from: map[int64]*Environment{}}
	f.ctx, f.stop = context.WithCancelCause(ctx)
	return f
}

// Tell sets the callbacks. Call it before the first agent is opened.
func (f *Fleet) Tell(r Callbacks) { f.callbacks = r }

// Context returns the context all agents live in.
func (f *Fleet) Context() context.Context { return f.ctx }

// Start runs a function in a goroutine that Close waits for.
func (f *Fleet) Start(name string, run func()) {
	f.loops.Add(1)
	f.o.Go(name, func() {
		defer f.loops.Done()
		run()
	})
}

// Close ends everything that was started, for the given cause. It returns an error if something is still running when
// ctx ends.
func (f *Fleet) Close(ctx context.Context, cause error) error {
	f.Lock()
	f.closing = true
	f.Unlock()
	f.stop(cause)
	ended := make(chan struct{})
	f.o.Go("close", func() {
		f.loops.Wait()
		close(ended)
	})
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the agents to end: %w", ctx.Err())
	}
}

// Closing reports whether Close was called: nothing new may begin. The caller holds the fleet's mutex.
func (f *Fleet) Closing() bool { return f.closing }

// Subscribe returns a new feed, and the state that it continues from.
func (f *Fleet) Subscribe() (*event.Feed, []event.Event) {
	feed := event.NewFeed(f.hub.Leave)
	f.Lock()
	defer f.Unlock()
	var now []event.Event
	for _, a := range f.byID() {
		now = append(now, event.Changed{Info: a.Info})
	}
	return feed, f.hub.Join(feed, append(now, f.tally()))
}

// Emit sends e to all feeds.
func (f *Fleet) Emit(e event.Event) { f.hub.Emit(e) }

// Infos returns the state of all agents whose tab is open, ordered by id.
func (f *Fleet) Infos() []event.Info {
	f.Lock()
	defer f.Unlock()
	var is []event.Info
	for _, a := range f.byID() {
		is = append(is, a.Info)
	}
	return is
}

// byID returns the agents ordered by id. The caller holds the fleet's mutex.
func (f *Fleet) byID() []*Agent {
	return slices.SortedFunc(maps.Values(f.agents), func(a, b *Agent) int { return int(a.ID - b.ID) })
}

// Open opens an agent's tab and tells the feeds. The caller holds the fleet's mutex.
func (f *Fleet) Open(a *Agent) {
	f.Load(a)
	f.hub.Emit(event.Changed{Info: a.Info})
	f.Told()
}

// Load is Open at startup, when there are no feeds to tell. The caller holds the fleet's mutex, or no other goroutine
// uses the fleet yet.
func (f *Fleet) Load(a *Agent) {
	f.agents[a.ID] = a
	if a.Info.State.Terminal() {
		return
	}
	f.living[a.ID] = a
	for _, hear := range f.callbacks.Opened {
		hear(a.ID)
	}
}

// CloseTab closes the agent's tab, unless another agent has taken its place. The caller holds the fleet's mutex.
func (f *Fleet) CloseTab(a *Agent) {
	if f.agents[a.ID] == a {
		delete(f.agents, a.ID)
		delete(f.living, a.ID)
		f.hub.Emit(event.Closed{Agent: a.ID})
		for _, hear := range f.callbacks.Closed {
			hear(a.ID)
		}
	}
}

// Living returns the agents that have not ended. The caller holds the fleet's mutex.
func (f *Fleet) Living() iter.Seq[*Agent] { return maps.Values(f.living) }

// Of returns the agent with that id; nil: its tab is not open. The caller holds the fleet's mutex.
func (f *Fleet) Of(id int64) *Agent { return f.agents[id] }

// Called returns the agent of that name whose tab is open, alive or not; nil: there is none. The caller holds the
// fleet's mutex.
func (f *Fleet) Called(name string) *Agent {
	for _, a := range f.agents {
		if a.Info.Name == name {
			return a
		}
	}
	return nil
}

// Agent returns the agent with that id.
func (f *Fleet) Agent(id int64) (*Agent, error) {
	f.Lock()
	defer f.Unlock()
	if a := f.agents[id]; a != nil {
		return a, nil
	}
	return nil, fmt.Errorf("agent %d: %w", id, tasks.ErrNoAgent)
}

// Meant returns the agent with an open tab that a word means (its name, or a prefix that only one agent has), and its
// state.
func (f *Fleet) Meant(word string) (*Agent, event.Info, error) {
	f.Lock()
	defer f.Unlock()
	cs := make([]tasks.Called, 0, len(f.agents))
	for _, a := range f.agents {
		cs = append(cs, tasks.Called{Id: a.ID, Name: a.Info.Name, State: a.Info.State})
	}
	id, err := tasks.Meant(word, cs)
	if err != nil {
		return nil, event.Info{}, err
	}
	return f.agents[id], f.agents[id].Info, nil
}

// Main returns the agent main; nil: not created yet.
func (f *Fleet) Main() *Agent {
	f.Lock()
	defer f.Unlock()
	return f.main()
}

// main is Main for a caller that holds the fleet's mutex.
func (f *Fleet) main() *Agent {
	for _, a := range f.agents {
		if a.Kind.Nature().Stays {
			return a
		}
	}
	return nil
}

// Trouble shows an error that concerns no single agent in main's tab.
func (f *Fleet) Trouble(err error) {
	if m := f.Main(); m != nil {
		m.Trouble(err)
	}
}

// Below adds the descendants of the agents in `in` to it, and returns all of them that are alive.
func (f *Fleet) Below(in map[int64]bool) (live []*Agent) {
	f.Lock()
	defer f.Unlock()
	for grew := true; grew; {
		grew = false
		for _, b := range f.agents {
			if in[b.Info.Parent] && !in[b.ID] {
				in[b.ID], grew = true, true
			}
		}
	}
	for id := range in {
		if b := f.living[id]; b != nil {
			live = append(live, b)
		}
	}
	return live
}

// Rung notes that a commit changed an inbox. A commit hook calls it.
func (f *Fleet) Rung(r inbox.Change) {
	f.Lock()
	defer f.Unlock()
	f.hub.Emit(event.Mailed{Agent: r.Recipient})
	a := f.agents[r.Recipient]
	if a == nil {
		return
	}
	a.Info.Counted(r)
	a.Info.Came += r.Came
	a.Info.Called = max(a.Info.Called, r.Calls)
	f.hub.Emit(event.Changed{Info: a.Info})
	if !r.Deposited {
		return
	}
	for _, hear := range f.callbacks.Mailed {
		hear(&a.Info, r)
	}
	a.Poke()
}

// tally counts tasks and questions. The caller holds the fleet's mutex.
func (f *Fleet) tally() event.Tally {
	t := event.Tally{Asking: len(f.asking), Wall: f.o.Wall()}
	t.Mode, t.Coming = f.o.Modes()
	for _, a := range f.living {
		if a.Kind.Ends() && (a.Info.State == event.Running || a.Info.State == event.Waiting) {
			t.Running++
		}
	}
	t.Names = f.Queue.Names()
	t.Queued = len(t.Names)
	for _, count := range f.callbacks.Count {
		count(&t)
	}
	return t
}

// Recount is Told for a caller that does not hold the mutex.
func Recount(f *Fleet) {
	f.Lock()
	defer f.Unlock()
	f.Told()
}

// Told sends the tally and wakes everything that depends on which agents can still act: waiters, the dispatcher,
// Settled, the tasks' clocks. The caller holds the fleet's mutex.
func (f *Fleet) Told() {
	f.clocks()
	f.hub.Emit(f.tally())
	for _, hear := range f.callbacks.Changed {
		hear()
	}
	token(f.Due)
	close(f.changed)
	f.changed = make(chan struct{})
}

// token puts a token into a one-slot channel unless it holds one.
func token(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Rest reports whether no agent has work, and returns a channel that is closed once that may have changed.
func (f *Fleet) Rest() (still bool, changed <-chan struct{}) { return f.RestOf(All) }

// RestOf is Rest for the agents that counts accepts, which is called with the fleet's mutex held.
func (f *Fleet) RestOf(counts func(a *Agent) bool) (still bool, changed <-chan struct{}) {
	f.Lock()
	defer f.Unlock()
	return !f.busy(counts), f.changed
}

// All counts every agent.
func All(*Agent) bool { return true }

// Under returns a function that counts an agent and all below it.
func Under(agent int64) func(a *Agent) bool {
	return func(a *Agent) bool {
		for ; a != nil; a = a.fleet.agents[a.Info.Parent] {
			if a.ID == agent {
				return true
			}
		}
		return false
	}
}

// busy reports whether an agent that counts accepts runs, waits, asks or has a reason to go on, or one of its tasks is
// about to start. The caller holds the fleet's mutex.
func (f *Fleet) busy(counts func(a *Agent) bool) bool {
	reason := func(agent int64) bool {
		return slices.ContainsFunc(f.callbacks.Busy, func(busy func(int64) bool) bool { return busy(agent) })
	}
	if reason(0) {
		return true
	}
	for _, a := range f.living {
		if counts(a) && (a.Info.State != event.Idle || typed(a.Info) || reason(a.ID)) {
			return true
		}
	}
	for t := range f.Queue.All() {
		owner := f.agents[t.Slot.Owner]
		if (owner == nil || counts(owner)) && f.Queue.Wanted(t) && f.Queue.WillStart(t, nil) && !waitsForIdle(f, t) {
			return true
		}
	}
	return false
}

// waitsForIdle reports whether a queued task waits, perhaps through others, for an agent that is idle. The caller holds the
// fleet's mutex.
func waitsForIdle(f *Fleet, t *tasks.QueuedWork) bool {
	for id := range t.Needs {
		if need := f.Queue.Task(id); need != nil && waitsForIdle(f, need) {
			return true
		}
		for _, a := range f.living {
			if a.Task == id && a.Info.State == event.Idle {
				return true
			}
		}
	}
	return false
}

// Book returns the writer of a transcript whose agent need not be in memory.
func (f *Fleet) Book(agent int64) history.Writer {
	return history.Writer{
		Agent: agent, Keys: f.o.Keys, Audit: f.o.Audit,
		Tell: func(es []history.Entry, live bool) {
			f.hub.Emit(event.Appended{Agent: agent, Entries: es, Live: live})
		},
	}
}
