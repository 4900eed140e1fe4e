package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"fantail/agents/event"
	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/store/config"
	"fantail/store/paths"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
	"fantail/ui/crash"
	"fantail/ui/shell"
	"fantail/ui/workspace"
)

// errands returns the table of all errands. The parser, the help and the manual use it.
func errands() []row {
	return []row{
		{
			name: "send", agents: always, args: "NAME[,NAME…] [TEXT]", help: "put mail into an agent's inbox", run: runSend,
			flags: "priority tag key json",
			more:  moreSend,
		},
		{
			name: "push", agents: always, args: "[name=NAME] [model=MODEL] [timeout=TIME] [after=A,B] PROMPT", help: "queue a task for an agent of its own",
			plain: true, run: runPush, flags: "json",
			more: morePush,
		},
		{
			name: "inbox", agents: always, help: "list the messages that wait", unused: shell.ExitNothing, run: runInbox, flags: "agent all json follow",
			more: moreInbox,
		},
		{
			name: "check", agents: peeks, args: "[from=NAME]", help: "take the messages that are ready", unused: shell.ExitNothing, run: runCheck, flags: "agent lifo peek take all json",
			more: moreCheck,
		},
		{
			name: "queue", agents: always, help: "list the tasks that are queued, run and have finished", unused: shell.ExitNothing, run: runQueue, flags: "agent all json",
			more: "  fantail queue --json | jq -r 'select(.state == \"queued\").name'",
		},
		{
			name: "agents", agents: only("list", "logs", "attach"), args: "[list | spawn --prompt TEXT | attach NAME | logs NAME | tell NAME [TEXT] | wrapup NAME | end NAME | kill NAME | respawn NAME]",
			help: "list the agents; start, follow and end one; tell one what to do", unused: shell.ExitNothing,
			run: runAgents, flags: "json follow prompt label model interactive idle end", suits: agentFlags,
			hosted: map[string]func(e *Errand, c *caller) (int, error){"spawn": runSpawn, "attach": runAttach},
			more:   moreAgents,
		},
		{
			name: "show", agents: always, args: "N", help: "print one message, taken or not", unused: shell.ExitFailed, run: runShow, flags: "json",
			more: "  fantail show 12",
		},
		{
			name: "memory", agents: always, args: "[list | show NAME]", help: "list the memory documents, or print one", unused: shell.ExitNothing, run: runMemory, flags: "json",
			more: "NAME is as behind #mem-, which may stand before it.\n\n  fantail memory show oauth/security > security.md",
		},
		{
			name: "schedule", agents: only("list", "show"), args: "[list | WHEN PROMPT | remind WHEN TEXT | watch TIME until \"CONDITION\" PROMPT | show NAME | pause NAME | resume NAME | rm NAME]",
			help: "list what is due when; have an observer look, or be reminded", plain: true, unused: shell.ExitOK, run: runSchedule, flags: "json",
			more: `WHEN is 30m, 14:00, tomorrow 9:00, monday 10:00, 2026-12-24 18:00, every 30m, every
day 9:00, every monday 10:00 or cron 30 9 * * 1-5, by the clock on the wall here.
What comes of it is mail of main's. An observer reads files and reports; a command
only the human schedules, on a screen: /schedule every 10m !CMD. The host fires it:
one is started for what is due within a day, and stays for it; what was due while none
ran fires once at the next start, and says that it is late. fantail host install has
one run always.

  fantail schedule remind 30m "the oven"
  fantail schedule name=ci every 10m "has ci.log changed for the worse?"
  fantail schedule --json | jq -r 'select(.state == "active").due'`,
		},
		{
			name: "audit", agents: always, args: "[NAME | N]", help: "print what agents called, and who let them; look whether that is whole", unused: shell.ExitNothing,
			run: runAudit, flags: "json verify", suits: auditFlags,
			more: `One line a call, oldest first: what was called, which rule, mode or answer decided,
how it ended, the bytes of its result, its time. With NAME only what the agent of
that name did, with N all that row N and its call say. No text of a file, a message
or a result stands there, and no key. --json prints the rows themselves.

--verify looks at each row and at the file of the end beside the database. An edit, a
row taken out, put in or moved, a tail that was cut and another file in its place
are found: it names the first row that is wrong, and the exit code is 1. Whoever can
write both, as your own programs can outside of a sandbox, can write them anew so that nothing shows.

  fantail audit --verify && fantail audit --json | jq -r 'select(.tool == "bash").args.command'`,
		},
		{
			name: "ls", agents: always, help: "list the workspaces whose agents live", apart: runLs, flags: "json",
			more: moreLs,
		},
		{
			name: "host", agents: only("status", "log"), args: "[status | stop | log | install | uninstall | run]", help: "look at the process that has the agents, end it, or have the machine keep it", apart: runHost, flags: "wait now json",
			more: moreHost,
		},
		{
			name: "doctor", agents: always, help: "look for what gets in the way of a host here", apart: runDoctor, flags: "json",
			more: moreDoctor,
		},
		{
			name: "mcp", agents: func(e *Errand) bool { return e.o.mine || len(e.words) > 0 && e.words[0] == "list" }, args: "[list | test NAME | login NAME | logout NAME]",
			help: "let another assistant send, check and push here (MCP); list servers", run: runMCP,
			hosted: map[string]func(e *Errand, c *caller) (int, error){"list": listServers, "test": testServer, "login": loginServer, "logout": logoutServer},
			flags:  "mine json", suits: mcpFlags, more: moreMCP,
		},
	}
}

