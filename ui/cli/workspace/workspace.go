// Package workspace composes the program over one workspace.
//
// Does: read its configuration, open its database, the agents over it and what shows them; carry out a prompt without a
// screen; serve screens until nothing goes on, or, as a service, until told to end.
//
// Does not: parse arguments, decide which face the program has, know what an agent does.
//
// Imports: agents, agents/audit, agents/briefs, agents/brought, agents/choices, agents/event, agents/fleet,
// agents/hooks, agents/inline, agents/kept, agents/observer, agents/permissions, agents/servers, agents/skills,
// agents/trust, inbox/rules, store, store/config, store/config/paths, tools, tools/allowance, tools/mcp,
// tools/mcp/login, tools/mcp/signin, tools/permit, tools/proc, tools/sandbox, tools/secret, ui, ui/cli, ui/cli/guard,
// ui/cli/host, ui/cli/mcplist, ui/cli/mcpserver, ui/cli/models, ui/cli/place, ui/cli/printer, ui/cli/reach,
// ui/cli/rulebook, ui/cli/shelf, ui/cli/shell, ui/cli/veil, ui/cli/wall, ui/cli/watch, ui/screen, ui/welcome, ui/words.
package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"fantail/agents"
	"fantail/agents/briefs"
	"fantail/agents/brought"
	"fantail/agents/choices"
	"fantail/agents/event"
	"fantail/agents/inline"
	"fantail/agents/observer"
	"fantail/agents/skills"
	"fantail/store"
	"fantail/store/config"
	"fantail/tools"
	"fantail/tools/allowance"
	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
	"fantail/ui/cli"
	"fantail/ui/cli/guard"
	"fantail/ui/cli/mcpserver"
	"fantail/ui/cli/models"
	"fantail/ui/cli/place"
	"fantail/ui/cli/shelf"
	"fantail/ui/cli/shell"
	"fantail/ui/cli/veil"
	"fantail/ui/cli/wall"
	"fantail/ui/cli/watch"
	"fantail/ui/welcome"
)

// Workspace puts the parts together: the database, the agents over it, and what shows them.
type Workspace struct {
	guard    *guard.Guard
	place    place.Place
	stays    string // where the host is kept by a service; "": it is none
	readOnly error  // why nothing can be written; nil: it can

	umask   int         // of this process
	keep    atomic.Bool // yolo outlives the last screen
	file    reread
	conf    config.Config
	flagged bool         // the permission mode in it is that of a flag
	keys    *secret.Keys // what is kept, shown and handed on without
	models  *models.Models
	tools   *tools.Set
	found   func() *sandbox.Wall // see wall
	veil    *veil.Finder         // of what rules with patterns hide from commands
	unseek  func()               // gives up looking for it, and returns when nothing of that is left; nil: nobody would
	bell    *place.Bell          // nil: there is none
	watch   *watch.Watch         // nil: there is none
	written *watch.Dirs          // over instruction files; nil: nobody watches
	shelf   *skills.Shelf        // what files bring
	shelves *watch.Dirs          // where they are; nil: nobody watches
	rules   ruled

	db      *store.DB // from here on set by open
	files   *briefs.Room
	gate    *permit.Gate
	choice  config.Choice
	asked   atomic.Bool // whether an Ollama answers
	opening welcome.Opening
	brings  brings // set by Configure
	serves  serves // the same
}

// New returns the workspace at that place.
func New(g *guard.Guard, at place.Place) *Workspace {
	return &Workspace{guard: g, place: at, readOnly: cli.ReadOnly(at), veil: veil.New(resolved(at.Root)), brings: brings{kept: at.Data}}
}

// Leave ends what Configure began, and has not come to an end.
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
	w.keys, w.models = secret.New(w.conf.KeyEnvs(), os.Getenv), models.New(w.conf, os.Getenv)
	abroad := models.Abroad{Root: w.place.Root}
	if self, err := os.Executable(); err == nil { // else they go without
		abroad.Self, abroad.Serves = self, mcpserver.Doors{Self: self, Go: w.guard.Go}.Open
	}
	w.models.Abroad(abroad)
	w.guard.Withhold(w.keys)
	if w.tools, err = tools.New().Without(w.conf.DisabledTools); err != nil {
		return fmt.Errorf("disabled_tools: %w", err)
	}
	w.bring()
	of := shelf.Options(w.place, os.Getenv, w.conf, w.tools)
	of.Keys, of.Model = w.keys, func(name string) (string, error) {
		m, err := w.models.Resolve(name)
		return m.Name, err
	}
	w.shelf = skills.New(of)
	w.brings.trust.Add(inline.Source(w.shelf))
	w.seek()
	return nil
}

// Own has what only the process has that holds the workspace's lock.
func (w *Workspace) Own() (err error) {
	if err := w.guard.Fatal(); err != nil {
		return err
	}
	if w.bell, err = place.HangBell(w.place.Bell); err != nil {
		shell.Warn(os.Stderr, "what comes from outside will show late: %v", err)
	}
	return nil
}

// Disown undoes Own.
func (w *Workspace) Disown() { w.bell.Close() }

