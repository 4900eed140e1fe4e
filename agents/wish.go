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

// wish is a human's wish for a turn with mail. It waits for the end of the turn
// that runs, and takes nothing before its own begins.
type wish struct {
	id     int64   // this message; 0: the most urgent
	oldest bool    // the one that came first instead of the most urgent
	all    bool    // all that is pending, in one turn
	ids    []int64 // of those, only these, and all of them or none
	steady bool    // only if the agent's last turn completed
	text   string  // the prompt that goes with them; "": none
	prompt int64   // the row that keeps the command until then; 0: none does
	reply  chan took
}

// took is what became of a wish.
type took struct {
	ms   []inbox.Message
	left int
	err  error
}

// asked is called once, before others know of w: its answer comes on that channel.
func (w *wish) asked() <-chan took {
	w.reply = make(chan took, 1)
	return w.reply
}

// answer tells who waits for w what became of it; only the first answer counts.
func (w *wish) answer(t took) {
	select {
	case w.reply <- t:
	default:
	}
}

// query matches what w could take.
func (w *wish) query(agent int64) inbox.Query {
	return inbox.Query{Recipient: agent, ID: w.id, IDs: w.ids}
}

// wish waits until w's turn has begun, or there was nothing to begin it with.
func (p *Pool) wish(ctx context.Context, agent int64, w *wish) (took, error) {
	a, err := p.agent(agent)
	if err != nil {
		return took{}, err
	}
	if !a.kind.HasPrompt() {
		return took{}, ErrNoPrompt
	}
	reply := w.asked()
	if err := a.want(ctx, w); err != nil {
		return took{}, err
	}
	select {
	case t := <-reply:
		return t, t.err
	case <-ctx.Done():
		p.unwish(a.id, w)
		return took{}, context.Cause(ctx)
	case <-a.gone:
		return took{}, fmt.Errorf("%w: it was closed", ErrNoAgent)
	case <-p.ctx.Done():
		return took{}, event.ErrClosing
	}
}

// want notes w. What the human typed with it is a row until its turn begins: the
// next start shows it, if the program ends before.
func (a *agent) want(ctx context.Context, w *wish) error {
	if !w.all {
		a.p.mu.Lock()
		a.p.tray(a.id).wish(w)
		a.p.mu.Unlock()
		a.poked()
		return nil
	}
	typed := strings.TrimSpace("/fire " + numbers(w.ids) + w.text)
	err := a.p.o.DB.Write(ctx, "keep a command", func(tx *store.Tx) error {
		id, err := tx.AddPrompt(a.id, typed, true)
		if err != nil {
			return err
		}
		tx.AfterCommit(func() {
			a.set(func(i *Info) {
				w.prompt = id
				a.p.tray(a.id).wish(w)
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

// ErrTakenBack is what became of a command that the human took back before its
// turn began.
var ErrTakenBack = errors.New("it was taken back")

// barred says why w's turn must not begin, nil if it may.
func (w *wish) barred(tx *store.Tx, agent int64) error {
	if !w.steady {
		return nil
	}
	last, _, err := tx.LastTurn(agent)
	if err == nil && last.Outcome != string(Completed) {
		err = fmt.Errorf("the turn with the last message did not complete (%s), so those behind it stay in the inbox; /messages wait goes on with them", last.Outcome)
	}
	return err
}

// refused says why nothing comes of w, nil if something may.
func (w *wish) refused(tx *store.Tx, agent int64, waiting []store.Prompt) error {
	if !w.keeps(waiting) {
		return ErrTakenBack
	}
	if err := mail.AllWait(&tx.View, agent, w.ids); err != nil {
		return err
	}
	return w.barred(tx, agent)
}

// keeps reports whether w's row, if it has one, still waits.
func (w *wish) keeps(waiting []store.Prompt) bool {
	return w.prompt == 0 || slices.ContainsFunc(waiting, func(q store.Prompt) bool { return q.ID == w.prompt })
}

// drop ends w's row in the transaction that finds nothing to carry it out with.
func (a *agent) drop(tx *store.Tx, w *wish) error {
	if w == nil || w.prompt == 0 {
		return nil
	}
	_, err := tx.RemovePrompt(w.prompt)
	tx.AfterCommit(func() { a.dropPrompt(w.prompt) })
	return err
}

// Next takes the most urgent message, or the one with that id (0: none named),
// and starts a turn with it; while a turn runs it waits for its end. False:
// there is none. One that was named and does not wait for this agent is an error.
func (p *Pool) Next(ctx context.Context, agent, id int64) (inbox.Message, bool, error) {
	m, ok, err := p.one(ctx, agent, &wish{id: id})
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
	return p.one(ctx, agent, &wish{oldest: true})
}

func (p *Pool) one(ctx context.Context, agent int64, w *wish) (inbox.Message, bool, error) {
	t, err := p.wish(ctx, agent, w)
	if err != nil || len(t.ms) == 0 {
		return inbox.Message{}, false, err
	}
	return t.ms[0], true, nil
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
		_, ok, err := p.one(ctx, agent, &wish{steady: n > 0})
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
	t, err := p.fire(ctx, agent, &wish{all: true, text: text})
	return len(t.ms), t.left, err
}

// FireThese is Fire with exactly these messages. If one of them does not wait when
// the turn is to begin, none is taken, and the error says which.
func (p *Pool) FireThese(ctx context.Context, agent int64, ids []int64, text string) (n int, err error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	switch {
	case len(ids) == 0:
		return 0, errors.New("fire which messages? none is chosen")
	case len(ids) > maxTaken:
		return 0, fmt.Errorf("%d messages are more than one turn takes; choose at most %d", len(ids), maxTaken)
	}
	if err := p.o.DB.Read(ctx, func(rx *store.Rx) error { return mail.AllWait(&rx.View, agent, ids) }); err != nil {
		return 0, err
	}
	t, err := p.fire(ctx, agent, &wish{all: true, ids: ids, text: text})
	return len(t.ms), err
}

func (p *Pool) fire(ctx context.Context, agent int64, w *wish) (took, error) {
	t, err := p.wish(ctx, agent, w)
	if err == nil && len(t.ms) == 0 {
		err = ErrNoMail // somebody took them while the request waited
	}
	if err != nil && ctx.Err() == nil && p.ctx.Err() == nil { // whoever typed it hears of it
		_, e := p.Unprompt(ctx, w.prompt)
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
func (a *agent) grant(tx *store.Tx, b *Batch, turn int64, w *wish) (t took, err error) {
	if !w.all {
		t.ms, err = a.p.takes.next(tx, a.book(), b, turn, w)
		return t, err
	}
	if t.ms, t.left, err = a.p.takes.all(tx, a.book(), b, turn, w); err != nil {
		return t, err
	}
	if len(t.ms) == 0 {
		return t, a.drop(tx, w)
	}
	entry := t.ms[0].Entry
	if w.text != "" {
		if entry, err = b.Add(turn, Entry{Kind: EntryPrompt, Text: w.text}); err != nil {
			return t, err
		}
	}
	tx.AfterCommit(func() { a.dropPrompt(w.prompt) })
	return t, tx.EnterPrompt(w.prompt, entry)
}
