// Package agents is the agents: each a goroutine with a transcript.
//
// Does: keep the pool of agents, run their turns (absorb, ask, record, run
// tools), queue and start tasks, deliver their results into inboxes, fork
// agents for their mail, put questions to the human, tell feeds what happens,
// recover after a crash.
//
// Does not: know a provider by name, a screen, or the configuration file;
// render anything for people.
//
// Imports: inbox, store, tools, tools/permit, tools/proc, tools/secret, agents/event, agents/history,
// agents/ledger, agents/llm, agents/mail, agents/memory, agents/outside, agents/prompts, agents/questions, agents/queue,
// agents/recovery, agents/reply, agents/roster, agents/tasks, agents/waits.
package agents

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sort"
	"strconv"
	"sync"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/ledger"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/agents/memory"
	"fantail/agents/outside"
	"fantail/agents/questions"
	"fantail/agents/queue"
	"fantail/agents/recovery"
	"fantail/agents/roster"
	"fantail/agents/tasks"
	"fantail/agents/waits"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/tools/secret"
)

// Model is a model as main resolved it.
type Model struct {
	Name     string // provider/name, as shown
	Provider llm.Provider
	ID       string                // the provider's own name
	Window   int                   // tokens; 0: unknown
	MaxOut   int                   // tokens of a reply; 0: the provider's default
	Price    func(llm.Usage) int64 // millionths of a dollar; nil: unknown
	Vendor   string                // who serves it, as shown
	AtOnce   int                   // background agents the vendor serves at once; 0: no bound
}

// Options are what Open needs.
type Options struct {
	DB       *store.DB
	Tools    *tools.Set
	Gate     *permit.Gate
	Resolve  func(name string) (Model, error) // the error names the known providers
	Model    string                           // provider/name of new agents
	Root     string                           // the workspace
	Data     string                           // the workspace's data directory; outputs live under it
	Private  []string                         // what tools must never open
	Environ  []string                         // for commands, as proc.Clean made it; agents nobody attends get less
	Keys     *secret.Keys                     // what no transcript, file or feed holds; nil: none
	System   func(agent Info) string          // the system prompt
	Now      func() time.Time
	Go       func(name string, f func())
	Cap      int                     // running agents at once; 0: 8
	Rules    map[string]inbox.Rules  // what the workspace's files say about mail, by the agent's name
	Attended bool                    // a human can answer; false: what would ask is denied with the reason
	Abroad   bool                    // another process has the agents, and DB can only be read: they are as their rows say
	Keep     func(proc.Group) func() // has a command's group ended if this program dies; nil: nobody does
	Patience time.Duration           // how long a disk that refuses writes is waited for before Settled returns why; 0: without end
}

// Errors the pool's methods return (wrapped, with the names in the text).
var (
	ErrStopped = errors.New("stopped")
	ErrTimeout = errors.New("timed out")
	errKilled  = errors.New("killed")
	errFelled  = fmt.Errorf("%w with all below it", errKilled)
)

// Pool is all agents of a workspace. It is safe for concurrent use.
//
// mu guards the maps and every agent's info; it is never held across I/O, and
// the store's writer takes it in commit hooks, so nothing may write while
// holding it.
type Pool struct {
	Asks   *questions.Desk // what agents ask the human
	Memory memory.Docs     // the documents of the workspace

	// What these export is the pool's own.
	*books
	*tasks.Tasks
	*mail.Room
	*mail.Letters

	o     Options
	inbox *inbox.Inbox
	hub   *event.Hub
	human Human
	disk  *disk
	ctx   context.Context // of all agents
	stop  context.CancelCauseFunc
	loops sync.WaitGroup

	dispatch chan struct{} // a token: look for tasks to start
	hooks    hooks         // set before the agents run
	waits    *waits.Table
	forks    *forks
	takes    *mail.Takes
	ends     *roster.Ends

	mu      sync.Mutex
	agents  map[int64]*agent // those whose tab is open
	living  map[int64]*agent // of those, the ones that have not ended: what is done at each change goes through these
	model   string           // of new agents
	asking  map[*agent]bool  // those whose question is open
	queue   *queue.Queue     // tasks not started, and the slots of agents that run
	resumes []*resume        // agents that want their slot back, in order
	others  others           // how far other processes were read
	changed chan struct{}    // closed and made anew whenever Settled might answer differently
	closing bool
}

// others is how far the pool has read what other processes wrote.
type others struct {
	stale   bool  // one wrote, and the maps do not show it yet
	noticed int64 // up to this entry the feeds heard of what they noted
	mailed  int64 // up to this message the feeds heard of mail they wrote
}

