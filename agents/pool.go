// Package agents is the agents: each a goroutine with a transcript.
//
// Does: keep the pool of agents, run their turns (absorb, ask, record, run
// tools), queue and start tasks, deliver their results into inboxes, put
// questions to the human, tell feeds what happens, recover after a crash.
//
// Does not: know a provider by name, a screen, or the configuration file;
// render anything for people.
//
// Imports: inbox, store, tools, tools/permit, tools/proc, agents/llm.
package agents

import (
	"context"
	"errors"
	"time"

	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
)

// Model is a model as main resolved it.
type Model struct {
	Name     string // provider/name, as shown
	Provider llm.Provider
	ID       string                // the provider's own name
	Window   int                   // tokens; 0: unknown
	MaxOut   int                   // tokens of a reply; 0: the provider's default
	Price    func(llm.Usage) int64 // millionths of a dollar; nil: unknown
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
	Environ  []string                         // for commands, cleaned
	System   func(agent Info) string          // the system prompt
	Now      func() time.Time
	Go       func(name string, f func())
	Cap      int  // running agents at once; 0: 8
	Attended bool // a human can answer; false: what would ask is denied with the reason
}

// Pool is all agents of a workspace. It is safe for concurrent use.
type Pool struct{ contract }

type contract struct{}

// Errors the pool's methods return (wrapped, with the names in the text).
var (
	ErrNoAgent  = errors.New("no such agent")
	ErrNoPrompt = errors.New("this agent has no prompt box")
	ErrNothing  = errors.New("nothing can arrive")
	ErrStopped  = errors.New("stopped")
)

// Open recovers what a crash left, makes main if there is none and starts the
// living agents. The caller holds the host's lock.
func Open(ctx context.Context, o Options) (*Pool, error) { panic("contract") }

// Close stops all turns (their tools' process groups too), marks what ran as
// crashed work the next start will report — unless it ended in time — and returns when all goroutines ended or ctx did.
func (p *Pool) Close(ctx context.Context) error { panic("contract") }

// Subscribe returns a new feed, beginning with what is now.
func (p *Pool) Subscribe() *Feed { panic("contract") }

// Page returns the limit newest entries with Seq < before (0: the newest), oldest first.
func (p *Pool) Page(ctx context.Context, agent, before int64, limit int) ([]Entry, error) {
	panic("contract")
}

// Prompt queues what the human typed; it returns once the row is committed.
func (p *Pool) Prompt(ctx context.Context, agent int64, text string) error { panic("contract") }

// Unprompt takes a queued prompt back; false: it had entered.
func (p *Pool) Unprompt(ctx context.Context, id int64) (bool, error) { panic("contract") }

// Stop ends the agent's current turn, its tools, or its wait. It returns at once.
func (p *Pool) Stop(agent int64) { panic("contract") }

// Answer answers a question; false: it was answered or gone.
func (p *Pool) Answer(question int64, a permit.Answer) bool { panic("contract") }

// Push queues a task in the queue of `by` and returns it with its name.
func (p *Pool) Push(ctx context.Context, by int64, t tools.Task) (store.Task, error) {
	panic("contract")
}

// Ran tells what Run did.
type Ran struct{ Running, Queued, Window int } // Window 0: unlimited

// Run drains the queue of `by` with at most n at once (0: no window).
func (p *Pool) Run(ctx context.Context, by int64, n int) (Ran, error) { panic("contract") }

// Queue lists the tasks of the queue of `by` by id.
func (p *Pool) Queue(ctx context.Context, by int64) ([]store.Task, error) { panic("contract") }

// Send puts mail from one agent into the inbox of the agent of that name.
func (p *Pool) Send(ctx context.Context, from int64, to, body string, pr inbox.Priority) (id int64, err error) {
	panic("contract")
}

// Check takes all that are ready and match into the agent's transcript, without
// starting a turn; left counts those that did not fit.
func (p *Pool) Check(ctx context.Context, agent int64, q inbox.Query) (ms []inbox.Message, left int, err error) {
	panic("contract")
}

// Receive takes exactly one into the agent's transcript and waits for it if need be.
// It returns ErrNothing (wrapped, with the explanation) when nothing can arrive and ErrStopped after Stop.
func (p *Pool) Receive(ctx context.Context, agent int64, q inbox.Query) (inbox.Message, error) {
	panic("contract")
}

// Next takes the most urgent message, or the one with that id (0: none named),
// and starts a turn; false: there is none.
func (p *Pool) Next(ctx context.Context, agent, id int64) (inbox.Message, bool, error) {
	panic("contract")
}

// Inbox lists the pending messages of agent; Message returns one, taken or not.
func (p *Pool) Inbox(ctx context.Context, agent int64) ([]inbox.Message, error)    { panic("contract") }
func (p *Pool) Message(ctx context.Context, id int64) (inbox.Message, bool, error) { panic("contract") }

// Kill ends the agent of that name now, or removes a queued task of that name.
func (p *Pool) Kill(ctx context.Context, name string) error { panic("contract") }

// CloseTab closes the tab of an ended agent.
func (p *Pool) CloseTab(ctx context.Context, name string) error { panic("contract") }

// SetModel changes the agent's model from its next request on; new agents get it too if it is main's.
func (p *Pool) SetModel(ctx context.Context, agent int64, name string) error { panic("contract") }

// Shell runs a command of the human's own in the agent's tab, without a question.
func (p *Pool) Shell(ctx context.Context, agent int64, command string) error { panic("contract") }

// Clear begins a new conversation: what stands before is kept but no longer sent.
func (p *Pool) Clear(ctx context.Context, agent int64) error { panic("contract") }

// SetMode changes the permission mode of all agents.
func (p *Pool) SetMode(m permit.Mode) { panic("contract") }

// Infos returns what is known of all agents whose tab is open, by id.
func (p *Pool) Infos() []Info { panic("contract") }

// Settled is closed once no agent runs, waits or asks and, with tasks true, no started window has tasks left.
func (p *Pool) Settled(ctx context.Context) error { panic("contract") }

// Feed is one reader's view of the pool's events. It is unbounded only by the
// text itself: neighbouring deltas and changes coalesce.
type Feed struct{ contract }

// Wait returns a channel that has a token when there is news.
func (f *Feed) Wait() <-chan struct{} { panic("contract") }

// Take returns all events since the last Take, in order.
func (f *Feed) Take() []Event { panic("contract") }

// Close ends the feed.
func (f *Feed) Close() { panic("contract") }
