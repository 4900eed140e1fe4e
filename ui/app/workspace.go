package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/instructions"
	"fantail/agents/mcpconfig"
	"fantail/agents/skills"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/store/config"
	"fantail/tools"
	"fantail/tools/files"
	"fantail/tools/permission"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
	"fantail/ui"
	"fantail/ui/cli"
	"fantail/ui/crash"
	"fantail/ui/shell"
	"fantail/ui/workspace"
)

// Workspace puts the parts together: the database, the agents over it, and what shows them.
type Workspace struct {
	guard    *crash.Guard
	place    workspace.Place
	stays    string // where a service runs the host; "": no service does
	readOnly error  // why nothing can be written; nil: it can

	umask   int         // of this process
	keep    atomic.Bool // the mode yolo stays after the last screen has left
	file    reread
	conf    config.Config
	flagged bool         // its permission mode comes from a flag
	keys    *secret.Keys // values that are never stored, shown or passed on
	models  *cli.Models
	tools   *tools.Set
	found   func() *sandbox.Backend // see wall
	obeyed  *files.ObeyedTree       // the files here that other programs obey; nil: they are not watched
	secrets *SecretFinder           // of what rules with patterns hide from commands
	unseek  func()                  // gives up looking for the sandbox, and returns when that has ended; nil: there is no search
	bell    *workspace.Waker        // nil: there is none
	watch   *workspace.Watch        // nil: there is none
	written *workspace.Dirs         // over instruction files; nil: they are not watched
	catalog *skills.Catalog         // skills, commands and agents in files
	shelves *workspace.Dirs         // where they are; nil: they are not watched
	rules   ruled

	db      *store.DB // from here on set by open
	files   *instructions.Briefs
	gate    *permission.Gate
	choice  config.Choice
	asked   atomic.Bool // whether an Ollama answers
	opening ui.Opening
	seals   *tasks.LastingSeal // of rows that start or allow something; nil: nothing is written
	brings  brings             // set by Configure
	serves  serves             // the same
}

// New returns the workspace at that place.
func New(g *crash.Guard, at workspace.Place) *Workspace {
	return &Workspace{guard: g, place: at, readOnly: cli.ReadOnly(at), secrets: NewSecretFinder(resolved(at.Root)), brings: brings{kept: at.Data}}
}

// Leave ends what Configure started and is still running.
func (w *Workspace) Leave() {
	if w.unseek != nil {
		w.unseek()
	}
}

// ReadOnly returns why nothing can be written there; nil: it can.
func (w *Workspace) ReadOnly() error { return w.readOnly }

// Configure reads the configuration, with the flags over it.
func (w *Workspace) Configure(flags cli.Flags) (err error) {
	if w.conf, err = cli.Configure(flags, os.Getenv); err != nil {
		return err
	}
	w.flagged = flags.Moded
	if w.file.conf, err = config.ReadFile(os.Getenv); err != nil {
		return err
	}
	w.keys, w.models = secret.New(w.conf.KeyEnvs(), os.Getenv), cli.NewModels(w.conf, os.Getenv)
	abroad := cli.Vendors{Root: w.place.Root}
	if self, err := os.Executable(); err == nil { // otherwise they go without
		abroad.Self, abroad.Serves = self, cli.AgentServers{Self: self, Go: w.guard.Go}.Open
	}
	w.models.Abroad(abroad)
	w.guard.Withhold(w.keys)
	if w.tools, err = tools.New().Without(w.conf.DisabledTools); err != nil {
		return fmt.Errorf("disabled_tools: %w", err)
	}
	w.bring()
	of := cli.SkillOptions(w.place, os.Getenv, w.conf, w.tools)
	of.Keys, of.Model = w.keys, func(name string) (string, error) {
		m, err := w.models.Resolve(name)
		return m.Name, err
	}
	w.catalog = skills.New(of)
	w.brings.trust.Add(skills.InlineSource(w.catalog))
	w.seek()
	return nil
}

// Own sets up what only the process has that holds the workspace's lock.
func (w *Workspace) Own() (err error) {
	if err := w.guard.Fatal(); err != nil {
		return err
	}
	if w.bell, err = workspace.NewWaker(w.place.Bell); err != nil {
		shell.Warn(os.Stderr, "messages from outside will show late: %v", err)
	}
	return nil
}

// Disown undoes Own.
func (w *Workspace) Disown() { w.bell.Close() }

