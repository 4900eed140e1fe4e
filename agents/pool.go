package agents

import (
	"context"
	"path/filepath"
	"strconv"
	"time"

	"fantail/agents/approval"
	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/hooks"
	"fantail/agents/instructions"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/agents/mcpconfig"
	"fantail/agents/schedule"
	"fantail/agents/tasks"
	"fantail/agents/turn"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/tools/proc"
	"fantail/tools/secret"
)

// Brought is what files of the user's and of the workspace bring.
type Brought = mcpconfig.Brought

// Options are what Open needs.
type Options struct {
	Brought
	DB       *store.DB
	Tools    *tools.Set
	Gate     *permission.Gate
	Moded    string                               // why the gate's mode is what it is, for the audit
	Resolve  func(name string) (llm.Model, error) // the error names the known providers
	Model    string                               // provider/name of new agents
	Root     string                               // the workspace
	Seals    *tasks.LastingSeal                   // of rows that start or allow something; nil: those of Data
	Data     string                               // the workspace's data directory; outputs live under it
	Private  []string                             // what tools must never open
	Environ  []string                             // for commands, where nobody's at a screen is known ([fleet.Within])
	Keys     *secret.Keys                         // what no transcript, file or feed holds; nil: none
	System   func(agent event.Info) string        // the system prompt, but for what files bring
	Now      func() time.Time
	Go       func(name string, f func())
	Cap      int                                          // running agents at once; 0: 8
	Rules    map[string]policy.Rules                      // what the workspace's files say about mail, by the agent's name
	Abroad   bool                                         // another process has the agents, and DB can only be read: they are as their rows say
	Alarm    func(at time.Time) error                     // says when Jumps is to look at the clock, zero: never; nil: it need not be told
	Jumps    func(ctx context.Context, tell func()) error // tells when the clock on the wall leaps, until ctx ends; nil: nothing does
	Kept     *turn.ProtectedFiles                         // over what commands in sandboxes must not change; nil: nobody watches
	Ahead    *proc.Ahead                                  // where commands wait that were started ahead; nil: nowhere
	Box      turn.Boxes                                   // makes the sandboxes of commands; nil: they run as the user
	Keep     func(proc.Group) func()                      // has a command's group ended if this program dies; nil: nobody does
	Observe  ObserverLimits                               // of each observer; zero: as usual
	Idle     time.Duration                                // how long an agent awaits input if its task does not say; 0: 5 min, tools.Forever: for ever
	Due      int                                          // scheduled tasks and commands active at once; 0: schedule.MaxTasks
	Budget   tools.Amount                                 // of the agent of a task that names none; zero: none
	Limit    time.Duration                                // of a task that names no time-out; 0: none
	Patience time.Duration                                // a disk that refuses writes for so long ends a conversation nobody attends; 0: 5 s
}

// shows reports that the database can only be read. Then the pool shows what is there: no
// agent's loop, dispatcher or sorter runs, and what would wait for one of them is refused.
func (o *Options) shows() bool { return o.DB.ReadOnly() != nil }

// Pool is all agents of a workspace: it opens and closes them, starts their tasks and
// composes the parts they work with. It is safe for concurrent use.
type Pool struct {
	Limits

	// The parts that others than the pool may use as they are.
	Tasks    *tasks.Tasks         // what waits to start
	Observe  *Observers           // agents that a schedule starts
	Mail     *mail.Delivery       // policies, quiet, what is due when
	Letters  *mail.Letters        // what is written, and where messages lie
	Pickup   *mail.Pickup         // how a human collects mail
	Asks     *approval.Questions  // what agents ask the human
	Memory   history.Documents    // the documents of the workspace
	Drafts   *store.Drafts        // what humans left half typed
	Records  *Records             // answers that only read
	Door     *mail.Client         // how the host lets in what other processes hand it
	Commands turn.RunningCommands // whose commands run
	Scripts  Scripts              // conversations that nobody attends
	Follow   event.Followers      // for readers that follow one agent
	Audit    audit.Reader         // what agents called, to be read
	Schedule *schedule.Scheduler  // what is due when
	Rows     *tasks.SealedRows    // what of the database waits for the human's yes
	Hooks    *hooks.Runner        // programs that run where something happens; nil: there are none

	o     Options
	inbox *inbox.Inbox
	fleet *fleet.Fleet
	loops *turn.Loops
	disk  *turn.Disk
	audit *audit.Log // nil where nothing can be written
	waits *tasks.Waits
	forks *Forks
	takes *mail.Takes
	ends  *tasks.Ends
	strangers

	others others // how far other processes were read. The fleet's mutex guards it
}