// open opens the database, and the agents over it. Whoever ends them closes the agents first.
// choose says which model it is, given the one that was chosen here last.
func (w *Workspace) open(ctx context.Context, choose func(remembered string) (config.Choice, error)) (pool *agents.Pool, err error) {
	if err := w.clear(); err != nil {
		return nil, err
	}
	if w.db, err = store.Open(ctx, w.place.Database(), store.Options{Go: w.guard.Go, Hears: true, ReadOnly: w.readOnly, Withhold: w.keys.Row}); err != nil {
		return nil, err
	}
	remembered, err := choices.Remembered(ctx, w.db)
	if err == nil {
		w.choice, err = choose(remembered.Model)
	}
	if err != nil {
		return nil, errors.Join(err, w.db.Close())
	}
	idle, err := w.conf.Idle()
	limit, wrong := w.conf.Timeout()
	of, none := allowance.Amount{}, error(nil)
	if w.conf.AgentBudget != "" {
		if of, none = allowance.Parse(w.conf.AgentBudget); none != nil {
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
	said, broken := shelf.Policies(w.place.Root, w.shelf)
	w.files = briefs.New(w.place.Written(os.Getenv), w.place.Data)
	brief := cli.NewBriefing(w.place, w.files, time.Now)
	w.opening = welcome.Opening{Start: w.choice.Why, Trouble: w.choice.Lost, Policy: said[string(event.Main)].File, Instructions: brief.Instructions(), Brings: w.brings.brief()}
	moded := ""
	if w.readOnly == nil { // else no command runs
		w.opening.Sandbox, moded = w.begins(remembered.Mode)
	}
	if os.Getenv("FANTAIL_THEME") == "" {
		w.opening.Theme = remembered.Theme
	}
	ahead, clock := &proc.Ahead{}, &proc.Clock{}
	w.serves.begin(w)
	pool, err = agents.Open(ctx, agents.Options{
		DB: w.db, Tools: w.tools.Lend(w.serves.live), Gate: w.gate, Moded: moded,
		Resolve: w.models.Resolve, Model: w.choice.Name(), System: brief.System, Brought: agents.Brought{Briefs: w.files, Hooks: w.brings.hooks, Trust: w.brings.trust, Shelf: w.shelf, Served: brought.Served{Servers: w.serves.room, MCP: w.serves.live}},
		Root: w.place.Root, Data: w.place.Data, Private: w.place.Private, Environ: proc.Clean(os.Environ(), w.keys), Keys: w.keys,
		Go: w.guard.Go, Box: w.boxes(), Ahead: ahead, Kept: w.kept(), Keep: w.guard.Keep, Jumps: clock.Jumps, Alarm: clock.Alarm, Cap: w.conf.MaxRunning, Due: w.conf.MaxSchedules, Rules: said,
		Idle:    cmp.Or(idle, tools.Forever),
		Observe: observer.Limits{Time: observing, Tokens: w.conf.ObserverTokens, Calls: w.conf.ObserverCalls},
		Budget:  of, Limit: limit,
		Abroad: w.readOnly != nil && place.Hosted(w.place.Data),
	})
	if err != nil {
		return nil, errors.Join(err, w.db.Close())
	}
	w.serves.serve(w, pool)
	if err := w.rule(ctx, pool); err != nil {
		return nil, errors.Join(err, guard.Close(pool.Close), w.db.Close())
	}
	if w.bell != nil {
		w.bell.Serve(w.guard.Go, func() { pool.Refresh(ctx) })
	}
	if len(broken) > 0 && w.readOnly == nil { // else no policy delivers anything
		pool.Mail.Rules(ctx, said, broken)
	}
	if w.watch != nil {
		w.watch.Serve(w.guard.Go, func() { w.reads(ctx, pool) })
	}
	if w.shelves != nil {
		w.shelf.Moves(w.shelves.Set)
		w.shelves.Serve(w.guard.Go, func() {
			w.shelf.Reread()
			w.reads(ctx, pool)
		})
	}
	if w.written != nil {
		w.files.Moves(w.written.Set)
		w.written.Serve(w.guard.Go, w.files.Reread)
	}
	w.guard.AtEnd(func() {
		_ = guard.Close(pool.Close)
		ahead.Close()
	})
	w.guard.AtEnd(w.place.Leave)
	return pool, nil
}

// reads has the files hold again that say how mail is handled.
func (w *Workspace) reads(ctx context.Context, pool *agents.Pool) {
	good, broken := shelf.Policies(w.place.Root, w.shelf)
	pool.Mail.Rules(ctx, good, broken)
}

// judges makes the gate that calls pass, over the sandbox that works here: what that is, is looked at when it is asked for.
// Only where the configuration names a kind it has to be known at once.
func (w *Workspace) judges() error {
	if asked := w.conf.Sandbox; asked != config.SandboxOff && asked != config.SandboxOn && asked != "" {
		if err := wall.Missing(w.wall(), asked, wall.Here()); err != nil {
			return err
		}
	}
	gate, err := cli.Gate(w.conf, func() permit.Wall { return wall.Worth(w.wall()) })
	if err != nil {
		return err
	}
	ground, err := place.Ground(w.place.Root)
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
