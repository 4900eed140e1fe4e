// Package turn is the loop of one agent: absorb what is due, ask the model, run its tools, record, compact, and finish.
package turn

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"fantail/agents/approval"
	"fantail/agents/engine"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/instructions"
	"fantail/agents/llm"
	"fantail/agents/recovery"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
)

// Loop is the loop of one agent: a goroutine with a transcript. Its fields are grouped by who may
// use them.
type Loop struct {
	Agent  *fleet.Agent // the part of the agent that others see and change
	o      *Options     // shared by all loops
	fixed  fixed
	shared shared
	own    own
}

// fixed is set before Start and never changed after it. Any goroutine may then read it.
type fixed struct {
	tools      *tools.Set      // that the model may call
	guard      Guard           // limits the agent; nil: none
	input      Input           // input after a turn; nil: the agent ends with its turn
	life       Life            // for a fork or an observer; nil: none
	mode       permission.Mode // judges the agent's calls without what was allowed for the session; "": the session's mode
	strict     bool            // the session's mode and rules loosen nothing for it
	outside    bool            // its work was requested from outside the program
	unattended bool            // no human is there to be asked

	hasten  func()        // ends a sub-agent's commands at once; nil for others
	timeout time.Duration // of its task; 0: none
	command string        // its task, if that is a plain command
	sandbox string        // what confines that command
}

// shared is what other goroutines request from the loop. The fleet's mutex guards it.
type shared struct {
	leaves     *leave      // a request to close the helper; nil: none
	compaction *compaction // a request to compact the conversation; nil: none
	stirred    atomic.Bool // an engine has something to say on its own; it needs no mutex
}

// own belongs to the loop's goroutine. What that calls and waits for may use it, including calls
// that run concurrently; nothing else may.
type own struct {
	turn    int64            // the current turn; 0: none
	began   time.Time        // when the turn began
	steps   int              // of this turn
	tokens  int              // of this turn
	cost    int64            // of this turn, in millionths of a dollar
	handled []inbox.Message  // messages that this turn began with while the human paused
	parked  *recovery.Parked // the turn to resume first; nil: none
	through bool             // a sub-agent has finished, except for what arrives at this seam
	idled   bool             // it was idle in its task, so the task has begun and new prompts are not the task

	// The conversation.
	talk         history.Talk      // what the model is sent, as far as it was read
	counted      int64             // last entry that Info.Context counts
	sinceSummary int               // steps since the last summary
	cramped      bool              // the window is full, and the human was told
	filled       int               // tokens of its window that an engine reports as used; 0: unknown
	last         *fleet.LastBudget // why the model may call no more tools; nil: it may

	// The calls.
	env     *tools.Runtime // environment of the calls
	repeats repeats
	guide   instructions.BriefGuide

	// The engine.
	runner   *engine.Runner // carries out the turns if the model is an engine; nil: none
	runnerOf string         // model of the runner
}

// Life handles agents whose work comes neither from the human nor from a task: forks and observers.
type Life interface {
	Attend(ctx context.Context, l *Loop) // runs the agent from start to end
	// Conclude handles the agent's end, in the transaction that ends it in that state.
	Conclude(tx *store.Tx, l *Loop, e Ending, state event.State) error
}

// SetMode sets the mode that judges the calls of an agent and of those below it. Call it before
// Start.
func (l *Loop) SetMode(m permission.Mode) { l.fixed.mode, l.Agent.Info.Mode = m, m }

// Unattended reports whether no human is there to be asked.
func (l *Loop) Unattended() bool { return l.fixed.unattended }

// SetCommand sets the plain command that is the agent's task, and what confines it, as [store.Task]
// describes. Call it before Start.
func (l *Loop) SetCommand(command, sandbox string) {
	l.fixed.command, l.fixed.sandbox = command, sandbox
}

// SetTimeout sets how long the agent's task may take; 0: forever. Call it before Start.
func (l *Loop) SetTimeout(d time.Duration) { l.fixed.timeout = d }

// Start starts the agent's goroutine. It runs one task or one message, or, for agents that rest
// between turns, until the agent is closed.
func (l *Loop) Start() {
	life := l.rest
	switch {
	case l.fixed.life != nil:
		life = func(ctx context.Context) { l.fixed.life.Attend(ctx, l) }
	case l.Agent.Kind.Tasked():
		life = l.carryOut
	}
	l.o.Fleet.Start("agent "+l.Agent.Info.Name, func() {
		defer close(l.Agent.Gone)
		defer l.endEngine()
		l.o.Fleet.Letters.Sent(l.o.Fleet.Context(), l.Agent.Task)
		life(l.o.Fleet.Context())
	})
}

// rest runs an agent that the human talks to: between turns it waits for a reason to begin the next
// one.
func (l *Loop) rest(ctx context.Context) {
	if l.own.parked != nil {
		_ = l.Work(ctx) // the turn has begun, so it reports its own end
	}
	l.Agent.Poke()
	var failing time.Time // since when turns fail to begin; zero: they don't
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.Agent.Pokes:
		}
		for {
			if l.leaveIfAsked(ctx) {
				return
			}
			if l.compactIfAsked(ctx) {
				continue
			}
			if !l.due(ctx) {
				break
			}
			if err := l.Work(ctx); err != nil {
				if failing.IsZero() {
					failing = l.o.Now()
				}
				l.Agent.Trouble(err)
				l.o.Disk.Refused(failing, err)
				l.pause(ctx)
			} else {
				failing = time.Time{}
			}
		}
	}
}

