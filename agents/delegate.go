package agents

import (
	"context"
	"fmt"
	"time"

	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/agents/roster"
	"fantail/agents/waits"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// toolDelegate is the tool's name.
const toolDelegate = "delegate"

// How long delegated work may take if its dispatcher does not say.
const (
	syncTimeout  = 120 * time.Second
	asyncTimeout = 300 * time.Second
)

// A sync delegation is a task like any other, and a call that waits for its end.
// Its message is one that enters by itself: should the wait end early (the turn
// is stopped, the human moves it to the background, the program dies), nothing
// of the task changes and the message arrives like that of an async one.

// dispatched tells a model that its task runs beside it.
func dispatched(t Task, how string) string {
	return fmt.Sprintf("Task dispatched to '%s' (session: %d)\n%sIts result arrives in your inbox by itself: go on with other work, or end your turn; don't poll.",
		t.Name, t.ID, how)
}

func (d desk) Delegate(ctx context.Context, call string, t tools.Task, mode string) (string, tools.Wait, error) {
	sync := mode == "sync" || mode == "" && !d.p.o.Attended
	patient := t.Timeout == 0
	switch {
	case patient && sync:
		t.Timeout = syncTimeout
	case patient:
		t.Timeout = asyncTimeout
	}
	var link func(tx *store.Tx, row Task) error
	if sync {
		link = func(tx *store.Tx, row Task) error {
			_, err := d.a.Book().Batch(tx, false).Add(d.a.Turn(), Entry{Kind: EntryDelegated, Call: &Call{ID: call}, Task: row.ID})
			return err
		}
	}
	row, err := d.p.Spawn(ctx, d.a.ID, t, link)
	if err != nil {
		return "", nil, err
	}
	if !sync {
		return dispatched(row, "It runs in the background. "), nil, nil
	}
	return "", func(ctx context.Context) (string, int64, error) { return d.result(ctx, call, row, patient) }, nil
}

// result waits for the end of a task, without a request and without a slot, and
// appends its message as the call's result. patient: if the human moves it to the
// background, its time-out is that of an async one.
func (d desk) result(ctx context.Context, call string, t Task, patient bool) (text string, entry int64, err error) {
	p := d.p
	w := p.waits.Begin(&waits.Wait{Agent: d.a.ID, From: t.Name, Task: t.ID, Patient: patient})
	d.a.Set(func(i *Info) { i.Delegated++ })
	regain := d.a.Aside("waiting for " + t.Name)
	defer func() {
		w.End()
		d.a.Set(func(i *Info) { i.Delegated-- })
		_ = regain(ctx) // an error is the turn's end, which runCall sees
	}()
	ended := false
	if w.Until(ctx, func() (bool, error) {
		ended = !p.fleet.Line.Unended(t.ID)
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

// collect takes the message a task ended with as the call's result, or says what
// became of it.
func (d desk) collect(ctx context.Context, call string, t Task) (text string, entry int64, err error) {
	limit := history.BytesOf(min(history.ItemTokens, d.a.Book().Room()))
	err = d.a.Keep(ctx, "take the result of "+t.Name, func(tx *store.Tx) error {
		text, entry = "", 0
		b := d.a.Book().Batch(tx, false)
		ms, _, err := d.p.inbox.Take(tx, inbox.Query{Recipient: d.a.ID, Task: t.ID}, mail.ByTool, func(ms []inbox.Message) (seq int64, err error) {
			entry, err = b.Add(d.a.Turn(), Entry{Kind: EntryResult, By: toolDelegate, Messages: ms, Result: &Result{
				ID: call, Name: toolDelegate, Text: mail.AsRead(inbox.NewRendering(tx.Now(), limit), ms...), Error: !ms[0].Success(),
				Millis: tx.Now().Sub(t.Created).Milliseconds(),
			}})
			return entry, err
		})
		if err != nil || len(ms) > 0 {
			return err
		}
		row, _, err := tx.Task(t.ID)
		if err == nil && row.State == roster.TaskFinished {
			text = fmt.Sprintf("'%s' (session: %d) has ended (%s). Its message was taken out of your inbox before this call could: it stands elsewhere in this conversation.", t.Name, t.ID, row.Outcome)
		}
		return err
	})
	if err == nil && text == "" && entry == 0 {
		err = fmt.Errorf("'%s' (session: %d) was removed from the queue before it started", t.Name, t.ID)
	}
	return text, entry, err
}

// Background lets the agent go on while the work it waits for in sync
// delegations runs in the background, as if it had been dispatched async from
// the beginning. It returns the names, none if the agent waits for no such work.
func (p *Pool) Background(agent int64) []string {
	p.fleet.Lock()
	defer p.fleet.Unlock()
	return p.putAside(agent)
}

// putAside is Background for a caller that holds mu.
func (p *Pool) putAside(agent int64) []string {
	names, longer := p.waits.Background(agent)
	for _, task := range longer {
		p.fleet.Extend(task, asyncTimeout)
	}
	return names
}

// Resume lets an ended agent go on with its transcript, at once. Without a prompt
// one that was cut goes on with what it did, and of one that completed, and of
// a fork, only the tab is opened again: ok is false then. So it is if the name is a closed helper's,
// which is sent the prompt if there is one.
func (p *Pool) Resume(ctx context.Context, by int64, name, prompt string) (t Task, ok bool, err error) {
	if done, err := p.reopen(ctx, name, prompt); done || err != nil {
		return Task{}, false, err
	}
	if row, done, err := p.forks.Reopen(ctx, name, prompt); done || err != nil {
		if err == nil {
			err = p.openEnded(ctx, row)
		}
		return Task{}, false, err
	}
	if prompt != "" {
		t, err = p.Push(ctx, by, tools.Task{Name: name, Prompt: prompt, Start: true, Resume: true})
		return t, err == nil, err
	}
	var row store.Agent
	var last store.Turn
	err = p.o.DB.Write(ctx, "open a tab", func(tx *store.Tx) error {
		if row, err = roster.Resumable(tx, name); err != nil {
			return err
		}
		if last, _, err = tx.LastTurn(row.ID); err != nil || Outcome(last.Outcome) != Completed {
			return err
		}
		if row.Closed.IsZero() {
			return fmt.Errorf("%s has completed its task; say what it shall do: /resume %s PROMPT", name, name)
		}
		return tx.OpenAgent(row)
	})
	switch {
	case err != nil:
		return Task{}, false, fmt.Errorf("resume: %w", err)
	case Outcome(last.Outcome) != Completed:
		return p.Resume(ctx, by, name, goOn)
	}
	return Task{}, false, p.openEnded(ctx, row)
}

// openEnded shows the tab of an agent that has ended again, once its row says so.
func (p *Pool) openEnded(ctx context.Context, row store.Agent) error {
	i, err := p.known(ctx, row)
	if err != nil {
		return fmt.Errorf("resume %s: %w", row.Name, err)
	}
	p.fleet.Lock()
	defer p.fleet.Unlock()
	if p.fleet.Of(row.ID) == nil {
		p.fleet.Open(p.loops.Make(i, row.Task).Agent)
	}
	return nil
}

// goOn is the prompt of an agent that was cut and is resumed without one.
const goOn = "Go on with your task from where it was cut."
