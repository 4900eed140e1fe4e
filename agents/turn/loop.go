// Package turn is an agent's own loop and the turns it carries out.
//
// Does: wait for a reason, absorb what is due, ask the model, record the reply, run its
// tools, go on until nothing is left, and end the turn in one transaction with its
// result; compact a conversation that has grown long; go on with a turn that was parked.
//
// Does not: open or close tabs, start tasks, decide when mail is due, know a provider.
//
// Imports: agents/event, agents/fleet, agents/history, agents/llm, agents/mail, agents/prompts, agents/questions,
// agents/recovery, agents/reply, agents/roster, agents/waits, inbox, store, tools, tools/permit, tools/proc, tools/secret.
package turn

import (
	"context"
	"sync"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/mail"
	"fantail/agents/questions"
	"fantail/agents/recovery"
	"fantail/agents/roster"
	"fantail/agents/waits"

	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/tools/secret"
)

// Options are what all loops share.
type Options struct {
	DB     *store.DB
	Inbox  *inbox.Inbox
	Fleet  *fleet.Fleet
	Mail   *mail.Room
	Takes  *mail.Takes
	Asks   *questions.Desk
	Waits  *waits.Table
	Ends   *roster.Ends
	Disk   *Disk
	Pickup *mail.Pickup

	Tools    *tools.Set
	Gate     *permit.Gate
	Keys     *secret.Keys
	Root     string                        // the workspace
	Private  []string                      // what tools must never open
	Outputs  func(agent int64) string      // the directory of its tool-output files
	Environ  []string                      // for commands; agents nobody attends get less
	System   func(agent event.Info) string // the system prompt
	Keep     func(proc.Group) func()       // has a command's group ended if this program dies; nil: nobody does
	Now      func() time.Time
	Go       func(name string, f func())
	Attended bool // a human can answer

	Desk  func(l *Loop) tools.Desk // how its tools reach the others
	Forks Forks
}

// Forks carry out what differs for agents whose work is a message.
type Forks interface {
	Attend(ctx context.Context, l *Loop)            // is the life of one
	Conclude(tx *store.Tx, l *Loop, e Ending) error // makes of its end what is to follow, in the transaction that ends it
}

// Loops are the loops of all agents whose tab is open.
type Loops struct {
	o Options

	mu sync.Mutex
	of map[int64]*Loop
}

// New returns no loops yet.
func New(o Options) *Loops { return &Loops{o: o, of: map[int64]*Loop{}} }

// Of returns the loop of an agent whose tab is open.
func (ls *Loops) Of(agent int64) (*Loop, error) {
	if _, err := ls.o.Fleet.Agent(agent); err != nil {
		return nil, err
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return ls.of[agent], nil
}

// Forget forgets the loop of an agent whose tab was closed.
func (ls *Loops) Forget(agent int64) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	delete(ls.of, agent)
}

// Busy reports whether the human wants something of an agent that it carries out at rest.
// The caller holds the fleet's mutex.
func (ls *Loops) Busy(agent int64) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.of[agent]
	return l != nil && l.squeeze != nil
}

// Loop is an agent at work: a goroutine with a transcript. What it is made with never
// changes once it runs; the rest its own goroutine alone knows, unless it says otherwise.
type Loop struct {
	workbench

	hasten  func()        // ends a sub-agent's commands at once; nil: it is none
	timeout time.Duration // of its task; 0: none
	command string        // its task, if that is a plain command

	parked  *recovery.Parked // the turn to go on with first; nil: none
	began   time.Time        // when the turn did
	handled []inbox.Message  // with which this turn began while the human paused
	through bool             // a sub-agent's work is done, but for what arrives at this seam

	// The fleet's mutex guards these.
	leaves  *leave   // the human wants the helper closed
	squeeze *squeeze // the human wants the conversation compacted
}

