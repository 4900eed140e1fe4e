// Fantail is a full-screen terminal coding assistant whose agents work in
// parallel and mail you their results. This file composes the parts and picks a
// face. There are two ways through the program.
//
// A prompt: a key reaches ui.App.Update, which routes it (what is always taken, a
// dialog, tabs, a question, a selection, the box, the rest: first taker wins).
// composer.Box.Key returns an intent; ui/sender.go has agents.Pool.Prompt commit
// a row and poke the agent. The agent's loop (agents/turn/loop.go) runs a turn
// (agents/turn/turn.go), step by step: absorb (queued prompts and messages that are
// due at this seam become entries, one transaction), ask (llm.Provider.Stream;
// what is streamed goes to the feeds, and within a second to disk), record (each finished
// entry is a row, one transaction), runCalls (permit.Gate.Decide, then the
// tools), until no call is left. A commit hook (store.Tx.AfterCommit) changes what the
// fleet.Fleet shows and tells each event.Feed; ui/feed.go carries it to ui.App.apply, ui.App.draw composes
// the frame in the roles of themes, and ui.App.View hands it out.
//
// A result: tasks.Tasks.Push queues a task, agents.Pool.Run starts it, and the
// child's loop works as above. Its finish is one transaction: the final entry,
// the turn, the task, and inbox.Inbox.Add into the inbox of whoever dispatched
// it. The commit hook rings the inbox.Bell: the recipient is poked and the status
// line's count changes. Where its policy says more than what the dispatcher asked,
// the sorter (agents/mail/sort.go) has the agent start a turn, or fork. At a seam where
// the message is due by inbox.Decide, or when a human asks (mail.Pickup.Check,
// Receive, Next), inbox.Inbox.Take marks it and appends the entry, one
// transaction; the next request contains it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/inbox/rules"
	"fantail/store"
	"fantail/store/config"
	"fantail/tools"
	"fantail/tools/proc"
	"fantail/tools/secret"
	"fantail/ui"
	"fantail/ui/cli"
	"fantail/ui/cli/guard"
	"fantail/ui/cli/models"
	"fantail/ui/cli/place"
	"fantail/ui/cli/printer"
	"fantail/ui/cli/shell"
	"fantail/ui/cli/watch"
	"fantail/ui/frame"
	"fantail/ui/welcome"
)

func main() {
	if err := guard.NeedRoom(); err != nil { // before there is anything that needs some
		shell.Warn(os.Stderr, "%v", err)
		os.Exit(shell.Code(err))
	}
	guard.Conceal()
	g := guard.New(os.Environ(), guard.Options{Out: os.Stderr, Exit: os.Exit, Clean: frame.Clean, Version: shell.Version()})
	defer g.Catch("main")
	if err := g.Herald(); err != nil {
		shell.Warn(os.Stderr, "when memory ends, the runtime says so at length: %v", err)
	}
	code, err := run(g)
	if err != nil {
		shell.Warn(os.Stderr, "%s", g.Text(err.Error()))
		code = shell.Code(err)
	}
	g.Exit(code)
}

