package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/store"
)

// wish waits until w's turn has begun, or there was nothing to begin it with.
func (p *Pool) wish(ctx context.Context, agent int64, w *mail.Wish) (mail.Took, error) {
	a, err := p.agent(agent)
	if err != nil {
		return mail.Took{}, err
	}
	switch {
	case !a.kind.HasPrompt():
		return mail.Took{}, ErrNoPrompt
	case p.o.shows():
		return mail.Took{}, p.o.DB.ReadOnly()
	}
	reply := w.Asked()
	if err := a.want(ctx, w); err != nil {
		return mail.Took{}, err
	}
	select {
	case t := <-reply:
		return t, t.Err
	case <-ctx.Done():
		p.Room.Unwish(a.id, w)
		return mail.Took{}, context.Cause(ctx)
	case <-a.gone:
		return mail.Took{}, fmt.Errorf("%w: it was closed", ErrNoAgent)
	case <-p.ctx.Done():
		return mail.Took{}, event.ErrClosing
	}
}

// want notes w. What the human typed with it is a row until its turn begins: the
// next start shows it, if the program ends before.
func (a *agent) want(ctx context.Context, w *mail.Wish) error {
	if !w.All {
		a.p.mu.Lock()
		a.p.Room.Tray(a.id).Wish(w)
		a.p.mu.Unlock()
		a.poked()
		return nil
	}
	typed := strings.TrimSpace("/fire " + numbers(w.IDs) + w.Text)
	err := a.p.o.DB.Write(ctx, "keep a command", func(tx *store.Tx) error {
		id, err := tx.AddPrompt(a.id, typed, true)
		if err != nil {
			return err
		}
		tx.AfterCommit(func() {
			a.set(func(i *Info) {
				w.Prompt = id
				a.p.Room.Tray(a.id).Wish(w)
				i.Prompts = append(i.Prompts[:len(i.Prompts):len(i.Prompts)], Prompt{ID: id, Text: typed, Held: true, Then: true})
			})
			a.poked()
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep the command: %w", err)
	}
	return nil
}

// drop ends w's row in the transaction that finds nothing to carry it out with.
func (a *agent) drop(tx *store.Tx, w *mail.Wish) error {
	if w == nil || w.Prompt == 0 {
		return nil
	}
	_, err := tx.RemovePrompt(w.Prompt)
	tx.AfterCommit(func() { a.dropPrompt(w.Prompt) })
	return err
}

// Next takes the most urgent message, or the one with that id (0: none named),
// and starts a turn with it; while a turn runs it waits for its end. False:
// there is none. One that was named and does not wait for this agent is an error.
func (p *Pool) Next(ctx context.Context, agent, id int64) (inbox.Message, bool, error) {
	m, ok, err := p.one(ctx, agent, &mail.Wish{ID: id})
	if err == nil && !ok && id != 0 {
		err = p.elsewhere(ctx, agent, id)
	}
	return m, ok, err
}

// elsewhere says why a message does not wait for an agent.
func (p *Pool) elsewhere(ctx context.Context, agent, id int64) error {
	m, ok, err := p.inbox.Get(ctx, id)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("there is no message #%d; /inbox lists those that wait", id)
	case m.Recipient != agent:
		return fmt.Errorf("message #%d is another agent's; /messages why %d says whose", id, id)
	}
	return fmt.Errorf("message #%d does not wait any more: %s; /messages show %d prints it", id, mail.Fate(m), id)
}

// Oldest is Next with the message that came first, however urgent others are.
func (p *Pool) Oldest(ctx context.Context, agent int64) (inbox.Message, bool, error) {
	return p.one(ctx, agent, &mail.Wish{Oldest: true})
}

func (p *Pool) one(ctx context.Context, agent int64, w *mail.Wish) (inbox.Message, bool, error) {
	t, err := p.wish(ctx, agent, w)
	if err != nil || len(t.Messages) == 0 {
		return inbox.Message{}, false, err
	}
	return t.Messages[0], true, nil
}

// Each takes the pending messages one after another, each into a turn of its own,
// those that come meanwhile too, until none is left; Stop ends it together with
// the turn that runs, and so does a turn that fails: what is wrong with it would be
// wrong with the next. It returns how many it took.
func (p *Pool) Each(ctx context.Context, agent int64) (n int, err error) {
	a, err := p.agent(agent)
	if err != nil {
		return 0, err
	}
	ctx, release, err := a.visit(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	for {
		_, ok, err := p.one(ctx, agent, &mail.Wish{Steady: n > 0})
		if err != nil || !ok {
			return n, err
		}
		n++
	}
}

// ErrNoMail is what Fire returns for an empty inbox.
var ErrNoMail = errors.New("the inbox is empty, so there is nothing to fire; a prompt starts a turn without messages")

// Fire takes all pending messages, as many as fit in a quarter of the model's
// window, into one turn, with text as its prompt if there is one; while a turn
// runs it waits for its end and takes nothing before, queued where Unprompt can take
// it back (ErrTakenBack). left counts those that stay. An empty inbox is refused
// with ErrNoMail.
func (p *Pool) Fire(ctx context.Context, agent int64, text string) (n, left int, err error) {
	pending, _, err := p.inbox.Count(ctx, agent)
	if err == nil && pending == 0 {
		err = ErrNoMail
	}
	if err != nil {
		return 0, 0, err
	}
	t, err := p.fire(ctx, agent, &mail.Wish{All: true, Text: text})
	return len(t.Messages), t.Left, err
}

// FireThese is Fire with exactly these messages. If one of them does not wait when
// the turn is to begin, none is taken, and the error says which.
func (p *Pool) FireThese(ctx context.Context, agent int64, ids []int64, text string) (n int, err error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	switch {
	case len(ids) == 0:
		return 0, errors.New("fire which messages? none is chosen")
	case len(ids) > mail.MaxTaken:
		return 0, fmt.Errorf("%d messages are more than one turn takes; choose at most %d", len(ids), mail.MaxTaken)
	}
	if err := p.o.DB.Read(ctx, func(rx *store.Rx) error { return mail.AllWait(&rx.View, agent, ids) }); err != nil {
		return 0, err
	}
	t, err := p.fire(ctx, agent, &mail.Wish{All: true, IDs: ids, Text: text})
	return len(t.Messages), err
}

func (p *Pool) fire(ctx context.Context, agent int64, w *mail.Wish) (mail.Took, error) {
	t, err := p.wish(ctx, agent, w)
	if err == nil && len(t.Messages) == 0 {
		err = ErrNoMail // somebody took them while the request waited
	}
	if err != nil && ctx.Err() == nil && p.ctx.Err() == nil { // whoever typed it hears of it
		_, e := p.Unprompt(ctx, w.Prompt)
		err = errors.Join(err, e)
	}
	return t, err
}

// numbers are the numbers of messages as they are typed, a space behind each.
func numbers(ids []int64) string {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, "#%d ", id)
	}
	return b.String()
}

// grant takes what w wishes into this turn. A prompt that goes with messages
// enters only if there are some.
func (a *agent) grant(tx *store.Tx, b *Batch, turn int64, w *mail.Wish) (t mail.Took, err error) {
	if !w.All {
		t.Messages, err = a.p.takes.Next(tx, a.book(), b, turn, w)
		return t, err
	}
	if t.Messages, t.Left, err = a.p.takes.All(tx, a.book(), b, turn, w); err != nil {
		return t, err
	}
	if len(t.Messages) == 0 {
		return t, a.drop(tx, w)
	}
	entry := t.Messages[0].Entry
	if w.Text != "" {
		if entry, err = b.Add(turn, Entry{Kind: EntryPrompt, Text: w.Text}); err != nil {
			return t, err
		}
	}
	tx.AfterCommit(func() { a.dropPrompt(w.Prompt) })
	return t, tx.EnterPrompt(w.Prompt, entry)
}
