package agents

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fantail/agents/approval"
	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/hooks"
	"fantail/agents/mail"
	"fantail/agents/recovery"
	"fantail/agents/schedule"
	"fantail/agents/skills"
	"fantail/agents/tasks"
	"fantail/agents/turn"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
)

// Open recovers what a crash left, creates main if it does not exist, and starts the living agents.
// The caller holds the host's lock. A read-only database needs no lock: Open then only loads what
// is there, and repairs and starts nothing.
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
	if o.Idle == 0 {
		o.Idle = 5 * time.Minute
	}
	if o.Patience == 0 {
		o.Patience = 5 * time.Second
	}
	if _, err := o.Resolve(o.Model); err != nil {
		return nil, err
	}
	if o.Seals == nil && !o.shows() {
		o.Seals = tasks.LoadLastingSeal(o.Data)
	}
	p := &Pool{
		o: o, Hooks: o.Hooks, disk: turn.NewDisk(o.Patience, o.Now), forks: NewForks(), Observe: NewObservers(), Memory: history.Documents{DB: o.DB}, Drafts: &store.Drafts{DB: o.DB},
	}
	if !o.shows() {
		log, err := audit.Open(ctx, audit.Options{
			DB: o.DB, Dir: o.Data, Keys: o.Keys, Kinds: event.Trails(), Mode: string(o.Gate.Mode()), Why: o.Moded,
			Warn: func(err error) { p.fleet.Emit(event.Trouble{Err: err}) },
		})
		if err != nil {
			return nil, err
		}
		p.audit = log
	}
	p.fleet = fleet.New(context.WithoutCancel(ctx), fleet.Options{
		Now: o.Now, Go: o.Go, Resolve: o.Resolve, Model: o.Model, Cap: o.Cap, Keys: o.Keys,
		Modes: o.Gate.Modes, Wall: o.Gate.Known, Audit: p.audit.Entry,
	})
	p.Scripts = Scripts{p}
	p.Audit, p.Follow = audit.Reader{DB: o.DB, Dir: o.Data}, event.Followers{DB: o.DB, Subscribe: p.fleet.Subscribe, Go: o.Go}
	p.furnish()
	err := p.Asks.Recall(ctx)
	if err == nil {
		err = p.recover(ctx)
	}
	if err != nil {
		_ = p.fleet.Close(ctx, event.ErrClosing) // no agent runs yet: the loops are started last
		return nil, err
	}
	return p, nil
}