// run picks the face and returns the exit code.
func run(g *guard.Guard) (int, error) {
	flags, err := cli.Parse(os.Args[1:], os.Stdout)
	if err != nil || flags.Bare {
		return 0, err
	}
	if !flags.Print && flags.Errand == nil {
		if err := cli.NeedTerminal(os.Stdin, os.Stdout); err != nil {
			return 0, err
		}
	}
	if flags.Errand != nil {
		return flags.Errand.Run(g)
	}
	at, err := place.Find(flags.Dir, os.Getenv)
	if err != nil {
		return 0, err
	}
	readOnly := cli.ReadOnly(at)
	switch {
	case readOnly == nil:
		g.CrashIn(at.Data)
	case flags.Print:
		return 0, fmt.Errorf("%w; until then fantail without -p, and fantail inbox, show, queue and memory, read what is there", readOnly)
	}
	conf, err := cli.Configure(flags, os.Getenv)
	if err != nil {
		return 0, err
	}
	h := &host{guard: g, flags: flags, place: at, readOnly: readOnly, conf: conf, keys: secret.New(conf.KeyEnvs(), os.Getenv), models: models.New(conf, os.Getenv)}
	g.Withhold(h.keys)
	if h.tools, err = tools.New().Without(conf.DisabledTools); err != nil {
		return 0, fmt.Errorf("disabled_tools: %w", err)
	}
	if readOnly != nil {
		return h.screen()
	}
	lock, err := place.Lock(at.Data, time.Now())
	var held *place.HeldError
	switch {
	case errors.As(err, &held) && flags.Print:
		if h.place, err = at.Aside(); err != nil {
			return 0, err
		}
		defer h.place.Leave()
		shell.Warn(os.Stderr, "%v; this prompt runs beside it, in a temporary database of its own", held)
	case held != nil:
		return 0, fmt.Errorf("%w: go on there, or quit it first; fantail -p \"PROMPT\" works beside it", held)
	case err != nil:
		return 0, err
	default:
		defer lock.Unlock()
		if err := g.Fatal(); err != nil {
			return 0, err
		}
		if h.bell, err = place.HangBell(at.Bell); err != nil {
			shell.Warn(os.Stderr, "what comes from outside will show late: %v", err)
		} else {
			defer h.bell.Close()
		}
	}
	if flags.Print {
		return h.print()
	}
	if h.watch, err = watch.New(h.place.Root, rules.Dir); err != nil {
		shell.Warn(os.Stderr, "changed policies will hold from the next start on: watch the policies of the agents: %v", err)
	} else {
		defer h.watch.Close()
	}
	return h.screen()
}

// host is the parts of the process that owns the workspace's agents, or shows them where
// nothing can be written.
type host struct {
	guard  *guard.Guard
	flags  cli.Flags
	place  place.Place
	conf   config.Config
	keys   *secret.Keys // what is kept, shown and handed on without
	models *models.Models
	tools  *tools.Set
	bell   *place.Bell  // nil: there is none
	watch  *watch.Watch // nil: there is none

	readOnly error // why nothing can be written; nil: it can

	db      *store.DB // from here on set by open
	choice  config.Choice
	opening welcome.Opening
}

// open puts the parts together: the database, and the agents over it. Whoever ends them
// closes the agents first.
// choose says which model it is, given the one that was chosen here last.
func (h *host) open(ctx context.Context, choose func(remembered string) (config.Choice, error), attended bool) (pool *agents.Pool, db *store.DB, err error) {
	gate, err := cli.Gate(h.conf)
	if err != nil {
		return nil, nil, err
	}
	db, err = store.Open(ctx, h.place.Database(), store.Options{Go: h.guard.Go, ReadOnly: h.readOnly, Withhold: h.keys.Row})
	if err != nil {
		return nil, nil, err
	}
	model, theme, err := agents.Remembered(ctx, db)
	if err == nil {
		h.choice, err = choose(model)
	}
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	said, broken := rules.Read(h.place.Root)
	brief := cli.NewBriefing(h.place, time.Now)
	h.opening = welcome.Opening{Start: h.choice.Why, Trouble: h.choice.Lost, Policy: said[string(event.Main)].File, Instructions: brief.Instructions()}
	if os.Getenv("FANTAIL_THEME") == "" {
		h.opening.Theme = theme
	}
	h.db = db
	pool, err = agents.Open(ctx, agents.Options{
		DB: db, Tools: h.tools, Gate: gate,
		Resolve: h.models.Resolve, Model: h.choice.Name(), System: brief.System,
		Root: h.place.Root, Data: h.place.Data, Private: h.place.Private, Environ: proc.Clean(os.Environ(), h.keys), Keys: h.keys,
		Go: h.guard.Go, Keep: h.guard.Keep, Cap: h.conf.MaxRunning, Attended: attended, Patience: cli.Patience(attended), Rules: said,
		Abroad: h.readOnly != nil && place.Hosted(h.place.Data),
	})
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	if h.bell != nil {
		h.bell.Serve(h.guard.Go, func() { pool.Refresh(ctx) })
	}
	if len(broken) > 0 && h.readOnly == nil { // else no policy delivers anything
		pool.Mail.Rules(ctx, said, broken)
	}
	if h.watch != nil {
		h.watch.Serve(h.guard.Go, func() { good, broken := rules.Read(h.place.Root); pool.Mail.Rules(ctx, good, broken) })
	}
	h.guard.AtEnd(func() { _ = guard.Close(pool.Close) })
	h.guard.AtEnd(h.place.Leave)
	return pool, db, nil
}