const errandCodes = "Exit codes: 0 something, 3 nothing ready, 1 failed, 2 wrong usage, 128+n ended by signal n."

// find returns the errand that the arguments begin with, if any, and the other arguments. --cwd may
// come before it.
func find(args []string) (e row, rest []string, ok bool) {
	at := 0
	for at < len(args) && strings.HasPrefix(args[at], "--cwd") {
		if args[at] == "--cwd" {
			at++
		}
		at++
	}
	if at >= len(args) {
		return e, nil, false
	}
	for _, e := range errands() {
		if e.name == args[at] {
			return e, slices.Concat(args[:at:at], args[at+1:]), true
		}
	}
	return e, nil, false
}

// ErrandNames returns the names of all errands.
func ErrandNames() (names []string) {
	for _, e := range errands() {
		names = append(names, e.name)
	}
	return names
}

// ListErrands prints a line for each errand.
func ListErrands(out io.Writer) {
	for _, e := range errands() {
		fmt.Fprintf(out, "  fantail %-8s %s\n", e.name, e.help)
	}
}

// DescribeErrand prints the help of the errand of that name. It returns false if there is none.
func DescribeErrand(out io.Writer, name string) bool {
	for _, e := range errands() {
		if e.name == name {
			e.describe(out)
			return true
		}
	}
	return false
}

// ParseErrand parses the arguments if they name an errand. If they ask for help, it writes that to
// out and returns a nil e without an error.
func ParseErrand(args []string, out io.Writer) (e *Errand, is bool, err error) {
	found, rest, is := find(args)
	if !is {
		return nil, false, nil
	}
	e, err = found.parse(rest, out)
	return e, true, err
}

// parse parses the arguments of an errand. If they ask for help, it writes that to out and returns
// nil.
func (e row) parse(args []string, out io.Writer) (*Errand, error) {
	r := &Errand{row: e}
	fs := r.o.set(e)
	fs.SetInterspersed(!e.plain)
	switch err := fs.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		e.describe(out)
		return nil, nil
	case err != nil:
		return nil, shell.Misspelt(fs, err)
	}
	r.words = fs.Args()
	if e.suits != nil {
		return r, e.suits(r)
	}
	return r, nil
}

// set declares the flags of e.
func (o *options) set(e row) *pflag.FlagSet {
	fs := pflag.NewFlagSet(e.name, pflag.ContinueOnError)
	fs.SortFlags = false
	fs.Usage = func() {}
	for _, name := range strings.Fields(e.flags) {
		switch name {
		case "priority":
			fs.StringVar(&o.priority, name, "normal", "`P`: low, normal, high or urgent")
		case "tag":
			fs.StringArrayVar(&o.tags, name, nil, "mark it with `WORD`; may be given again")
		case "key":
			fs.Func(name, "a retry with the same `KEY` is the same message, stored once", func(key string) error {
				o.key = cmp.Or(key, o.key) // an empty key counts as none
				return nil
			})
		case "agent":
			fs.StringVar(&o.agent, name, string(event.Main), "whose: the agent `NAME`")
		case "mine":
			fs.BoolVar(&o.mine, "agent", false, "the tools of the agent that the program belongs to which starts it")
		case "json":
			fs.BoolVar(&o.json, name, false, "one JSON object a line")
		case "follow":
			fs.BoolVar(&o.follow, name, false, "go on with what comes")
		case "lifo":
			fs.BoolVar(&o.lifo, name, false, "newest first")
		case "peek":
			fs.BoolVar(&o.peek, name, false, "print and take nothing")
		case "wait":
			fs.BoolVar(&o.wait, name, false, "once nothing goes on any more")
		case "now":
			fs.BoolVar(&o.now, name, false, "at once")
		case "verify":
			fs.BoolVar(&o.verify, name, false, "look whether it is whole")
		case "take":
			fs.BoolVar(&o.take, name, false, "take without a terminal too")
		case "prompt":
			fs.StringVar(&o.prompt, name, "", "spawn: what is to be done, `TEXT`; - is standard input")
		case "label":
			fs.StringVar(&o.label, name, "", "spawn: the agent's `NAME`")
		case "model":
			fs.StringVar(&o.model, name, "", "spawn: the model, as `PROVIDER/NAME`")
		case "interactive":
			fs.BoolVar(&o.interactive, name, false, "spawn: it awaits input where its turn ends")
		case "idle":
			fs.StringVar(&o.idle, name, "", "spawn --interactive: for how long, `TIME`; 0 is for ever")
		case "end":
			fs.BoolVar(&o.end, name, false, "attach: the end of standard input ends the agent")
		case "all":
			fs.BoolVar(&o.all, name, false, "all there are, not only some")
		}
	}
	fs.StringVar(&o.dir, "cwd", "", "in the workspace of `DIR`")
	return fs
}