// Limits are what agents may use, and do.
type Limits struct {
	Budgets     *fleet.Budgets
	Permissions *approval.Rules // under which rules calls run
}

// strangers is what tells work that others asked for from the human's.
type strangers struct {
	held  *Quarantine
	seals *tasks.SealKey
}

// others is how far the pool has read what other processes wrote.
type others struct {
	stale   bool  // one wrote, and the maps do not show it yet
	noticed int64 // up to this entry the feeds heard of what they noted
	mailed  int64 // up to this message the feeds heard of mail they wrote
}

// known is what the database knows of an agent. A model that is no longer configured must
// not keep the program from starting: the agent gets the present one, as main does in any
// case.
func (p *Pool) known(ctx context.Context, row store.Agent) (i event.Info, err error) {
	err = p.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		i, err = tasks.Known(&rx.View, row)
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

// Instructions answers what the agents are told of instruction files.
func (p *Pool) Instructions() instructions.BriefReports {
	return instructions.BriefReports{Briefs: p.o.Briefs, DB: p.o.DB}
}

// Brought is what files bring for the agents.
func (p *Pool) Brought() Brought { return p.o.Brought }

// Close ends all turns, their tools' process groups too, and what the human runs
// in the tabs. What ran is recorded as interrupted with its partial output; what
// can't be recorded before ctx ends is found by the next Open.
func (p *Pool) Close(ctx context.Context) error { return p.fleet.Close(ctx, event.ErrClosing) }

// Subscribe returns a new feed, and the state that it goes on from.
func (p *Pool) Subscribe() (*event.Feed, []event.Event) { return p.fleet.Subscribe() }

// Infos returns what is known of all agents whose tab is open, by id.
func (p *Pool) Infos() []event.Info { return p.fleet.Infos() }

// Arrive adds the human at a new screen, who tells where they are and leaves.
func (p *Pool) Arrive() *fleet.Human { return p.fleet.Humans.Arrive() }

// Does tells what the agent or the queued task of that name does or waits for.
func (p *Pool) Does(name string) (fleet.Now, error) { return p.fleet.Does(name) }

// Fails waits until nothing can be recorded any more, and returns why; nil once over is closed.
func (p *Pool) Fails(over <-chan struct{}) error {
	gaveUp, leave := p.disk.Watch()
	defer leave()
	for {
		select {
		case err := <-gaveUp:
			if store.Stopped(err) {
				return err
			}
		case <-over:
			return nil
		}
	}
}

// Settled returns nil once no agent runs, waits or asks, no prompt waits to be
// sent and no task is about to start; or the cause of ctx's end.
func (p *Pool) Settled(ctx context.Context) error { return settled(ctx, p.fleet.Rest, nil) }

// settled returns nil once rest says so, else why it is not waited for any longer.
func settled(ctx context.Context, rest func() (still bool, changed <-chan struct{}), gaveUp <-chan error) error {
	for {
		still, changed := rest()
		if still {
			return nil
		}
		select {
		case <-changed:
		case err := <-gaveUp:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Outputs is the directory below a workspace's data of what all tools put out.
func Outputs(data string) string { return filepath.Join(data, "outputs") }

// outputs is the directory of an agent's tool-output files.
func (p *Pool) outputs(agent int64) string {
	return filepath.Join(Outputs(p.o.Data), strconv.FormatInt(agent, 10))
}

// Recount has everything that shows what is there look again: something of it that is no agent's has changed.
func Recount(p *Pool) { fleet.Recount(p.fleet) }

// Trouble tells whoever shows what is there of something that went wrong and is no agent's.
func Trouble(p *Pool, err error) { p.fleet.Emit(event.Trouble{Err: err}) }

// notice tells the human in main's tab what concerns more than one agent.
func (p *Pool) notice(ctx context.Context, text string) {
	m := p.fleet.Main()
	if m == nil {
		return
	}
	err := p.o.DB.Write(ctx, "note", func(tx *store.Tx) error {
		_, err := m.Book().Batch(tx).Add(0, history.Entry{Kind: history.EntryNotice, Text: text})
		return err
	})
	if err != nil && ctx.Err() == nil {
		m.Trouble(err)
	}
}
