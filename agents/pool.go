// Package agents is the agents: each a goroutine with a transcript.
//
// Does: compose the rooms below; open and close agents, start, resume and kill their
// tasks, carry out what the human wants of one, give their tools a desk, take in what
// other processes wrote.
//
// Does not: run a turn (turn does), decide when mail is due (mail), know a provider by
// name, a screen, or the configuration file; render anything for people.
//
// Imports: inbox, store, tools, tools/permit, tools/proc, tools/secret, agents/event, agents/fleet, agents/fork,
// agents/history, agents/ledger, agents/llm, agents/mail, agents/memory, agents/outside, agents/questions, agents/queue,
// agents/recovery, agents/roster, agents/tasks, agents/turn, agents/waits.
package agents

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/fork"
	"fantail/agents/ledger"
	"fantail/agents/mail"
	"fantail/agents/memory"
	"fantail/agents/outside"
	"fantail/agents/questions"
	"fantail/agents/recovery"
	"fantail/agents/roster"
	"fantail/agents/tasks"
	"fantail/agents/turn"
	"fantail/agents/waits"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/tools/secret"
)

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

// Why things end, as the pool's methods return it (wrapped, with the names in the text).
var (
	ErrStopped = fleet.ErrStopped
	ErrTimeout = fleet.ErrTimeout
)

// Pool is all agents of a workspace: it opens and closes them, starts their tasks and
// composes the rooms they work in. It is safe for concurrent use.
type Pool struct {
	Asks   *questions.Desk // what agents ask the human
	Memory memory.Docs     // the documents of the workspace

	// What these export is the pool's own.
	*books
	*tasks.Tasks
	*mail.Room
	*mail.Letters
	*mail.Pickup

	o     Options
	inbox *inbox.Inbox
	fleet *fleet.Fleet
	loops *turn.Loops
	disk  *turn.Disk
	waits *waits.Table
	forks *fork.Forks
	takes *mail.Takes
	ends  *roster.Ends

	others others // how far other processes were read. The fleet's mutex guards it
}

// others is how far the pool has read what other processes wrote.
type others struct {
	stale   bool  // one wrote, and the maps do not show it yet
	noticed int64 // up to this entry the feeds heard of what they noted
	mailed  int64 // up to this message the feeds heard of mail they wrote
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
	p := &Pool{o: o, disk: turn.NewDisk(o.Patience, o.Now), forks: fork.New(), Memory: memory.Docs{DB: o.DB}}
	p.fleet = fleet.New(context.WithoutCancel(ctx), fleet.Options{
		Now: o.Now, Go: o.Go, Resolve: o.Resolve, Model: o.Model, Cap: o.Cap, Attended: o.Attended, Keys: o.Keys, Mode: o.Gate.Mode,
	})
	p.furnish()
	if err := p.begin(ctx); err != nil {
		_ = p.fleet.Close(ctx, event.ErrClosing) // nothing has begun that could fail to end
		return nil, err
	}
	return p, nil
}

// furnish makes the rooms and tells each what it needs of the others.
func (p *Pool) furnish() {
	o := &p.o
	p.inbox = inbox.New(o.DB, p.fleet.Rung)
	p.Asks = questions.New(o.DB, p.inbox, o.Gate, o.Now)
	p.books = ledger.New(o.DB, p.inbox, subjects{p})
	p.waits = waits.New(onlooker{p.fleet})
	p.takes = mail.NewTakes(o.DB, p.inbox, p.waits)
	p.Room = mail.New(mail.Options{
		DB: o.DB, Inbox: p.inbox, Now: o.Now, Rules: o.Rules, Mu: &p.fleet.Mutex, Fleet: recipients{p}, Forker: p.forks, Human: &p.fleet.Human,
	})
	p.Letters = mail.NewLetters(o.DB, p.inbox, o.Now, register{p}, p.Room.Stir)
	p.Pickup = mail.NewPickup(p.fleet, p.Room, p.Letters, p.takes, p.Unprompt)
	p.ends = &roster.Ends{Inbox: p.inbox, Unread: p.Unread, Ended: p.fleet.Line.Ended, Passed: p.fleet.Line.Passed}
	p.Tasks = tasks.New(o.DB, p.inbox, p.ends, func(model string) (string, error) {
		m, err := o.Resolve(model)
		return m.Name, err
	}, &p.fleet.Line)
	p.loops = turn.New(turn.Options{
		DB: o.DB, Inbox: p.inbox, Fleet: p.fleet, Mail: p.Room, Takes: p.takes, Pickup: p.Pickup, Asks: p.Asks, Waits: p.waits, Ends: p.ends, Disk: p.disk,
		Tools: o.Tools, Gate: o.Gate, Keys: o.Keys, Root: o.Root, Private: o.Private, Outputs: p.outputs, Environ: o.Environ, System: o.System,
		Keep: o.Keep, Now: o.Now, Go: o.Go, Attended: o.Attended,
		Desk: func(l *turn.Loop) tools.Desk { return desk{p, l} }, Forks: p.forks,
	})
	p.forks.Begin(fork.Options{
		DB: o.DB, Inbox: p.inbox, Fleet: p.fleet, Loops: p.loops, Waits: p.waits, Mail: p.Room, Letters: p.Letters, Ends: p.ends, Resolve: o.Resolve,
	})
	p.waits.OnEnd = append(p.waits.OnEnd, p.Room.Unawaited)
	p.fleet.Tell(fleet.Rooms{
		Changed: []func(){p.waits.Changed},
		Opened:  []func(int64){p.Room.Opens},
		Mailed:  []func(*Info, inbox.Rung){p.Room.Arrives, func(i *Info, _ inbox.Rung) { p.waits.Came(i.ID) }},
		Ended:   []func(Info){p.Room.Ended, p.forks.Ended},
		Closed:  []func(int64){p.loops.Forget},
		Busy:    []func(int64) bool{p.Room.Busy, p.loops.Busy},
		Count:   []func(*Tally){func(t *Tally) { t.Quiet = p.Room.Quiet() }},
	})
}

