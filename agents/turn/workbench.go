package turn

import (
	"context"
	"time"

	"fantail/agents/history"
	"fantail/store"
	"fantail/tools"
)

// workbench is where an agent's calls are carried out, each as the gate decides.
type workbench struct {
	conversation
	env     *tools.Env
	strict  bool // the session's mode and rules loosen nothing for it
	outside bool // its work was requested from outside the program
}

// result appends a call's result, unless taking mail has appended it already.
func (w *workbench) result(ctx context.Context, c history.Call, began time.Time, r tools.Result) error {
	if r.Entry != 0 {
		return nil
	}
	return w.Keep(ctx, "record the result of "+c.Name, func(tx *store.Tx) error {
		_, err := w.Book().Batch(tx).Add(w.turn, history.Entry{Kind: history.EntryResult, Result: &history.Result{
			ID: c.ID, Name: c.Name, Text: r.Text, Error: r.Error, Diff: r.Diff, File: r.File, Exit: r.Exit,
			Millis: time.Since(began).Milliseconds(),
		}})
		return err
	})
}
