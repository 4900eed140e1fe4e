// Fantail is a full-screen terminal coding assistant whose agents work in
// parallel and mail you their results.
//
// This file picks what the process does: serve a workspace as its host, answer a
// command line, or show the workspace itself where no host can start. A process
// that shows a host in a terminal never gets here: package ui/screen acts before
// main does. The two ways through the program, of a prompt and of a result, are
// told in .github/CONTRIBUTING.md.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"fantail/ui/app"
	"fantail/ui/cells"
	"fantail/ui/cli"
	"fantail/ui/crash"
	"fantail/ui/host"
	"fantail/ui/screen"
	"fantail/ui/shell"
	uiworkspace "fantail/ui/workspace"
)

func main() {
	crash.Conceal()
	if slices.Equal(os.Args[1:], strings.Fields(screen.HostWords)) {
		stay()
	}
	g := crash.New(os.Environ(), crash.Options{Out: os.Stderr, Exit: os.Exit, Clean: cells.Clean, Version: screen.Version()})
	defer g.Catch("main")
	code, err := run(g)
	if err != nil {
		shell.Warn(os.Stderr, "%s", g.Text(err.Error()))
		code = shell.ExitCode(err)
	}
	g.Exit(code)
}

// stay is the process that owns the workspace's agents and stays when its screens leave. Package
// screen starts it.
func stay() {
	start := host.NewStartup()
	g := crash.New(os.Environ(), crash.Options{Out: start, Exit: start.Exit, Clean: cells.Clean, Version: screen.Version()})
	defer g.Catch("main")
	code, err := app.Serve(g, start)
	if err != nil {
		shell.Warn(start, "%s", g.Text(err.Error()))
		code = shell.ExitCode(err)
	}
	g.Exit(code)
}

// run picks the face and returns the exit code.
func run(g *crash.Guard) (int, error) {
	flags, err := cli.Parse(os.Args[1:], os.Stdout)
	if err != nil || flags.Bare {
		return 0, err
	}
	if flags.Errand != nil {
		if dir, stays := flags.Errand.Stays(); stays {
			return app.Stay(g, dir)
		}
		return flags.Errand.Run(g)
	}
	if err := app.Reachable(os.Getenv); err != nil {
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
	at, err := uiworkspace.Find(flags.Dir, os.Getenv)
	if err != nil {
		return 0, err
	}
	w := app.New(g, at)
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
	lock, err := uiworkspace.Lock(at.Data, time.Now())
	var held *uiworkspace.HeldError
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
