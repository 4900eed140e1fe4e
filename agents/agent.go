package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/recovery"

	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/proc"
)

// agent is a goroutine with a transcript.
type agent struct {
	p    *Pool
	id   int64
	kind Kind
	task int64         // what it carries out; 0: none
	poke chan struct{} // its mailbox: a token says "look at the tables"
	gone chan struct{} // closed when its loop ended

	spec
	seen
	run
}

// spec is what an agent is made with: nothing changes it once its loop runs.
type spec struct {
	env     *tools.Env
	tools   *tools.Set    // what its model may call
	strict  bool          // the session's mode and rules don't loosen what it may do
	outside bool          // its work was asked for outside of the program
	hasten  func()        // whoever ends a sub-agent's commands can't wait longer; nil: they never can
	timeout time.Duration // of its task; 0: none
	command string        // its task, if that is a plain command
}

// seen is what others than its loop see and change of an agent. The pool's mu guards it.
type seen struct {
	info      Info
	model     Model
	shownTurn int64          // the turn that runs
	leaves    *leave         // the human wants the helper closed
	squeeze   *squeeze       // the human wants the conversation compacted
	halted    error          // a sub-agent was stopped or killed, perhaps before it began: it stays so
	stops     map[*stop]bool // what Stop ends
	active    time.Time      // its last sign of life
	asked     time.Time      // when the request that runs was sent
	calls     []Working      // the tools that run
	steer     int64          // a prompt that bids it go on at once, until it enters
	wrapping  bool           // such a prompt bade it finish with what it has
	waiters   map[*stop]bool // what such a prompt ends
	clock     *clock         // rings at the time-out; nil: none
	away      []string       // what calls that wait side by side wait for
}

// run is what an agent's loop alone knows: its conversation, and the turn that runs.
type run struct {
	turn         int64            // 0: none
	parked       *recovery.Parked // the turn to go on with first; nil: none
	history      []Entry          // what the model is sent, as far as it was read
	ids          map[string]bool  // of the calls that were read
	read         int64            // the last entry read into history
	counted      int64            // the last entry that Info.Context counts
	sinceSummary int              // steps since the last summary
	cramped      bool             // the window is full and the human was told
	began        time.Time
	steps        int             // of this turn
	tokens       int             // of this turn
	handled      []inbox.Message // with which this turn began while the human paused
	through      bool            // a sub-agent's work is done, but for what arrives at this seam
}

// stop is one thing of an agent that Stop ends.
type stop struct{ cancel context.CancelCauseFunc }

func (p *Pool) newAgent(i Info, task int64) *agent {
	a := &agent{
		p: p, id: i.ID, kind: i.Kind, task: task,
		poke: make(chan struct{}, 1), gone: make(chan struct{}),
		spec: spec{strict: i.Outside || i.Kind.Nature().Strict, outside: i.Outside, tools: p.toolsOf(i.Kind)},
		seen: seen{info: i, stops: map[*stop]bool{}, waiters: map[*stop]bool{}, active: p.o.Now()},
		run:  run{ids: map[string]bool{}, sinceSummary: 2}, // long ago
	}
	if i.State.Terminal() {
		close(a.gone) // no loop runs
	}
	if i.Model != "" {
		a.model, _ = p.o.Resolve(i.Model)
	}
	a.env = &tools.Env{
		Root: p.o.Root, Private: p.o.Private, Outputs: p.outputs(i.ID), Environ: p.environ(i), Keys: p.o.Keys,
		Desk: desk{a}, Seen: tools.NewSeen(), Changes: p.o.Gate.Changes(),
		Started: a.started, Keep: p.o.Keep,
		Tick: func(call, tail string) { a.show(Output{Agent: i.ID, Call: call, Tail: tail}) },
	}
	if i.Kind.Nature().Tasked && !i.State.Terminal() {
		var haste context.Context
		haste, a.hasten = context.WithCancel(p.ctx)
		a.env.Hurry = haste.Done()
	}
	return a
}

// loop is the life of an agent. A sub-agent's life is one task, a fork's one message; the others rest
// between turns, a helper until it is closed.
func (a *agent) loop() {
	defer close(a.gone)
	ctx := a.p.ctx
	switch of := a.kind.Nature(); {
	case of.Tasked:
		a.carryOut(ctx)
		return
	case of.Handles:
		a.p.forks.attend(ctx, a)
		return
	}
	if a.parked != nil {
		_ = a.work(ctx) // it has begun, so it ends by itself
	}
	token(a.poke)
	var failing time.Time // since when turns can't begin; zero: they can
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.poke:
		}
		for {
			if a.left(ctx) {
				return
			}
			if a.squeezed(ctx) {
				continue
			}
			if !a.due(ctx) {
				break
			}
			if err := a.work(ctx); err != nil {
				if failing.IsZero() {
					failing = a.p.o.Now()
				}
				a.trouble(err)
				a.p.disk.refused(failing, err)
				a.pause(ctx)
			} else {
				failing = time.Time{}
			}
		}
	}
}

// due reports whether there is a reason to start a turn. Messages that ask to
// wake are given half a second to gather; what the human types does not wait
// for that.
func (a *agent) due(ctx context.Context) bool {
	var gathered <-chan time.Time
	for ripe := false; ctx.Err() == nil; {
		a.p.mu.Lock()
		typed, wake := a.p.Room.Tray(a.id).Wants()
		for _, q := range a.info.Prompts {
			typed = typed || !q.Held
		}
		held := a.info.State != Idle // a human's receive waits in this tab
		a.p.mu.Unlock()
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
		case <-a.poke:
		case <-ctx.Done():
		}
	}
	return false
}