// furnish makes the pool's parts and connects them.
func (p *Pool) furnish() {
	o := &p.o
	p.seals, p.inbox = tasks.NewSealKey(), inbox.New(o.DB, p.fleet.Rung)
	p.Rows = &tasks.SealedRows{DB: o.DB, Key: o.Seals, Note: func(ctx context.Context, tx *store.Tx, r tasks.SealedRow, answer string) error {
		return p.audit.Filed(tx, r.Kind+" "+r.Name+": "+r.Says, "the database", answer, audit.Who(ctx))
	}}
	p.held = NewQuarantine(o.DB, p.fleet, p.seals)
	p.Asks = approval.NewQuestions(o.DB, p.inbox, o.Gate, p.seals, o.Seals, p.audit, o.Now)
	p.Permissions = approval.NewRules(approval.RulesOptions{
		DB: o.DB, Gate: o.Gate, Seals: o.Seals, Audit: p.audit, Asks: p.Asks, Tools: o.Tools,
		Env:   tools.Runtime{Root: o.Root, Private: o.Private, Outputs: p.outputs(0), Environ: o.Environ, Keys: o.Keys},
		Boxed: o.Box != nil, Tell: p.notice,
	})
	p.Records, p.waits = &Records{pool: p}, tasks.NewWaits(waitingAgents{p.fleet, p})
	p.takes = mail.NewTakes(o.DB, p.inbox, p.waits)
	p.Mail = mail.New(mail.Options{
		DB: o.DB, Inbox: p.inbox, Now: o.Now, Rules: o.Rules,
		Fleet: p.fleet, Forker: p.forks, Notice: p.notice,
	})
	p.Letters = mail.NewLetters(o.DB, p.inbox, o.Now, p.fleet, p.reader, p.Mail.Stir)
	p.Pickup = mail.NewPickup(p.fleet, p.Mail, p.Letters, p.takes, p.Unprompt)
	p.ends = &tasks.Ends{
		Inbox: p.inbox, Seals: p.seals, Unread: p.Letters.Unread, Passed: p.fleet.Line.Passed,
		Ended: func(task int64) {
			p.fleet.Line.Ended(task)
			p.Hooks.TaskEnded(task)
		},
	}
	ground := hooks.ProgramOptions{
		Root: o.Root, Environ: o.Environ, Keys: o.Keys, Box: o.Box, Keep: o.Keep, Go: o.Go,
		Leave: func() permission.Leave { return o.Gate.Leave(permission.Action{Dir: o.Root}) },
	}
	o.Skills.Begin((&skills.InlineCommands{Ground: ground, Trust: o.Trust, Judge: p.Permissions.Line}).Run)
	p.Hooks.Begin(hooks.Options{
		DB: o.DB, Inbox: p.inbox, Book: p.fleet.Book, Mode: o.Gate.Mode, Ground: ground, Take: p.Unprompt, Trouble: p.fleet.Trouble, Now: o.Now,
		Shows: func(agent int64, doing, call string) {
			if a, err := p.fleet.Agent(agent); err == nil && a.Known().State == event.Running {
				a.Set(func(i *event.Info) { i.Doing, i.Call = doing, call })
			}
		},
	})
	p.Door = &mail.Client{DB: o.DB, Origin: tasks.OriginCLI, Model: o.Model, Seals: p.seals, Ring: func() {
		p.fleet.Lock()
		p.others.stale = true // it commits through the pool's own database, so the file does not report a change
		p.fleet.Unlock()
		p.Refresh(p.fleet.Context())
	}}
	p.Budgets = &fleet.Budgets{DB: o.DB, Inbox: p.inbox, Fleet: p.fleet, Usual: o.Budget, Resolve: o.Resolve}
	p.Tasks = tasks.New(o.DB, p.inbox, p.ends, p.seals, func(model string) (string, error) {
		m, err := o.Resolve(model)
		return m.Name, err
	}, o.Idle, &p.fleet.Line)
	p.Schedule = schedules(p)
	p.Tasks.Fits = p.Budgets.Fits
	office, gear := &turn.CommandMailboxes{Dir: o.boxes()}, NewKit(o.Tools, o.Skills, o.System, o.Gate)
	p.Tasks.Cast, p.Records.Carries = gear.Cast, gear.Carries
	o.Briefs.Adds(gear.Fitting)
	p.loops = turn.New(turn.Options{
		DB: o.DB, Inbox: p.inbox, Fleet: p.fleet, Mail: p.Mail, Takes: p.takes, Pickup: p.Pickup,
		Asks: p.Asks, Waits: p.waits, Ends: p.ends, Disk: p.disk, Audit: p.audit, Budget: p.Budgets, Brought: o.Brought,
		Kit: gear.Of, Gate: o.Gate, Keys: o.Keys, Root: o.Root, Private: o.Private, Outputs: p.outputs,
		Environ: o.Environ, System: gear.Prompt, Commands: &p.Commands, Ahead: o.Ahead, Box: o.Box, Kept: o.Kept, Post: sends(p, office), Bare: office.Bare, Keep: o.Keep, Now: o.Now, Go: o.Go,
	}, func(l *turn.Loop) tools.Agents { return toolAgents{p, l} }, map[event.Life]turn.Life{event.HandlesMessage: p.forks, event.Observes: p.Observe})
	p.forks.Begin(ForkOptions{
		DB: o.DB, Inbox: p.inbox, Fleet: p.fleet, Loops: p.loops, Waits: p.waits, Mail: p.Mail,
		Letters: p.Letters, Ends: p.ends, Resolve: o.Resolve,
	})
	may := schedule.NewChecks(schedule.ChecksOptions{
		DB: o.DB, Root: o.Root, Wall: o.Gate.Wall, Environ: o.Environ, Keys: o.Keys, Keep: o.Keep, Box: o.Box, Seals: o.Seals,
	})
	p.Rows.Keepers = []tasks.SealKeeper{p.Schedule, p.Asks, may, p.Permissions}
	p.Observe.Begin(ObserverOptions{
		DB: o.DB, Inbox: p.inbox, Fleet: p.fleet, Loops: p.loops, Ends: p.ends, Checks: may, Root: o.Root, Limits: o.Observe,
	})
	p.waits.OnEnd = append(p.waits.OnEnd, p.Mail.LookAgain)
	p.fleet.Tell(fleet.Callbacks{
		Changed: []func(){p.waits.Changed},
		Opened:  []func(int64){p.Mail.Opens},
		Mailed:  []func(*event.Info, inbox.Change){p.Mail.Arrives, func(i *event.Info, _ inbox.Change) { p.waits.Came(i.ID) }},
		Ended:   []func(event.Info){p.Mail.Ended, p.forks.Ended, p.Observe.Gone},
		Closed:  []func(int64){p.loops.Forget},
		Busy:    []func(int64) bool{p.Mail.Busy, p.loops.Busy},
		Count: []func(*event.Tally){func(t *event.Tally) {
			t.Quiet = p.Mail.Quiet()
			t.Scheduled, t.Due = p.Schedule.Summary()
		}},
	})
}