// print is the face without a screen: one prompt, one answer.
func (h *host) print() (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := h.guard.Watch(cancel)
	prompt, err := printer.ReadPrompt(ctx, h.guard.Go, h.flags.Prompt, os.Stdin, os.Stderr)
	if code, signalled := signals.Code(); signalled {
		return code, nil
	}
	if err != nil {
		return 0, err
	}
	choice, err := h.models.Choose(h.flags.Model, "", func() string { return models.Ollama(ctx, os.Getenv) })
	if err != nil {
		return 0, err
	}
	pool, db, err := h.open(ctx, func(string) (config.Choice, error) { return choice, nil }, false)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	p := printer.New(pool, h.guard, signals, h.flags.Format, h.place)
	p.Tools = printer.Names(h.tools)
	return p.Run(ctx, h.keys.Text(prompt)), nil
}

// screen is the face on a terminal. It shows itself before the database is open.
func (h *host) screen() (int, error) {
	choice, err := h.models.Choose(h.flags.Model, "", nil)
	if err != nil && (h.flags.Model != "" || os.Getenv("FANTAIL_MODEL") != "") {
		return 0, err // else the workspace may remember another one
	}
	s, err := cli.NewScreen(h.guard, ui.Options{
		Environ: cli.Environ(h.conf, h.keys), Withhold: h.keys.Text, Theme: h.conf.Theme, Plain: !h.conf.Mouse, Notify: h.conf.Notify, Msgs: h.conf.StatusStyle == "msg", Start: choice.Why, Version: shell.Version(), Usual: cli.Usual(h.flags, h.conf),
		Root: h.place.Root, History: filepath.Join(h.place.Data, "history"),
		Branch: func() string { return cli.Branch(h.place.Root) }, Models: h.models.Names, Doubt: h.models.Doubt, ReadOnly: h.readOnly,
		Remember: func(ctx context.Context, c agents.Choice, name string) error {
			return agents.Remember(ctx, h.db, c, name)
		},
	})
	if err != nil {
		return 0, err
	}
	s.Open(
		func(ctx context.Context) (*agents.Pool, *store.DB, error) {
			return h.open(ctx, func(remembered string) (config.Choice, error) { return h.models.Choose(h.flags.Model, remembered, nil) }, true)
		},
		func(ctx context.Context, pool *agents.Pool, app *ui.App) {
			app.Open(h.opening)
			if h.choice.AskOllama && h.readOnly == nil {
				h.askOllama(ctx, pool, app)
			}
		})
	return s.Run()
}

// askOllama gives main the model of an Ollama that answers, if nothing else was chosen.
func (h *host) askOllama(ctx context.Context, pool *agents.Pool, app *ui.App) {
	choice, err := h.models.Choose("", "", func() string { return models.Ollama(ctx, os.Getenv) })
	if err == nil && choice.Model != "" {
		err = cli.SetMain(ctx, pool, choice.Name())
	}
	if err != nil {
		app.Model("builtin — Ollama can't be used: " + err.Error())
		return
	}
	app.Model(choice.Why)
}
