package turn

import (
	"context"
	"time"

	"fantail/agents/audit"
	"fantail/agents/briefs"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/repeats"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/proc"
)

// workbench is where an agent's calls are carried out, each as the gate decides.
type workbench struct {
	conversation
	env     *tools.Env
	repeats repeats.Row
	guide   briefs.Guide
	strict  bool        // the session's mode and rules loosen nothing for it
	outside bool        // its work was requested from outside the program
	mode    permit.Mode // that its calls are judged in, without what was allowed for the session; "": the session's
}

// outfit gives the agent's next calls an environment, and less of it if nobody attends the agent. No call runs
// meanwhile.
func (w *workbench) outfit(from *fleet.Environment) {
	e := w.o.environment(from)
	if w.unattended || w.strict {
		e.Vars = proc.Bare(e.Vars)
	}
	w.env.Environ, w.env.Umask = e.Vars, e.Umask
}

// result appends a call's result, unless taking mail has appended it already.
func (w *workbench) result(ctx context.Context, c history.Call, began time.Time, r tools.Result) error {
	if r.Entry != 0 {
		return nil
	}
	return w.answers(ctx, &history.Result{
		ID: c.ID, Name: c.Name, Text: r.Text, Error: r.Error, Diff: r.Diff, File: r.File, Exit: r.Exit, Shows: r.Shows,
		Millis: time.Since(began).Milliseconds(),
	})
}

// denied appends why a call may not run.
func (w *workbench) denied(ctx context.Context, c history.Call, why string) error {
	w.judge(c, audit.Refused, why)
	return w.answers(ctx, &history.Result{ID: c.ID, Name: c.Name, Text: "Refused: " + why, Error: true, Denied: true})
}

func (w *workbench) answers(ctx context.Context, r *history.Result) error {
	return w.Keep(ctx, "record the result of "+r.Name, func(tx *store.Tx) error {
		_, err := w.Book().Batch(tx).Add(w.turn, history.Entry{Kind: history.EntryResult, Result: r})
		return err
	})
}