// hooks are what the parts of the pool want to hear of. All are called with mu held: they
// note what they hear, and take no lock but their own.
type hooks struct {
	changed []func()            // who can act may have changed
	mailed  []func(agent int64) // a message came
	ended   []func(i Info)      // an agent ended
}

// Open recovers what a crash left, makes main if there is none and starts the
// living agents. The caller holds the host's lock; over a database that can only be read
// it needs none: what is there shows, and nothing is mended, sorted or started.
func Open(ctx context.Context, o Options) (*Pool, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Go == nil {
		o.Go = func(_ string, f func()) { go f() }
	}
	if o.Cap == 0 {
		o.Cap = 8
	}
	if _, err := o.Resolve(o.Model); err != nil {
		return nil, err
	}
	p := &Pool{
		o: o, hub: event.NewHub(), disk: newDisk(o.Patience, o.Now), model: o.Model,
		dispatch: make(chan struct{}, 1), changed: make(chan struct{}),
		agents: map[int64]*agent{}, living: map[int64]*agent{}, asking: map[*agent]bool{},
		queue: queue.New(o.Cap),
	}
	p.inbox = inbox.New(o.DB, p.rung)
	p.Memory = memory.Docs{DB: o.DB}
	p.Asks = questions.New(o.DB, p.inbox, o.Gate, o.Now)
	p.books = ledger.New(o.DB, p.inbox, subjects{p})
	p.waits = waits.New(onlooker{p})
	p.takes = mail.NewTakes(o.DB, p.inbox, p.waits)
	p.forks = &forks{p: p, handles: map[int64]*handling{}}
	p.Room = mail.New(mail.Options{
		DB: o.DB, Inbox: p.inbox, Now: o.Now, Rules: o.Rules, Mu: &p.mu, Fleet: recipients{p}, Forker: p.forks, Human: &p.human,
	})
	p.Letters = mail.NewLetters(o.DB, p.inbox, o.Now, register{p}, p.Room.Stir)
	p.ends = &roster.Ends{Inbox: p.inbox, Unread: p.Unread, Ended: p.ended, Passed: p.passed}
	p.Tasks = tasks.New(o.DB, p.inbox, p.ends, func(model string) (string, error) {
		m, err := o.Resolve(model)
		return m.Name, err
	}, line{p})
	p.waits.OnEnd = append(p.waits.OnEnd, p.Room.Unawaited)
	p.hooks = hooks{
		changed: []func(){p.waits.Changed},
		mailed:  []func(agent int64){p.waits.Came},
		ended:   []func(i Info){p.Room.Ended, p.forks.ended},
	}
	r := recovery.Recovery{
		DB: o.DB, Ends: p.ends, Asks: p.Asks, Attended: o.Attended, Abroad: o.Abroad, Book: p.book, Go: o.Go,
		Unhandled: func(tx *store.Tx, fork int64, why, text string) error {
			return p.forks.unhandled(tx, fork, ending{OutCrashed, why}, text)
		},
	}
	left := r.Run
	if o.shows() {
		left = r.Kept
	}
	kept, err := left(ctx)
	if err != nil {
		return nil, fmt.Errorf("recover the workspace: %w", err)
	}
	p.ctx, p.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := p.restore(ctx, kept); err != nil {
		p.stop(event.ErrClosing)
		return nil, fmt.Errorf("load the agents: %w", err)
	}
	if o.shows() {
		p.start("glance", func() { outside.Glance(p.ctx, p.Refresh) })
		return p, nil
	}
	if err := o.DB.Patrol(ctx, p.patrolled); err != nil {
		p.stop(event.ErrClosing)
		return nil, err
	}
	p.human.turned = p.Room.Stir
	p.start("dispatch", p.dispatcher)
	p.start("sort", func() { p.Room.Run(p.ctx) })
	return p, nil
}

// start runs f in a goroutine that Close waits for.
func (p *Pool) start(name string, f func()) {
	p.loops.Add(1)
	p.o.Go(name, func() {
		defer p.loops.Done()
		f()
	})
}