// schedules returns the scheduler, and has the ends of tasks report to it.
func schedules(p *Pool) *schedule.Scheduler {
	work := &schedule.TimetableWork{Inbox: p.inbox, Order: p.Tasks.Order, Finish: p.ends.Finish, Close: func(tx *store.Tx, agent int64) error {
		tx.AfterCommit(func() {
			p.fleet.Lock()
			defer p.fleet.Unlock()
			if a := p.fleet.Of(agent); a != nil {
				p.fleet.CloseTab(a)
			}
		})
		return tx.CloseAgent(agent)
	}}
	p.ends.Scheduled, p.ends.Removed = work.Ended, work.Removed
	work.Observe = func(tx *store.Tx, f schedule.Firing) error {
		agent, err := p.Observe.Observe(tx, ObserverOrder{
			Schedule: f.ID, Name: f.Name, Owner: f.Owner, Prompt: f.Text, CancelWhen: f.CancelWhen, Dir: f.Dir,
			Checks: strings.Fields(f.Checks), Mark: f.Run.Mark(), Deliver: f.Deliver, Priority: f.Priority,
		})
		if err != nil {
			return err
		}
		return schedule.Began(tx, f.Run.ID, 0, agent)
	}
	p.Observe.Ended = func(tx *store.Tx, e ObserverEnded) error {
		_, run, ok, err := schedule.OfAgent(&tx.View, e.Agent)
		if err == nil && ok {
			_, err = schedule.End(tx, run.ID, e.Outcome, e.Finding, e.Message)
		}
		return err
	}
	p.Observe.Over = func(v *store.View, agent int64) (bool, error) {
		s, _, ok, err := schedule.OfAgent(v, agent)
		return ok && s.State == schedule.Ended && s.When.Repeats(), err // a one-time schedule ends with its only run
	}
	return schedule.New(schedule.Options{
		Seals: p.o.Seals, Held: func(ctx context.Context, name string) {
			p.notice(ctx, "The schedule "+name+" was due, but another program wrote or changed it: it starts nothing before your yes; /confirm shows it.")
		},
		DB: p.o.DB, Inbox: p.inbox, Now: p.o.Now, Most: p.o.Due, Heir: tasks.Heir, Fire: work.Fire, Recover: work.Recover, Alarm: p.o.Alarm,
		Changed: func() {
			p.fleet.Lock()
			defer p.fleet.Unlock()
			p.fleet.Told()
		},
		Trouble: func(err error) {
			if err != nil { // nil: a due schedule fires after the trouble is over, which reports it
				p.fleet.Trouble(err)
			}
		},
	})
}

// boxes is the directory for the mailboxes of sandboxed commands.
func (o *Options) boxes() string { return filepath.Join(o.Data, "post") }

// sends returns a function that opens a mailbox through which an agent's sandboxed commands send
// mail.
func sends(p *Pool, office *turn.CommandMailboxes) func(agent, turn int64) (*turn.CommandMailbox, error) {
	return func(agent, turn int64) (*turn.CommandMailbox, error) {
		return office.Open(agent, func(d mail.OutsideDeposit) ([]mail.OutsideReceipt, error) {
			is := p.Infos()
			n := slices.IndexFunc(is, func(i event.Info) bool { return i.ID == agent })
			if n < 0 {
				return nil, event.ErrClosing
			}
			door := *p.Door
			door.Command = &mail.OutsideCommand{Agent: is[n].Name, Turn: turn}
			return door.Mail(p.fleet.Context(), d)
		}, p.o.Go)
	}
}

