package turn

import (
	"context"
	"time"

	"fantail/agents/audit"
	"fantail/agents/history"
	"fantail/store"
	"fantail/tools"
)

// Result appends a call's result, unless taking mail has appended it already.
func (l *Loop) Result(ctx context.Context, c history.Call, began time.Time, r tools.Result) error {
	if r.Entry != 0 {
		return nil
	}
	return l.recordResult(ctx, &history.Result{
		ID: c.ID, Name: c.Name, Text: r.Text, Error: r.Error, Title: r.Title, Lacks: r.Lacks, Diff: r.Diff, File: r.File, Exit: r.Exit, Shows: r.Shows,
		Millis: time.Since(began).Milliseconds(),
	})
}

// deny appends the reason why a call may not run as its result.
func (l *Loop) deny(ctx context.Context, c history.Call, why string) error {
	l.audit(c, audit.Refused, why)
	return l.recordResult(ctx, &history.Result{ID: c.ID, Name: c.Name, Text: "Refused: " + why, Error: true, Denied: true})
}

func (l *Loop) recordResult(ctx context.Context, r *history.Result) error {
	return l.Keep(ctx, "record the result of "+r.Name, func(tx *store.Tx) error {
		_, err := l.Agent.Book().Batch(tx).Add(l.own.turn, history.Entry{Kind: history.EntryResult, Result: r})
		return err
	})
}
