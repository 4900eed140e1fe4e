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

// Brought is what the user's and the workspace's files configure.
type Brought = mcpconfig.Brought

// Options are what Open needs.
type Options struct {
	Brought
	DB       *store.DB
	Tools    *tools.Set
	Gate     *permission.Gate
	Moded    string                               // why the gate has its mode, for the audit
	Resolve  func(name string) (llm.Model, error) // its error names the known providers
	Model    string                               // provider/name for new agents
	Root     string                               // the workspace
	Seals    *tasks.LastingSeal                   // for rows that start or allow something; nil: those in Data
	Data     string                               // data directory of the workspace; outputs live below it
	Private  []string                             // files that tools must never open
	Environ  []string                             // for commands where no screen's environment is known ([fleet.Within])
	Keys     *secret.Keys                         // hidden in transcripts, files and feeds; nil: none
	System   func(agent event.Info) string        // the system prompt without texts from files
	Now      func() time.Time
	Go       func(name string, f func())
	Cap      int                                          // limit of running agents; 0: 8
	Rules    map[string]policy.Rules                      // mail rules in the workspace's files, by agent name
	Abroad   bool                                         // another process has the agents, and DB is read-only: agents have the state in their rows
	Alarm    func(at time.Time) error                     // sets when Jumps next checks the clock, zero: never; nil: not needed
	Jumps    func(ctx context.Context, tell func()) error // calls tell when the wall clock jumps, until ctx ends; nil: never
	Kept     *turn.ProtectedFiles                         // files that sandboxed commands must not change; nil: none
	Ahead    *proc.Ahead                                  // holds commands that were started ahead; nil: none
	Box      turn.Boxes                                   // makes the sandboxes of commands; nil: they run as the user
	Keep     func(proc.Group) func()                      // ends a command's group if this program dies; nil: nothing does
	Observe  ObserverLimits                               // for each observer; zero: the defaults
	Idle     time.Duration                                // how long an agent awaits input if its task does not say; 0: 5 min, tools.Forever: for ever
	Due      int                                          // scheduled tasks and commands active at once; 0: schedule.MaxTasks
	Budget   tools.Amount                                 // budget of a task that names none; zero: no limit
	Limit    time.Duration                                // time-out of a task that names none; 0: none
	Patience time.Duration                                // an unattended conversation ends once the disk has refused writes for so long; 0: 5 s
}

// shows reports whether the database is read-only. The pool then only shows what is there: no loop,
// dispatcher or sorter runs, and whatever would wait for one is refused.
func (o *Options) shows() bool { return o.DB.ReadOnly() != nil }

// Pool is all agents of a workspace. It opens and closes them, starts their tasks, and connects the
// parts they work with. It is safe for concurrent use.
type Pool struct {
	Limits

	// Parts that callers may use directly.
	Tasks    *tasks.Tasks         // tasks waiting to start
	Observe  *Observers           // agents started by schedules
	Mail     *mail.Delivery       // policies, quiet, and what is due when
	Letters  *mail.Letters        // writing and finding messages
	Pickup   *mail.Pickup         // how a human collects mail
	Asks     *approval.Questions  // what agents ask the human
	Memory   history.Documents    // the workspace's memory documents
	Drafts   *store.Drafts        // what humans typed and did not send
	Records  *Records             // read-only answers
	Door     *mail.Client         // how the host accepts work from other processes
	Commands turn.RunningCommands // commands that run now
	Scripts  Scripts              // unattended conversations
	Follow   event.Followers      // for readers that follow one agent
	Audit    audit.Reader         // reads what agents called
	Schedule *schedule.Scheduler  // what is due when
	Rows     *tasks.SealedRows    // rows that wait for the human's yes
	Hooks    *hooks.Runner        // programs that run on events; nil: none

	o     Options
	inbox *inbox.Inbox
	fleet *fleet.Fleet
	loops *turn.Loops
	disk  *turn.Disk
	audit *audit.Log // nil if the database is read-only
	waits *tasks.Waits
	forks *Forks
	takes *mail.Takes
	ends  *tasks.Ends
	strangers

	others others // how far other processes' writes were read. The fleet's mutex guards it
}

// Limits restrict what agents may use and do.
type Limits struct {
	Budgets     *fleet.Budgets
	Permissions *approval.Rules // rules for tool calls
}

// strangers tells work that others asked for from the human's.
type strangers struct {
	held  *Quarantine
	seals *tasks.SealKey
}

// others is how far the pool has read what other processes wrote.
type others struct {
	stale   bool  // another process wrote, and memory does not have it yet
	noticed int64 // the feeds have notices up to this entry
	mailed  int64 // the feeds have mail up to this message
	queued  int64 // the queue in memory has the changes up to this number
}

// known returns what the database knows of an agent. A model that is no longer configured must not
// keep the program from starting: the agent then gets the present default, as main always does.
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

// Instructions reports which instruction files agents are told of.
func (p *Pool) Instructions() instructions.BriefReports {
	return instructions.BriefReports{Briefs: p.o.Briefs, DB: p.o.DB}
}

// Brought returns what files configure for the agents.
func (p *Pool) Brought() Brought { return p.o.Brought }

// Close ends all turns, the process groups of their tools, and what the human runs in the tabs. It
// records what ran as interrupted, with partial output. What it can't record before ctx ends, the
// next Open finds.
func (p *Pool) Close(ctx context.Context) error { return p.fleet.Close(ctx, event.ErrClosing) }

// Subscribe returns a new feed and the state it starts from.
func (p *Pool) Subscribe() (*event.Feed, []event.Event) { return p.fleet.Subscribe() }

// Infos returns the Info of all agents with an open tab, by id.
func (p *Pool) Infos() []event.Info { return p.fleet.Infos() }

// Arrive adds the human at a new screen. The result reports where the human is, and when they
// leave.
func (p *Pool) Arrive() *fleet.Human { return p.fleet.Humans.Arrive() }

// Does returns what the agent or queued task of that name does or waits for.
func (p *Pool) Does(name string) (fleet.Now, error) { return p.fleet.Does(name) }

// Fails waits until nothing can be recorded any more and returns the reason; nil once over is
// closed.
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

// Settled returns nil once no agent runs, waits or asks, no prompt waits to be sent and no task is
// about to start. Else it returns the cause of ctx's end.
func (p *Pool) Settled(ctx context.Context) error { return settled(ctx, p.fleet.Rest, nil) }

// settled returns nil once rest reports so, else the error from gaveUp or the cause of ctx's end.
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

// Outputs returns the directory, below a workspace's data, of all tools' output files.
func Outputs(data string) string { return filepath.Join(data, "outputs") }

// outputs returns the directory of an agent's tool-output files.
func (p *Pool) outputs(agent int64) string {
	return filepath.Join(Outputs(p.o.Data), strconv.FormatInt(agent, 10))
}

// Recount refreshes all counts that are shown, after a change that belongs to no agent.
func Recount(p *Pool) { fleet.Recount(p.fleet) }

// Trouble shows an error that belongs to no agent.
func Trouble(p *Pool, err error) { p.fleet.Emit(event.Trouble{Err: err}) }

// notice tells the human, in main's tab, of something that concerns more than one agent.
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