// begin recovers, loads what there is and lets it run.
func (p *Pool) begin(ctx context.Context) error {
	o := &p.o
	r := recovery.Recovery{
		DB: o.DB, Ends: p.ends, Asks: p.Asks, Attended: o.Attended, Abroad: o.Abroad, Book: p.fleet.Book, Go: o.Go,
		Unhandled: func(tx *store.Tx, fork int64, why, text string) error {
			return p.forks.Unhandled(tx, fork, turn.Ending{Outcome: OutCrashed, Cause: why}, text)
		},
	}
	left := r.Run
	if o.shows() {
		left = r.Kept
	}
	kept, err := left(ctx)
	if err != nil {
		return fmt.Errorf("recover the workspace: %w", err)
	}
	if err := p.restore(ctx, kept); err != nil {
		return fmt.Errorf("load the agents: %w", err)
	}
	if o.shows() {
		p.fleet.Start("glance", func() { outside.Glance(p.fleet.Context(), p.Refresh) })
		return nil
	}
	if err := o.DB.Patrol(ctx, p.patrolled); err != nil {
		return err
	}
	p.fleet.Human.Turned = p.Room.Stir
	p.fleet.Start("dispatch", p.dispatcher)
	p.fleet.Start("sort", func() { p.Room.Run(p.fleet.Context()) })
	return nil
}

// patrolled tells of what a look at the database's files found while nobody wrote;
// nil: it is undone. A database that is not used any more ends a pool whose exit code
// somebody waits for. The store's writer calls it.
func (p *Pool) patrolled(found error) {
	p.fleet.Emit(Trouble{Err: found})
	if found != nil {
		p.disk.Refused(p.o.Now(), found)
	}
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
			p.fleet.Line.Enqueue(w)
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
		if err := p.load(ctx, row, kept[row.ID]); err != nil {
			return fmt.Errorf("agent %s: %w", row.Name, err)
		}
	}
	counts, err := p.inbox.Counts(ctx)
	if err != nil {
		return err
	}
	for id, r := range counts {
		if a := p.fleet.Of(id); a != nil {
			a.Info.Pending, a.Info.Urgent = r.Pending, r.Urgent
			p.Room.Tray(id).Wake() // perhaps one of them asks for it; the turn looks
		}
	}
	if err := p.Room.Load(ctx); err != nil || p.o.shows() {
		return err
	}
	p.fleet.Lock() // from now on agents run
	defer p.fleet.Unlock()
	p.Room.LookAtAll()
	for a := range p.fleet.Living() {
		if !a.Dormant() {
			p.loops.Start(a.ID)
		}
	}
	return nil
}

// load makes the agent of a row, with the turn it goes on with if there is one, without
// starting it.
func (p *Pool) load(ctx context.Context, row store.Agent, parked *recovery.Parked) error {
	i, err := p.known(ctx, row)
	if err != nil {
		return err
	}
	l := p.loops.Make(i, row.Task)
	p.fleet.Load(l.Agent)
	if p.o.shows() && !p.o.Abroad {
		l.Info.Cut()
	}
	if parked != nil {
		return l.Park(parked)
	}
	return nil
}

// known is what the database knows of an agent. A model that is no longer configured must
// not keep the program from starting: the agent gets the present one, as main does in any
// case.
func (p *Pool) known(ctx context.Context, row store.Agent) (i Info, err error) {
	err = p.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		i, err = roster.Known(&rx.View, row)
		return err
	})
	if err != nil || i.Model == "" {
		return i, err
	}
	m, err := p.o.Resolve(i.Model)
	if err != nil || i.Kind.Nature().Stays {
		m, err = p.o.Resolve(p.fleet.ModelOf(0))
	}
	i.Model, i.Window, i.Priced = m.Name, m.Window, m.Price != nil
	return i, err
}

// Close ends all turns, their tools' process groups too, and what the human runs
// in the tabs. What ran is recorded as interrupted with its partial output; what
// can't be recorded before ctx ends is found by the next Open.
func (p *Pool) Close(ctx context.Context) error { return p.fleet.Close(ctx, event.ErrClosing) }

// Subscribe returns a new feed, beginning with what is now.
func (p *Pool) Subscribe() *Feed { return p.fleet.Subscribe() }

// Infos returns what is known of all agents whose tab is open, by id.
func (p *Pool) Infos() []Info { return p.fleet.Infos() }

// Human is where the human is: screens tell it.
func (p *Pool) Human() *fleet.Human { return &p.fleet.Human }

// Does tells what the agent or the queued task of that name does or waits for.
func (p *Pool) Does(name string) (fleet.Now, error) { return p.fleet.Does(name) }

// Settled returns nil once no agent runs, waits or asks, no prompt waits to be
// sent and no task is about to start; or ctx's error.
func (p *Pool) Settled(ctx context.Context) error {
	for {
		still, changed := p.fleet.Rest()
		if still {
			return nil
		}
		select {
		case <-changed:
		case <-p.disk.Over():
			return p.disk.GaveUp()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// outputs is the directory of an agent's tool-output files.
func (p *Pool) outputs(agent int64) string {
	return filepath.Join(p.o.Data, "outputs", strconv.FormatInt(agent, 10))
}