// restore fills the maps from the database and starts main, the helpers and
// those that go on with a parked turn.
func (p *Pool) restore(ctx context.Context, kept map[int64]*recovery.Parked) error {
	var rows []store.Agent
	if err := p.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		if rows, err = rx.Agents(); err != nil {
			return err
		}
		ws, err := roster.QueuedTasks(&rx.View)
		if err != nil {
			return err
		}
		for _, w := range ws {
			p.enqueue(w)
		}
		if _, p.others.mailed, err = inbox.Arrived(&rx.View, math.MaxInt64); err != nil {
			return err
		}
		p.others.noticed, err = rx.NewestSeq()
		return err
	}); err != nil {
		return err
	}
	if len(rows) == 0 {
		if err := p.o.DB.Write(ctx, "make main", func(tx *store.Tx) error {
			row, err := roster.OpenMain(tx, p.o.Model)
			rows = []store.Agent{row}
			return err
		}); err != nil {
			return err
		}
	}
	for _, row := range rows {
		err := p.load(ctx, row)
		if a := p.agents[row.ID]; err == nil && p.o.shows() && !p.o.Abroad {
			a.info.Cut()
		}
		if k := kept[row.ID]; err == nil && k != nil {
			err = p.agents[row.ID].park(k)
		}
		if err != nil {
			return fmt.Errorf("agent %s: %w", row.Name, err)
		}
	}
	counts, err := p.inbox.Counts(ctx)
	if err != nil {
		return err
	}
	for id, r := range counts {
		if a := p.agents[id]; a != nil {
			a.info.Pending, a.info.Urgent = r.Pending, r.Urgent
			p.Room.Tray(id).Wake() // perhaps one of them asks for it; the turn looks
		}
	}
	if err := p.Room.Load(ctx); err != nil || p.o.shows() {
		return err
	}
	p.mu.Lock() // from now on agents run
	defer p.mu.Unlock()
	p.Room.LookAtAll()
	for _, a := range p.living {
		if !a.dormant() {
			p.start("agent "+a.info.Name, a.loop)
		}
	}
	return nil
}

// load makes the agent of a row, without starting it.
func (p *Pool) load(ctx context.Context, row store.Agent) error {
	i, err := p.known(ctx, row)
	if err == nil {
		p.open(p.newAgent(i, row.Task))
	}
	return err
}

// known is what the database knows of an agent.
func (p *Pool) known(ctx context.Context, row store.Agent) (Info, error) {
	i := Info{
		ID: row.ID, Name: row.Name, Kind: Kind(row.Kind), Parent: row.Parent, State: State(row.State),
		Model: row.Model, Created: row.Created, Ended: row.Ended, Task: row.Task, Outside: row.Trust == roster.TrustOutside,
	}
	err := p.o.DB.Read(ctx, func(rx *store.Rx) error {
		sum, err := rx.SumTurns(row.ID)
		if err != nil {
			return err
		}
		i.Usage = llm.Usage{Input: sum.Input, Output: sum.Output, CacheRead: sum.CacheRead, CacheWrite: sum.CacheWrite}
		i.Cost, i.Steps, i.Context = sum.Cost, sum.Steps, sum.Context
		if row.Branch != 0 && sum.Steps == 0 {
			behind, _, err := rx.Turn(row.Branch)
			if err != nil {
				return err
			}
			i.Context = behind.Context
		}
		if anew, err := history.Cleared(&rx.View, row.ID); err != nil {
			return err
		} else if anew {
			i.Context = 0
		}
		if last, ok, err := rx.LastTurn(row.ID); err != nil {
			return err
		} else if ok {
			i.Started, i.Outcome, i.Why = last.Started, Outcome(last.Outcome), last.Error
		}
		if i.State == Done {
			rows, err := rx.EntriesBefore(row.ID, 0, history.GistEntries)
			if err != nil {
				return err
			}
			i.Gist = history.GistOf(history.Said(history.DecodeAll(rows)))
		}
		if row.Task != 0 {
			t, _, err := rx.Task(row.Task)
			if err != nil {
				return err
			}
			i.Prompt = roster.Typed(t)
			if i.Attempt, err = rx.Attempts(row.ID); err != nil {
				return err
			}
		}
		ps, err := rx.Prompts(row.ID)
		if err != nil {
			return err
		}
		for _, q := range ps {
			if i.Kind.HasPrompt() {
				i.Prompts = append(i.Prompts, Prompt{ID: q.ID, Text: q.Text, Held: q.Held})
			}
		}
		return nil
	})
	if err != nil {
		return i, err
	}
	if i.Pending, i.Urgent, err = p.inbox.Count(ctx, row.ID); err != nil {
		return i, err
	}
	if row.Handles != 0 {
		m, _, err := p.inbox.Get(ctx, row.Handles)
		if err != nil {
			return i, err
		}
		i.About(m)
	}
	// A model that is no longer configured must not keep the program from
	// starting: the agent gets the present one, as main does in any case.
	if i.Model != "" {
		m, err := p.o.Resolve(i.Model)
		if err != nil || i.Kind == Main {
			p.mu.Lock()
			present := p.model
			p.mu.Unlock()
			if m, err = p.o.Resolve(present); err != nil {
				return i, err
			}
		}
		i.Model, i.Window, i.Priced = m.Name, m.Window, m.Price != nil
	}
	return i, nil
}

// Close ends all turns, their tools' process groups too, and what the human runs
// in the tabs. What ran is recorded as interrupted with its partial output; what
// can't be recorded before ctx ends is found by the next Open.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	p.stop(event.ErrClosing)
	ended := make(chan struct{})
	p.o.Go("close", func() {
		p.loops.Wait()
		close(ended)
	})
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the agents to end: %w", ctx.Err())
	}
}