// open opens the database, and the agents over it. To end them, close the agents first. choose returns the model,
// given the one that was chosen here last.
func (w *Workspace) open(ctx context.Context, choose func(remembered string) (config.Choice, error)) (pool *agents.Pool, err error) {
	if err := w.clear(); err != nil {
		return nil, err
	}
	if w.db, err = store.Open(ctx, w.place.Database(), store.Options{Go: w.guard.Go, Hears: true, ReadOnly: w.readOnly, Withhold: w.keys.Row}); err != nil {
		return nil, err
	}
	if w.readOnly == nil {
		w.seals = tasks.LoadLastingSeal(w.place.Data)
	}
	remembered, err := agents.RememberedChoices(ctx, w.db, w.seals)
	if err == nil {
		w.choice, err = choose(remembered.Model)
	}
	if err != nil {
		return nil, errors.Join(err, w.db.Close())
	}
	idle, err := w.conf.Idle()
	limit, wrong := w.conf.Timeout()
	of, none := tools.Amount{}, error(nil)
	if w.conf.AgentBudget != "" {
		if of, none = tools.ParseAmount(w.conf.AgentBudget); none != nil {
			none = fmt.Errorf("agent_budget: %w", none)
		}
	}
	err = errors.Join(err, wrong, none)
	if err == nil {
		err = w.judges()
	}
	if err != nil {
		return nil, errors.Join(err, w.db.Close())
	}
	observing, err := w.conf.Observing()
	if err != nil {
		return nil, errors.Join(err, w.db.Close())
	}
	said, broken := cli.Policies(w.place.Root, w.catalog)
	w.files = instructions.NewBriefs(w.place.Written(os.Getenv), w.place.Data)
	brief := cli.NewBriefing(w.place, w.files, time.Now)
	w.opening = ui.Opening{Start: w.choice.Why, Trouble: cmp.Or(w.choice.Lost, w.choice.Doubt), Policy: said[string(event.Main)].File, Instructions: brief.Instructions(), Brings: w.brings.brief()}
	moded := ""
	if w.readOnly == nil { // otherwise no command runs
		w.opening.Sandbox, moded = w.begins(remembered.Mode)
	}
	if os.Getenv("FANTAIL_THEME") == "" {
		w.opening.Theme = remembered.Theme
	}
	ahead, clock := &proc.Ahead{}, &proc.Clock{}
	w.serves.begin(w)
	pool, err = agents.Open(ctx, agents.Options{
		DB: w.db, Tools: w.tools.Lend(w.serves.live), Gate: w.gate, Moded: moded,
		Resolve: w.models.Resolve, Model: w.choice.Name(), System: brief.System, Brought: agents.Brought{Briefs: w.files, Hooks: w.brings.hooks, Trust: w.brings.trust, Skills: w.catalog, Served: mcpconfig.Served{Servers: w.serves.room, MCP: w.serves.live}},
		Root: w.place.Root, Seals: w.seals, Data: w.place.Data, Private: w.place.Private, Environ: proc.Clean(os.Environ(), w.keys), Keys: w.keys,
		Go: w.guard.Go, Box: w.boxes(), Ahead: ahead, Kept: w.kept(), Keep: w.guard.Keep, Jumps: clock.Jumps, Alarm: clock.Alarm, Cap: w.conf.MaxRunning, Due: w.conf.MaxSchedules, Rules: said,
		Idle:    cmp.Or(idle, tools.Forever),
		Observe: agents.ObserverLimits{Time: observing, Tokens: w.conf.ObserverTokens, Calls: w.conf.ObserverCalls},
		Budget:  of, Limit: limit,
		Abroad: w.readOnly != nil && workspace.Hosted(w.place.Data),
	})
	if err != nil {
		return nil, errors.Join(err, w.db.Close())
	}
	if text := pool.Rows.Brief(ctx); text != "" {
		shell.Warn(os.Stderr, "%s", text) // a host may have no screen for long
	}
	w.opening.Brings = w.waits(ctx, pool)
	w.serves.serve(w, pool)
	if err := w.rule(ctx, pool); err != nil {
		return nil, errors.Join(err, crash.Close(pool.Close), w.db.Close())
	}
	if w.bell != nil {
		w.bell.Serve(w.guard.Go, func() { pool.Refresh(ctx) })
	}
	if len(broken) > 0 && w.readOnly == nil { // otherwise no policy delivers anything
		pool.Mail.Rules(ctx, said, broken)
	}
	if w.watch != nil {
		w.watch.Serve(w.guard.Go, func() { w.reads(ctx, pool) })
	}
	if w.shelves != nil {
		w.catalog.Moves(w.shelves.Set)
		w.shelves.Serve(w.guard.Go, func() {
			w.catalog.Reread()
			w.reads(ctx, pool)
		})
	}
	if w.written != nil {
		w.files.Moves(w.written.Set)
		w.written.Serve(w.guard.Go, w.files.Reread)
	}
	w.guard.AtEnd(func() {
		_ = crash.Close(pool.Close)
		ahead.Close()
	})
	w.guard.AtEnd(w.place.Leave)
	return pool, nil
}

// reads applies the files again that say how mail is handled.
func (w *Workspace) reads(ctx context.Context, pool *agents.Pool) {
	good, broken := cli.Policies(w.place.Root, w.catalog)
	pool.Mail.Rules(ctx, good, broken)
}

// judges makes the gate for calls, over the sandbox of this machine, which is looked for only when it is needed. Only
// if the configuration names a kind of sandbox must it be known at once.
func (w *Workspace) judges() error {
	if asked := w.conf.Sandbox; asked != config.SandboxOff && asked != config.SandboxOn && asked != "" {
		if err := workspace.SandboxMissing(w.wall(), asked, workspace.ThisMachine()); err != nil {
			return err
		}
	}
	gate, err := cli.Gate(w.conf, func() permission.Sandbox { return workspace.SandboxWorth(w.wall()) })
	if err != nil {
		return err
	}
	ground, err := workspace.HoldGround(w.place.Root)
	if err != nil {
		return err
	}
	gate.Stands(ground)
	w.rules.begin(w.place.Root, gate)
	w.gate = gate
	return nil
}

func (w *Workspace) close() error {
	if w.watch != nil {
		_ = w.watch.Close()
	}
	if w.written != nil {
		_ = w.written.Close()
	}
	if w.shelves != nil {
		_ = w.shelves.Close()
	}
	w.serves.close()
	w.rules.close()
	return w.db.Close()
}
