package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fantail/inbox"
	"fantail/tools"
)

// desk is how an agent's tools reach the pool. Its texts are for models.
type desk struct{ a *agent }

var _ tools.Desk = desk{}

func (d desk) Push(ctx context.Context, t tools.Task) (string, error) {
	if t.Deliver == "" {
		t.Deliver = string(inbox.Next)
	}
	row, err := d.a.p.push(ctx, d.a.id, t, originAgent, nil)
	if err != nil {
		return "", err
	}
	if t.Start {
		return dispatched(row, "It runs in the background. "), nil
	}
	d.a.p.mu.Lock()
	n := len(d.a.p.queueOf(d.a.id))
	d.a.p.mu.Unlock()
	return fmt.Sprintf("Queued '%s'. Tasks in your queue: %d; the tool run starts them.", row.Name, n), nil
}

func (d desk) Run(_ context.Context, s tools.Start) (string, error) {
	d.a.p.mu.Lock()
	r, err := d.a.p.run(d.a.id, s)
	d.a.p.mu.Unlock()
	if err != nil {
		return "", err
	}
	return r.String() + ". Results arrive in your inbox by themselves.", nil
}

func (d desk) Queue(ctx context.Context, remove string) (string, error) {
	if remove != "" {
		if err := d.a.discard(ctx, remove); err != nil {
			return "", err
		}
	}
	ts, err := d.a.p.Queue(ctx, d.a.id)
	if err != nil {
		return "", err
	}
	return QueueText(ts, d.a.p.o.Now(), 10), nil
}

func (d desk) Send(ctx context.Context, to, body, priority string) (string, error) {
	id, err := d.a.p.Send(ctx, d.a.id, to, body, inbox.Priority(priority))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Message #%d is in the inbox of %s.", id, to), nil
}

// taken appends the result of a call that took messages, as one entry.
func (d desk) taken(call, name string) func(b *batch, ms []inbox.Message) (int64, error) {
	return func(b *batch, ms []inbox.Message) (int64, error) {
		return b.add(d.a.turn, Entry{Kind: EntryResult, By: name, Messages: ms, Result: &Result{
			ID: call, Name: name, Text: asRead(ms, b.tx.Now()),
		}})
	}
}

func (d desk) Receive(ctx context.Context, call, from string, lifo bool, timeout time.Duration) (string, int64, error) {
	waiting := ctx
	if timeout > 0 { // else as long as something can arrive
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeoutCause(ctx, timeout, errTimeout)
		defer cancel()
	}
	var entry int64
	into := d.taken(call, "receive")
	m, err := d.a.receive(waiting, inbox.Query{From: from, LIFO: lifo}, "receive",
		func(b *batch, ms []inbox.Message) (seq int64, err error) {
			entry, err = into(b, ms)
			return entry, err
		},
		func(why string) func() {
			regain := d.a.aside(why)
			return func() { _ = regain(ctx) } // for as long as the turn lasts: an error is its end, which runCall sees
		})
	switch {
	case err == nil:
		return asRead([]inbox.Message{m}, d.a.p.o.Now()), entry, nil
	case timeout > 0 && errors.Is(err, errTimeout):
		return "", 0, fmt.Errorf("no message came within %s; messages arrive by themselves, so end your turn instead of waiting again", timeout)
	}
	return "", 0, err
}

func (d desk) Check(ctx context.Context, call, from string, lifo bool) (string, int64, error) {
	var entry int64
	into := d.taken(call, "check")
	ms, _, err := d.a.check(ctx, inbox.Query{From: from, LIFO: lifo},
		func(b *batch, ms []inbox.Message) (seq int64, err error) {
			entry, err = into(b, ms)
			return entry, err
		},
		func(b *batch, left int) error {
			_, err := b.add(d.a.turn, Entry{Kind: EntryHost, Text: fmt.Sprintf("%d more: check again", left)})
			return err
		})
	switch {
	case err != nil:
		return "", 0, err
	case len(ms) == 0:
		return "No messages ready.", 0, nil
	}
	return asRead(ms, d.a.p.o.Now()), entry, nil
}
