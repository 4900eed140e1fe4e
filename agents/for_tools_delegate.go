package agents

import (
	"context"
	"fmt"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// toolDelegate is the tool's name.
const toolDelegate = "delegate"

// The time-outs of delegated work whose dispatcher sets none.
const (
	syncTimeout  = 120 * time.Second
	asyncTimeout = 300 * time.Second
)

// A sync delegation is an ordinary task, and a call that waits for its end. Its message enters by
// itself: if the wait ends early (the turn is stopped, the human moves the task to the background,
// the program dies), the task goes on unchanged and the message arrives like that of an async
// delegation.

func (d toolAgents) Delegate(ctx context.Context, call string, t tools.Task, mode string) (string, tools.Wait, error) {
	if err := d.mayTalk(t); err != nil {
		return "", nil, err
	}
	sync := mode == "sync" || mode == "" && d.l.Unattended()
	patient := t.Timeout == 0
	switch {
	case patient && sync:
		t.Timeout = syncTimeout
	case patient:
		t.Timeout = asyncTimeout
	}
	var link func(tx *store.Tx, row tasks.Task) error
	if sync && call != "" {
		link = func(tx *store.Tx, row tasks.Task) error {
			e := history.Entry{Kind: history.EntryDelegated, Call: &history.Call{ID: call}, Task: row.ID}
			_, err := d.l.Agent.Book().Batch(tx).Add(d.l.Turn(), e)
			return err
		}
	}
	row, err := d.p.Tasks.Spawn(ctx, d.l.Agent.ID, t, link)
	if err != nil {
		return "", nil, err
	}
	if !sync {
		return dispatched(row, "It runs in the background. "), nil, nil
	}
	return "", func(ctx context.Context) (string, int64, error) { return d.result(ctx, call, row, patient) }, nil
}

// result waits for the end of a task, without a request and without a slot, and appends the task's
// message as the call's result. If patient is set, moving the task to the background gives it the
// time-out of an async delegation.
func (d toolAgents) result(ctx context.Context, call string, t tasks.Task, patient bool) (text string, entry int64, err error) {
	p := d.p
	w := p.waits.Begin(&tasks.Wait{Agent: d.l.Agent.ID, From: t.Name, Task: t.ID, Patient: patient})
	d.l.Agent.Set(func(i *event.Info) { i.Delegated++ })
	regain := d.l.Agent.Aside("waiting for " + t.Name)
	defer func() {
		w.End()
		d.l.Agent.Set(func(i *event.Info) { i.Delegated-- })
		_ = regain(ctx) // runCall sees the same error as the turn's end
	}()
	ended := false
	if w.Until(ctx, func() (bool, error) {
		ended = !p.fleet.Line.Unended(t.ID) || t.Interactive && d.has(ctx, t.ID)
		return ended || w.InBackground(), nil
	}) != nil {
		then := "it goes on, and its result arrives in your inbox by itself"
		if p.fleet.Context().Err() != nil {
			then = "the program was closed; what it had so far is in your inbox"
		}
		return "", 0, fmt.Errorf("the wait for '%s' (session: %d) ended before it did; %s", t.Name, t.ID, then)
	}
	if !ended {
		return dispatched(t, "The user moved it to the background. "), 0, nil
	}
	return d.collect(ctx, call, t)
}

// has reports whether a result of an interactive task is pending.
func (d toolAgents) has(ctx context.Context, task int64) bool {
	ms, err := d.p.inbox.List(ctx, inbox.Query{Recipient: d.l.Agent.ID, Task: task, Limit: 1})
	return err == nil && len(ms) > 0
}

// collect takes the message with which a task or its turn ended as the call's result. If there is
// none, it says how the task ended.
func (d toolAgents) collect(ctx context.Context, call string, t tasks.Task) (text string, entry int64, err error) {
	limit := history.BytesOf(min(history.ItemTokens, d.l.Agent.Book().Room()))
	err = d.l.Keep(ctx, "take the result of "+t.Name, func(tx *store.Tx) error {
		text, entry = "", 0
		b := d.l.Agent.Book().Batch(tx)
		of := inbox.Query{Recipient: d.l.Agent.ID, Task: t.ID}
		ms, _, err := d.p.inbox.Take(tx, of, mail.ByTool, func(ms []inbox.Message) (seq int64, err error) {
			r := &history.Result{
				Text: mail.AsRead(inbox.NewRendering(tx.Now(), limit), ms...), Error: !ms[0].Success(),
				Millis: tx.Now().Sub(t.Created).Milliseconds(),
			}
			if call == "" {
				text = r.Text
			}
			entry, err = b.Add(d.l.Turn(), result(call, toolDelegate, ms, r))
			return entry, err
		})
		if err != nil || len(ms) > 0 {
			return err
		}
		row, _, err := tx.Task(t.ID)
		became := ""
		switch row.State {
		case tasks.TaskFinished:
			became = "has ended (" + row.Outcome + ")"
		case tasks.TaskRunning:
			became = "awaits input"
		}
		if err == nil && became != "" {
			text = fmt.Sprintf("'%s' (session: %d) %s. Its message was taken out of your inbox before this call "+
				"could: it stands elsewhere in this conversation.", t.Name, t.ID, became)
		}
		return err
	})
	if err == nil && text == "" && entry == 0 {
		err = fmt.Errorf("'%s' (session: %d) was removed from the queue before it started", t.Name, t.ID)
	}
	return text, entry, err
}
