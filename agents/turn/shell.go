package turn

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/store"
	"fantail/tools/proc"
)

// Shell runs a command the human typed, without asking, and appends it with its output; the model reads both with its
// next request. It returns once the command has ended.
func (l *Loop) Shell(ctx context.Context, command string) error {
	ctx, release, err := l.Agent.Visit(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := l.makeOutputs(); err != nil {
		return err
	}
	command = l.o.Keys.Text(command) // run exactly what is shown and recorded
	e := l.o.environment(fleet.EnvironmentOf(ctx))
	began := time.Now()
	file := filepath.Join(l.own.env.Outputs, fmt.Sprintf("shell-%d.txt", l.o.Now().UnixNano()))
	r, err := proc.Run(ctx, proc.Spec{
		Shell: command, Dir: l.o.Root, Env: e.Vars, Umask: e.Umask, Keys: l.o.Keys,
		Output: file, Head: 8 << 10, Tail: 8 << 10, Keep: l.o.Keep,
		Tick: func(tail string) { l.o.Fleet.Emit(event.Output{Agent: l.Agent.ID, Call: "!" + command, Tail: tail}) },
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("run %s: %w", command, err)
	}
	s := &history.Shell{Command: command, Output: r.Text, Exit: r.Exit, Millis: time.Since(began).Milliseconds(), By: audit.Who(ctx)}
	if r.Cut {
		s.File = file
	}
	if ctx.Err() != nil {
		s.Output = strings.TrimRight(s.Output, "\n") + "\n(stopped)"
	}
	err = l.o.DB.Write(context.WithoutCancel(ctx), "shell", func(tx *store.Tx) error {
		_, err := l.Agent.Book().Batch(tx).Add(0, history.Entry{Kind: history.EntryShell, Shell: s})
		return err
	})
	if err != nil {
		return fmt.Errorf("record %s: %w", command, err)
	}
	return nil
}