// recover repairs what a crash left, loads the agents and starts them.
func (p *Pool) recover(ctx context.Context) error {
	o := &p.o
	r := recovery.Recovery{
		DB: o.DB, Ends: p.ends, Asks: p.Asks, Abroad: o.Abroad, Book: p.fleet.Book, Go: o.Go,
		Unhandled: func(tx *store.Tx, fork int64, why, text string) error {
			return p.forks.Unhandled(tx, fork, turn.Ending{Outcome: history.OutCrashed, Cause: why}, text)
		},
		Unseen: p.Observe.Unseen,
	}
	left := r.Run
	if o.shows() {
		left = r.Kept
	}
	kept, err := left(ctx)
	if err != nil {
		return fmt.Errorf("recover the workspace: %w", err)
	}
	if !o.shows() {
		if err := p.Schedule.Recover(ctx); err != nil {
			return err
		}
		o.DB.Patrol(p.patrolled)
		_ = os.RemoveAll(o.boxes()) // left by a host that was killed; leftovers do no harm
	}
	if err := p.restore(ctx, kept); err != nil {
		return fmt.Errorf("load the agents: %w", err)
	}
	if o.shows() {
		p.fleet.Start("glance", func() { glance(p.fleet.Context(), p.Refresh) })
		return nil
	}
	if p.Hooks != nil { // hooks follow from the first event on
		feed, was := p.fleet.Subscribe()
		p.fleet.Start("hooks", p.Hooks.Follow(p.fleet.Context(), feed, was))
	}
	p.work()
	p.fleet.Humans.Turned = p.Mail.Stir
	p.fleet.Start("dispatch", p.dispatcher)
	if o.Jumps != nil {
		p.fleet.Start("clock", func() {
			err := o.Jumps(p.fleet.Context(), func() {
				p.Mail.Stir()
				p.Schedule.Leapt()
				fleet.Leapt(p.fleet)
			})
			if err != nil {
				p.fleet.Trouble(err)
			}
		})
	}
	if err := p.Schedule.CatchUp(ctx); err != nil {
		p.fleet.Trouble(err) // it is retried
	}
	p.fleet.Start("schedule", func() { p.Schedule.Run(p.fleet.Context()) })
	p.fleet.Start("sort", func() { p.Mail.Run(p.fleet.Context()) })
	p.fleet.Start("index", func() { p.inbox.Words.Index(p.fleet.Context(), p.fleet.Trouble) })
	return nil
}

// patrolled reports what a check of the database's files found between writes; nil: the fault is
// gone. If the database is no longer used, it ends a pool whose exit code a caller waits for. The
// store's patrol calls it.
func (p *Pool) patrolled(found error) {
	p.fleet.Emit(event.Trouble{Err: found})
	if found != nil {
		p.disk.Refused(p.o.Now(), found)
	}
}

// restore loads the agents, the queued tasks and the counts of mail from the database.
func (p *Pool) restore(ctx context.Context, kept map[int64]*recovery.Parked) error {
	var rows []store.Agent
	if err := p.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		if rows, err = rx.Agents(); err != nil {
			return err
		}
		ws, err := tasks.QueuedTasks(&rx.View)
		if err != nil {
			return err
		}
		for _, w := range ws {
			w.Unsealed = true // the seal key is new: no task has its seal yet
			p.fleet.Line.Enqueue(w)
		}
		now, err := rx.QueueChanges(0)
		if err != nil {
			return err
		}
		p.others.queued = now.Newest
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
			row, err := tasks.OpenMain(tx, p.o.Model)
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
			a.Info.Counted(r)
			p.Mail.Tray(id).Wake() // a message may ask to wake the agent; the turn checks
		}
	}
	return p.Mail.Load(ctx)
}

// work starts the living agents.
func (p *Pool) work() {
	p.fleet.Lock()
	defer p.fleet.Unlock()
	p.Mail.LookAtAll()
	for a := range p.fleet.Living() {
		p.loops.Start(a.ID)
	}
}

// load makes the agent of a row, and the turn it resumes if there is one. It does not start it.
func (p *Pool) load(ctx context.Context, row store.Agent, parked *recovery.Parked) error {
	i, err := p.known(ctx, row)
	if err != nil {
		return err
	}
	l := p.loops.Make(i, row.Task)
	p.fleet.Load(l.Agent)
	if p.o.shows() && !p.o.Abroad {
		l.Agent.Info.Cut()
	}
	if parked != nil {
		return l.Park(parked)
	}
	if i.Await == nil {
		return nil
	}
	return p.o.DB.Read(ctx, func(rx *store.Rx) error {
		t, _, err := rx.Task(row.Task)
		l.SetTimeout(t.Timeout)
		return err
	})
}
