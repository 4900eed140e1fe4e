// Fantail is a full-screen terminal coding assistant whose agents work in
// parallel and mail you their results. This file picks a face; package
// ui/cli/workspace composes the parts. The process in the terminal never gets here: package ui/screen acts before all
// else, finds or starts the workspace's host (this program again, see stay) and carries
// bytes to and fro. Nor does an errand that a living host carries out (ui/cli/host/errand.go). There are two ways through the program.
//
// A prompt: a key reaches the host (ui/cli/host) and, in the program it runs for that
// screen, ui.App.Update, which routes it (what is always taken, a
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
// the message is due by policy.Decide, or when a human asks (mail.Pickup.Check,
// Receive, Next), inbox.Inbox.Take marks it and appends the entry, one
// transaction; the next request contains it.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"fantail/ui/cli"
	"fantail/ui/cli/guard"
	"fantail/ui/cli/host"
	"fantail/ui/cli/place"
	"fantail/ui/cli/shell"
	"fantail/ui/cli/workspace"
	"fantail/ui/frame"
	"fantail/ui/screen"
)

func main() {
	if err := guard.NeedRoom(); err != nil { // before there is anything that needs some
		shell.Warn(os.Stderr, "%v", err)
		os.Exit(shell.Code(err))
	}
	spread()
	guard.Conceal()
	if slices.Equal(os.Args[1:], strings.Fields(screen.HostWords)) {
		stay()
	}
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

// spare is how many goroutines may run beyond one for each processor.
const spare = 2

// spread has more goroutines run at once than there are processors. One that becomes ready while each processor has one
// at work, as a key's does while the workspace is opened, would wait until one of those rests or its 10 ms are over; among
// threads the kernel lets who slept go first.
func spread() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spare)
	}
}

// stay is the process that owns the workspace's agents and stays when its screens leave. Package
// screen starts it.
func stay() {
	start := host.NewStartup()
	g := guard.New(os.Environ(), guard.Options{Out: start, Exit: start.Exit, Clean: frame.Clean, Version: shell.Version()})
	defer g.Catch("main")
	code, err := workspace.Serve(g, start)
	if err != nil {
		shell.Warn(start, "%s", g.Text(err.Error()))
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
	if flags.Errand != nil {
		if dir, stays := flags.Errand.Stays(); stays {
			return workspace.Stay(g, dir)
		}
		return flags.Errand.Run(g)
	}
	if err := workspace.Reachable(os.Getenv); err != nil {
		return 0, err
	}
	if !flags.Print {
		if err := cli.NeedTerminal(os.Stdin, os.Stdout); err != nil {
			return 0, err
		}
		// The start gate did not act, or something was in the way of a host.
		if code, shown := screen.Start(os.Args[1:]); shown {
			return code, nil
		}
	}
	at, err := place.Find(flags.Dir, os.Getenv)
	if err != nil {
		return 0, err
	}
	w := workspace.New(g, at)
	defer w.Leave()
	if w.ReadOnly() == nil {
		g.CrashIn(at.Data)
	}
	if flags.Print {
		return w.Print(flags)
	}
	if err := w.Configure(flags); err != nil {
		return 0, err
	}
	if w.ReadOnly() != nil {
		return w.Alone()
	}
	lock, err := place.Lock(at.Data, time.Now())
	var held *place.HeldError
	switch {
	case errors.As(err, &held):
		return 0, fmt.Errorf("%w: go on there, or quit it first; fantail -p \"PROMPT\" works beside it", held)
	case err != nil:
		return 0, err
	}
	defer lock.Unlock()
	if err := w.Own(); err != nil {
		return 0, err
	}
	defer w.Disown()
	return w.Alone()
}