// pause keeps an agent whose turn can't begin (a full disk, say) from trying all
// the time.
func (a *agent) pause(ctx context.Context) {
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// poked leaves a token in the mailbox.
func (a *agent) poked() { token(a.poke) }

// set changes what is known of the agent and tells the feeds. A terminal state
// wins: nothing changes it. It wakes whatever depends on who can act if the
// state changed.
func (a *agent) set(f func(i *Info)) {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.change(f)
}

// change is set for a caller that holds mu.
func (a *agent) change(f func(i *Info)) {
	before := a.info.State
	i := a.info
	f(&i)
	if before.Terminal() {
		i.State = before
	}
	if !strings.HasPrefix(i.Doing, "tool ") {
		i.Call = ""
	}
	if i.State != before || i.Doing != a.info.Doing || i.Retry != a.info.Retry || i.Steps != a.info.Steps {
		a.active = a.p.o.Now()
	}
	i.Active = a.active
	a.info = i
	if a.p.agents[a.id] != a {
		return // its tab is closed, or not open yet
	}
	if i.State.Terminal() && !before.Terminal() {
		delete(a.p.living, a.id)
		for _, f := range a.p.hooks.ended {
			f(i)
		}
		a.p.letGo(a)
	}
	a.p.hub.Emit(Changed{Info: i})
	if i.State != before {
		a.p.told()
	}
}

// show tells the feeds of something the agent did: a sign of life.
func (a *agent) show(e Event) {
	a.p.mu.Lock()
	a.active = a.p.o.Now()
	a.p.mu.Unlock()
	a.p.hub.Emit(e)
}

// book is where the agent's transcript is written: what is appended is a sign of life.
func (a *agent) book() Book {
	b := a.p.book(a.id)
	b.Room = a.room
	b.Tell = func(es []Entry, live bool) { a.show(Appended{Agent: a.id, Entries: es, Live: live}) }
	return b
}

// book is where the transcript of an agent is written that need not be in memory.
func (p *Pool) book(agent int64) Book {
	return Book{
		Agent: agent, Keys: p.o.Keys,
		Tell: func(es []Entry, live bool) { p.hub.Emit(Appended{Agent: agent, Entries: es, Live: live}) },
	}
}

// stoppable returns a context that Stop and the pool's end cancel, and what ends
// the arrangement.
func (a *agent) stoppable(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &stop{cancel}
	unhook := context.AfterFunc(a.p.ctx, func() { cancel(context.Cause(a.p.ctx)) })
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.stops[s] = true
	if a.halted != nil {
		cancel(a.halted)
	}
	return ctx, func() {
		unhook()
		a.p.mu.Lock()
		delete(a.stops, s)
		a.p.mu.Unlock()
		cancel(nil)
	}
}

// visit is stoppable for what others than the loop do in the agent's tab: Close
// waits for it, and refuses it once it has begun.
func (a *agent) visit(ctx context.Context) (context.Context, func(), error) {
	if why := a.p.o.DB.ReadOnly(); why != nil {
		return nil, nil, why
	}
	a.p.mu.Lock()
	if a.p.closing {
		a.p.mu.Unlock()
		return nil, nil, event.ErrClosing
	}
	a.p.loops.Add(1)
	a.p.mu.Unlock()
	ctx, release := a.stoppable(ctx)
	return ctx, func() {
		release()
		a.p.loops.Done()
	}, nil
}

// halt ends everything the agent does now, for the given cause. A sub-agent that
// is killed, or whose time is up, gives its commands two seconds to end; the human
// who stops it by hand, and the program's end, do not.
func (a *agent) halt(cause error) {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	if a.kind.Ends() && (a.halted == nil || errors.Is(cause, errFelled)) {
		a.halted = cause
	}
	switch {
	case a.hasten == nil:
	case errors.Is(cause, errKilled):
		a.ends()
	default:
		a.hasten()
	}
	for s := range a.stops {
		s.cancel(cause)
	}
}

// ends shows that what the agent runs is being ended. The caller holds mu.
func (a *agent) ends() {
	if len(a.calls) > 0 && a.info.State == Running {
		a.change(func(i *Info) { i.Doing = "ending" })
	}
}

// started records a command before it runs, so that a crash finds its process
// group and its output.
func (a *agent) started(ctx context.Context, call, output string, g proc.Group) error {
	return a.keep(ctx, "record a command", func(tx *store.Tx) error {
		_, err := a.book().Batch(tx, false).Add(a.turn, Entry{
			Kind: EntryStarted, Call: &Call{ID: call}, Output: output, PGID: g.PGID, PStart: g.Start,
		})
		return err
	})
}

// trouble shows an error that can't be written down.
func (a *agent) trouble(err error) {
	a.set(func(i *Info) { i.Why = err.Error() })
}

// prepare makes the directory for tool outputs.
func (a *agent) prepare() error {
	if err := os.MkdirAll(a.env.Outputs, 0o700); err != nil {
		return fmt.Errorf("make the directory for tool outputs: %w", err)
	}
	return nil
}
