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

	"fantail/agents/history"
	"fantail/agents/recovery"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// Loops are the loops of all agents whose tab is open.
type Loops struct {
	o     Options
	desk  func(l *Loop) tools.Desk
	forks Forks

	mu sync.Mutex
	of map[int64]*Loop
}

// New returns no loops yet. desk is how an agent's tools reach the others.
func New(o Options, desk func(l *Loop) tools.Desk, forks Forks) *Loops {
	return &Loops{o: o, desk: desk, forks: forks, of: map[int64]*Loop{}}
}

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
	forks Forks

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

// leave is the human's wish that a helper be closed; its loop carries it out at
// rest.
type leave struct{ failed chan error }

// squeeze is the human's wish that the conversation be compacted.
type squeeze struct {
	hint string
	done chan error
}

// Ending is how a turn ends.
type Ending struct {
	Outcome history.Outcome
	Cause   string
}

// Forks carry out what differs for agents whose work is a message.
type Forks interface {
	Attend(ctx context.Context, l *Loop)            // is the life of one
	Conclude(tx *store.Tx, l *Loop, e Ending) error // makes of its end what is to follow, in the transaction that ends it
}