// Subscribe returns a new feed, beginning with what is now.
func (p *Pool) Subscribe() *Feed {
	f := event.NewFeed(p.hub.Leave)
	p.mu.Lock()
	defer p.mu.Unlock()
	var now []Event
	for _, a := range p.byID() {
		now = append(now, Changed{Info: a.info})
	}
	p.hub.Join(f, append(now, p.tally()))
	return f
}

// Infos returns what is known of all agents whose tab is open, by id.
func (p *Pool) Infos() []Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	var is []Info
	for _, a := range p.byID() {
		is = append(is, a.info)
	}
	return is
}

// byID lists the agents by id. The caller holds mu.
func (p *Pool) byID() []*agent {
	as := make([]*agent, 0, len(p.agents))
	for _, a := range p.agents {
		as = append(as, a)
	}
	sort.Slice(as, func(i, j int) bool { return as[i].id < as[j].id })
	return as
}

// open opens the tab of an agent. The caller holds mu, or nobody else knows the
// pool yet.
func (p *Pool) open(a *agent) {
	p.agents[a.id] = a
	if !a.info.State.Terminal() {
		p.living[a.id] = a
		p.Room.Opens(a.id)
	}
}

// workOf lists the sub-agents that an agent dispatched and that have not ended. The
// caller holds mu.
func (p *Pool) workOf(owner int64) (as []*agent) {
	for _, a := range p.living {
		if a.kind.Nature().Tasked && a.info.Parent == owner {
			as = append(as, a)
		}
	}
	return as
}

// agent returns the agent with that id.
func (p *Pool) agent(id int64) (*agent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.agents[id]; a != nil {
		return a, nil
	}
	return nil, fmt.Errorf("agent %d: %w", id, ErrNoAgent)
}

// rung is the bell: a commit changed somebody's inbox. The store's writer calls it.
func (p *Pool) rung(r inbox.Rung) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hub.Emit(Mailed{Agent: r.Recipient})
	a := p.agents[r.Recipient]
	if a == nil {
		return
	}
	a.info.Pending, a.info.Urgent = r.Pending, r.Urgent
	a.info.Came += r.Came
	p.hub.Emit(Changed{Info: a.info})
	if !r.Deposited {
		return
	}
	p.Room.Arrives(&a.info, r)
	a.poked()
	for _, f := range p.hooks.mailed {
		f(a.id)
	}
}

// tally counts the tasks and the questions. The caller holds mu.
func (p *Pool) tally() Tally {
	t := Tally{Asking: len(p.asking), Mode: p.o.Gate.Mode(), Quiet: p.Room.Quiet()}
	for _, a := range p.living {
		if a.kind.Ends() && (a.info.State == Running || a.info.State == Waiting) {
			t.Running++
		}
	}
	t.Names = p.queue.Names()
	t.Queued = len(t.Names)
	return t
}

// told spreads the tally and wakes everything that depends on who can still
// act: waiters, the dispatcher, Settled, the tasks' clocks. The caller holds mu.
func (p *Pool) told() {
	p.clocks()
	p.hub.Emit(p.tally())
	for _, f := range p.hooks.changed {
		f()
	}
	token(p.dispatch)
	close(p.changed)
	p.changed = make(chan struct{})
}

// token puts a token into a one-slot channel unless one is there.
func token(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Settled returns nil once no agent runs, waits or asks, no prompt waits to be
// sent and no task is about to start; or ctx's error.
func (p *Pool) Settled(ctx context.Context) error {
	for {
		p.mu.Lock()
		still := p.busy()
		changed := p.changed
		p.mu.Unlock()
		if !still {
			return nil
		}
		select {
		case <-changed:
		case <-p.disk.over:
			return p.disk.gaveUp()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// busy reports whether anything is under way. The caller holds mu.
func (p *Pool) busy() bool {
	if p.Room.Sorts() {
		return true
	}
	for _, a := range p.living {
		if a.dormant() {
			continue
		}
		if a.info.State != Idle {
			return true
		}
		for _, q := range a.info.Prompts {
			if !q.Held {
				return true
			}
		}
		if now, soon := p.Room.Tray(a.id).Wants(); now || soon || a.squeeze != nil {
			return true
		}
	}
	for t := range p.queue.All() {
		if p.queue.Wanted(t) && p.queue.WillStart(t, nil) {
			return true
		}
	}
	return false
}

// outputs is the directory of an agent's tool-output files.
func (p *Pool) outputs(agent int64) string {
	return filepath.Join(p.o.Data, "outputs", strconv.FormatInt(agent, 10))
}
