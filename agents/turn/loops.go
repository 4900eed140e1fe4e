// Package turn runs an agent's loop and its turns.
//
// Does: wait for a reason, absorb what is due, ask the model, record the reply, run its tools, repeat until nothing is
// left, and end the turn in one transaction with its result; let an agent that awaits input stay idle for it; compact a conversation that has grown long; resume a turn
// that was parked.
//
// Does not: open or close tabs, start tasks, decide when mail is due, know a provider.
//
// Imports: agents/abreast, agents/audit, agents/briefs, agents/brought, agents/budget, agents/commands, agents/disk,
// agents/ending, agents/engine, agents/event, agents/fleet, agents/history, agents/hooks, agents/kept, agents/llm,
// agents/mail, agents/post, agents/prompts, agents/questions, agents/recovery, agents/repeats, agents/reply,
// agents/roster, agents/sampling, agents/seat, agents/typed, agents/waits, inbox, store, tools, tools/permit,
// tools/proc, tools/sandbox, tools/secret, tools/workspace.
package turn

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fantail/agents/ending"
	"fantail/agents/event"
	"fantail/agents/recovery"
	"fantail/agents/roster"
	"fantail/agents/sampling"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// Loops are the loops of all agents whose tab is open.
type Loops struct {
	o     Options
	desk  func(l *Loop) tools.Desk
	lives map[event.Life]Life
	asks  *sampling.Room // has models asked by programs that work on calls

	// Input returns where an agent that awaits input gets it from; nil: from the human and its inbox. Set it before agents
	// start.
	Input func(agent event.Info) Input

	mu sync.Mutex
	of map[int64]*Loop
}

// New returns an empty set of loops.
func New(o Options, desk func(l *Loop) tools.Desk, lives map[event.Life]Life) *Loops {
	asks := sampling.New(sampling.Options{DB: o.DB, Fleet: o.Fleet, Budgets: o.Budget, Keys: o.Keys, Now: o.Now})
	return &Loops{o: o, desk: desk, lives: lives, asks: asks, of: map[int64]*Loop{}}
}

// Of returns the loop of an agent whose tab is open.
func (ls *Loops) Of(agent int64) (*Loop, error) {
	if _, err := ls.o.Fleet.Agent(agent); err != nil {
		return nil, err
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l := ls.of[agent]; l != nil {
		return l, nil
	}
	return nil, fmt.Errorf("agent %d: %w", agent, roster.ErrNoAgent) // its tab was closed meanwhile
}

// Forget drops the loop of an agent whose tab was closed.
func (ls *Loops) Forget(agent int64) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	delete(ls.of, agent)
}

// Busy reports whether the human has asked an agent for something it does between turns. The caller holds the fleet's
// mutex.
func (ls *Loops) Busy(agent int64) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.of[agent]
	return l != nil && l.compaction != nil
}

// Loop is an agent at work: a goroutine with a transcript. What it was made with never changes once it runs. The rest
// belongs to its own goroutine, except where noted.
type Loop struct {
	workbench
	life Life // what is different for an agent that lives for something of its own; nil: nothing

	hasten  func()        // ends a sub-agent's commands at once; nil for others
	timeout time.Duration // of its task; 0: none
	command string        // its task, if that is a plain command

	parked  *recovery.Parked // the turn to resume first; nil: none
	began   time.Time        // when the current turn began
	handled []inbox.Message  // the messages this turn began with while the human paused
	idling  *idling          // how it awaits input; nil: it ends with its turn
	through bool             // a sub-agent has finished, except for what arrives at this seam
	seating seating          // where an engine works as it

	// The fleet's mutex guards these.
	leaves     *leave      // a request to close the helper
	compaction *compaction // a request to compact the conversation
}

// leave is the human's request to close a helper. Its loop carries it out between turns.
type leave struct{ failed chan error }

// compaction is the human's request to compact the conversation.
type compaction struct {
	hint  string
	begun bool
	done  chan error
}

// Life does what is different for agents whose work is neither the human's nor a task: a message, what a schedule says.
type Life interface {
	Attend(ctx context.Context, l *Loop) // the whole life of one
	// Conclude handles its end, in the transaction that ends it and leaves it in that state.
	Conclude(tx *store.Tx, l *Loop, e ending.Ending, state event.State) error
}