// due reports whether there is a reason to begin a turn. It waits half a second for more messages
// that wake; prompts don't wait.
func (l *Loop) due(ctx context.Context) bool {
	var gathered <-chan time.Time
	for ripe := false; ctx.Err() == nil; {
		l.o.Fleet.Lock()
		tray := l.o.Mail.Tray(l.Agent.ID)
		if l.Agent.Info.Pending == 0 && tray.Heed() { // the messages that woke it were taken meanwhile
			l.o.Fleet.Told()
		}
		typed, wake := tray.Wants()
		for _, q := range l.Agent.Info.Prompts {
			typed = typed || !q.Held
		}
		held := l.Agent.Info.State != event.Idle // a human's receive waits in this tab
		ends := l.Agent.Info.Await != nil && l.Agent.Info.Await.Ends
		other := l.shared.leaves != nil || l.shared.compaction != nil && !held
		l.o.Fleet.Unlock()
		switch {
		case other: // it came after the loop looked, and this function took its token
			l.Agent.Poke()
			return false
		case held:
			return false
		case typed || (wake && ripe) || l.shared.stirred.Load():
			return true
		case !wake, ends:
			return false
		case gathered == nil:
			t := time.NewTimer(500 * time.Millisecond)
			defer t.Stop()
			gathered = t.C
		}
		select {
		case <-gathered:
			ripe = true
		case <-l.Agent.Pokes:
		case <-ctx.Done():
		}
	}
	return false
}

// pause keeps an agent whose turn can't begin, such as on a full disk, from retrying in a tight
// loop.
func (l *Loop) pause(ctx context.Context) {
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// maxCuts is how many times in a row a model may fail to make a complete call, cut by its token
// limit or with arguments that are no object, before the turn fails.
const maxCuts = 3

// Work carries out one turn: absorb, ask, record, run tools, until no calls are left and nothing more is due. It
// returns an error if the turn could not begin.
func (l *Loop) Work(ctx context.Context) error {
	ctx, release := l.Agent.Stoppable(ctx)
	defer release()
	if l.leaving() { // since the loop checked: there was nothing to stop then
		if l.own.parked == nil {
			return nil
		}
		l.Agent.Halt(fleet.ErrStopped) // a turn that has begun ends in order
	}
	l.own.began, l.own.steps, l.own.tokens, l.own.cost, l.own.handled = l.o.Now(), 0, 0, 0, nil
	defer l.Agent.Wrapped()
	defer func() { l.own.runner.Rest() }()
	if l.own.parked != nil {
		if err := l.resume(ctx); err != nil {
			l.endWith(ctx, err)
			return nil
		}
	}
	cuts, said := 0, false // said: the model has nothing left to say
	for {
		came, err := l.absorb(ctx)
		switch {
		case err != nil && l.own.turn == 0:
			return err
		case err != nil:
			l.endWith(ctx, err)
			return nil
		case !came && l.own.turn == 0:
			return nil
		case !came && said: // what kept the turn from ending was taken meanwhile
			if l.finish(ctx, Ending{Outcome: history.Completed}) {
				return nil
			}
			continue
		}
		said = false
		added := l.o.Hooks.Begins(ctx, l.who())
		if err := l.hookError(); err != nil {
			l.endWith(ctx, err)
			return nil
		}
		if added {
			continue // the model first reads what hooks added
		}
		r, err := l.answer(ctx)
		switch {
		case err != nil:
		case r == nil: // a seam of an engine's turn
			continue
		case len(r.Calls) > 0:
			if err = l.runCalls(ctx, r.Calls); err == nil {
				err = l.hookError()
			}
		case r.Stop != nil && len(r.Stop.Broken) > 0:
			if cuts++; cuts < maxCuts {
				continue
			}
			why := "its arguments were no JSON object"
			switch r.Stop.Reason {
			case llm.Length:
				why = "its token limit cut it"
			case llm.Incomplete:
				why = "its server ended the reply before"
			}
			err = fmt.Errorf("the model made no whole call %d times in a row: %s", cuts, why)
		case l.Agent.Kind.Ends() && r.Short() != "":
			err = errors.New(r.Short())
		default:
			if err = l.await(ctx); err != nil || l.o.Hooks.Holds(ctx, l.who()) {
				break
			}
			if said = true; l.finish(ctx, Ending{Outcome: history.Completed}) {
				return nil
			}
		}
		cuts = 0
		if err != nil {
			l.endWith(ctx, err)
			return nil
		}
	}
}

// hookError returns the error of a turn that a hook stops.
func (l *Loop) hookError() error {
	if why := l.o.Hooks.Halted(l.who()); why != "" {
		return &Halted{Why: why}
	}
	return nil
}

// endWith ends the turn because of err, unless it was only parked.
func (l *Loop) endWith(ctx context.Context, err error) {
	if !errors.Is(err, approval.ErrParked) {
		l.finish(ctx, EndingOf(ctx, err, l.Agent.Kind))
	}
}

// answerOnce gets the model's reply. It compacts a full conversation first. If the model refuses
// the request as too long, it compacts the conversation and sends the request once more.
func (l *Loop) answerOnce(ctx context.Context) (*event.Reply, error) {
	if s, err := l.engine(); s != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return s.Answer(ctx)
	}
	if err := l.compactIfFull(ctx); err != nil {
		return nil, err
	}
	r, err := l.send(ctx)
	if !llm.TooLong(err) {
		return r, err
	}
	if err := l.rescue(ctx, err); err != nil {
		return nil, err
	}
	return l.send(ctx)
}