// describe prints the help of an errand.
func (e row) describe(out io.Writer) {
	var o options
	usage := strings.TrimSpace("fantail " + e.name + " " + e.args)
	fmt.Fprintf(out, "fantail %s: %s.\n\nUsage:\n  %s\n\nFlags:\n", e.name, e.help, usage)
	shell.ListFlags(out, o.set(e))
	fmt.Fprintf(out, "\n%s\n\n%s\n", e.more, errandCodes)
}

// keyNames returns the variables that hold keys. They come from the configuration file alone, so
// that a wrong variable in the environment does not hide them. In the sandbox of an agent's command
// the file is missing or unreadable.
func keyNames(env func(string) string) ([]string, error) {
	path, err := paths.File(env)
	if err != nil {
		return config.Default().KeyEnvs(), err
	}
	conf, err := config.Load(path)
	if errors.Is(err, fs.ErrPermission) && env(sandbox.MailEnv) != "" {
		err = nil
	}
	if err != nil {
		return config.Default().KeyEnvs(), err
	}
	return conf.KeyEnvs(), nil
}

// Run runs the errand and returns the exit code.
func (e *Errand) Run(g *crash.Guard) (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := g.Watch(cancel)
	box := os.Getenv(sandbox.MailEnv)
	at, err := workspace.Find(e.o.dir, os.Getenv)
	if box != "" {
		at, err = workspace.Place{}, nil // the workspace can't be seen from the sandbox
	}
	from := ownSource(os.Getenv, at.Data)
	e.tty = shell.IsTerminal(os.Stdout)
	if refused := e.may(from); refused != nil {
		return 0, refused
	}
	if e.o.mine {
		return errandEnded(signals, shell.ExitOK, Enter(ctx, g.Go, os.Getenv(DoorEnv), os.Stdin, os.Stdout))
	}
	c := &caller{
		ctx: ctx, start: g.Go, env: os.Getenv, in: os.Stdin, typed: shell.IsTerminal(os.Stdin), errs: os.Stderr,
		out:  &printed{w: os.Stdout, tty: e.tty, json: e.o.json},
		host: at.Screens, dir: at.Dir, data: at.Data, post: box, from: from,
	}
	if e.apart != nil {
		code, err := e.apart(e, c)
		return errandEnded(signals, code, err)
	}
	if err != nil {
		return 0, err
	}
	if c.keys, err = e.withheld(os.Getenv); err != nil {
		return 0, err
	}
	g.Withhold(c.keys)
	if box != "" {
		code, err := e.run(e, c)
		return errandEnded(signals, code, err)
	}
	what, _ := e.verb()
	if run := e.hosted[what]; run != nil && len(e.words) > 0 {
		code, err := run(e, c)
		return errandEnded(signals, code, err)
	}
	path := at.Database()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && e.unused != shell.ExitOK && !e.o.follow {
		shell.Warn(os.Stderr, "nobody used fantail in %s yet, so nothing is there; fantail send main TEXT is a beginning, or name another workspace with --cwd", at.Root)
		return e.unused, nil
	}
	upgrade, upgraded := workspace.Outdated(at.Data, time.Now())
	db, err := store.Open(ctx, path, store.Options{Go: g.Go, Upgrade: upgrade, Withhold: c.keys.Row})
	upgraded()
	if err != nil {
		return 0, err
	}
	c.door = &mail.Client{DB: db, Origin: tasks.OriginCLI, Model: "builtin", Ring: func() { workspace.Wake(at.Bell) }}
	code, err := e.run(e, c)
	if e := db.Close(); err == nil {
		err = e
	}
	return errandEnded(signals, code, err)
}

// withheld returns the keys that must not appear in what the errand writes or prints.
func (e *Errand) withheld(env func(string) string) (*secret.Keys, error) {
	named, err := keyNames(env)
	if err != nil && e.unused == shell.ExitOK {
		return nil, err // without the names, a key could be written
	}
	return secret.New(named, env), nil
}

// errandEnded returns the exit code and error that the program ends with.
func errandEnded(signals *crash.Signals, code int, err error) (int, error) {
	if n, signalled := signals.Code(); signalled {
		return n, nil
	}
	if errors.Is(err, errUnread) {
		return code, nil // the reader has closed the output
	}
	return code, err
}

// runMCP serves the inbox and the queue to another assistant until the input ends.
func runMCP(e *Errand, c *caller) (int, error) {
	if len(e.words) > 0 {
		return shell.ExitUsage, notMCP(e.words[0])
	}
	c.door.Origin = tasks.OriginMCP
	s := &Server{Door: c.door, Push: c.push, Mail: c.mail, Keys: c.keys, Env: c.env}
	if err := s.Run(c.ctx); err != nil {
		return shell.ExitFailed, err
	}
	return shell.ExitOK, nil
}