// Make makes the loop of an agent that has none, without starting it.
func (ls *Loops) Make(i event.Info, task int64) *Loop {
	o := &ls.o
	l := &Loop{workbench: workbench{
		conversation: conversation{
			Agent: o.Fleet.NewAgent(i, task), o: o, tools: o.Tools, ids: map[string]bool{}, sinceSummary: 2, // long ago
		},
		strict: i.Outside || i.Kind.Nature().Strict, outside: i.Outside,
	}}
	if names := i.Kind.Nature().Tools; names != nil {
		l.tools = o.Tools.Only(names...)
	}
	l.env = &tools.Env{
		Root: o.Root, Private: o.Private, Outputs: o.Outputs(i.ID), Environ: o.environ(i), Keys: o.Keys,
		Desk: o.Desk(l), Seen: tools.NewSeen(), Changes: o.Gate.Changes(),
		Started: l.started, Keep: o.Keep,
		Tick: func(call, tail string) { l.Show(event.Output{Agent: i.ID, Call: call, Tail: tail}) },
	}
	if i.Kind.Nature().Tasked && !i.State.Terminal() {
		haste, hasten := context.WithCancel(o.Fleet.Context())
		l.Hastens(hasten)
		l.hasten, l.env.Hurry = hasten, haste.Done()
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.of[i.ID] = l
	return l
}

// environ is the environment of an agent's commands: less where nobody attends it.
func (o *Options) environ(i event.Info) []string {
	if o.Attended && !i.Outside && !i.Kind.Nature().Strict {
		return o.Environ
	}
	return proc.Bare(o.Environ)
}

// Obeys says that the agent's task is a plain command. It comes before Start.
func (l *Loop) Obeys(command string) { l.command = command }

// Limit says how long the agent's task may take; 0: as long as it likes. It comes before Start.
func (l *Loop) Limit(d time.Duration) { l.timeout = d }

// Start begins the agent's life: one task, one message, or, of those that rest between
// turns, all of them until it is closed.
func (l *Loop) Start() {
	life := l.rest
	switch of := l.Kind.Nature(); {
	case of.Tasked:
		life = l.carryOut
	case of.Handles:
		life = func(ctx context.Context) { l.o.Forks.Attend(ctx, l) }
	}
	l.o.Fleet.Start("agent "+l.Info.Name, func() {
		defer close(l.Gone)
		life(l.o.Fleet.Context())
	})
}

// Start begins the life of an agent whose tab is open. The caller holds the fleet's mutex.
func (ls *Loops) Start(agent int64) {
	ls.mu.Lock()
	l := ls.of[agent]
	ls.mu.Unlock()
	l.Start()
}

// rest is the life of an agent that the human talks to: between turns it waits for a
// reason for the next one.
func (l *Loop) rest(ctx context.Context) {
	if l.parked != nil {
		_ = l.Work(ctx) // it has begun, so it ends by itself
	}
	l.Poke()
	var failing time.Time // since when turns can't begin; zero: they can
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.Pokes:
		}
		for {
			if l.left(ctx) {
				return
			}
			if l.squeezed(ctx) {
				continue
			}
			if !l.due(ctx) {
				break
			}
			if err := l.Work(ctx); err != nil {
				if failing.IsZero() {
					failing = l.o.Now()
				}
				l.Trouble(err)
				l.o.Disk.Refused(failing, err)
				l.pause(ctx)
			} else {
				failing = time.Time{}
			}
		}
	}
}

// due reports whether there is a reason to start a turn. Messages that ask to
// wake are given half a second to gather; what the human types does not wait
// for that.
func (l *Loop) due(ctx context.Context) bool {
	var gathered <-chan time.Time
	for ripe := false; ctx.Err() == nil; {
		l.o.Fleet.Lock()
		typed, wake := l.o.Mail.Tray(l.ID).Wants()
		for _, q := range l.Info.Prompts {
			typed = typed || !q.Held
		}
		held := l.Info.State != event.Idle // a human's receive waits in this tab
		l.o.Fleet.Unlock()
		switch {
		case held:
			return false
		case typed || (wake && ripe):
			return true
		case !wake:
			return false
		case gathered == nil:
			t := time.NewTimer(500 * time.Millisecond)
			defer t.Stop()
			gathered = t.C
		}
		select {
		case <-gathered:
			ripe = true
		case <-l.Pokes:
		case <-ctx.Done():
		}
	}
	return false
}

// pause keeps an agent whose turn can't begin (a full disk, say) from trying all
// the time.
func (l *Loop) pause(ctx context.Context) {
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
