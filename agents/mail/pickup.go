package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
)

// Pickup is how a human collects mail: at once ([Pickup.Check], [Pickup.Show]), waiting for it ([Pickup.Receive]), or
// with a turn for it ([Pickup.Next], [Pickup.Each], [Pickup.Fire]).
type Pickup struct {
	db       *store.DB
	inbox    *inbox.Inbox
	fleet    *fleet.Fleet
	delivery *Delivery
	letters  *Letters
	takes    *Takes
	now      func() time.Time
	unprompt func(ctx context.Context, prompt int64) (bool, error)
}

// NewPickup returns the pickup of delivered mail. unprompt takes back a typed prompt that has not entered.
func NewPickup(
	fl *fleet.Fleet, d *Delivery, letters *Letters, takes *Takes,
	unprompt func(ctx context.Context, prompt int64) (bool, error),
) *Pickup {
	return &Pickup{
		db: d.db, inbox: d.inbox, now: d.now, fleet: fl, delivery: d, letters: letters, takes: takes,
		unprompt: unprompt,
	}
}

// Check takes the pending messages that match into the agent's transcript, without starting a turn: as many as fit in a
// quarter of the model's window, at most q.Limit (0: 200). left counts the others.
func (p *Pickup) Check(ctx context.Context, agent int64, q inbox.Query) (ms []inbox.Message, left int, err error) {
	return p.take(ctx, agent, q, "check")
}

// Show is Check for the human only: the messages are in the transcript, but the model never reads them.
func (p *Pickup) Show(ctx context.Context, agent int64, q inbox.Query) (ms []inbox.Message, left int, err error) {
	return p.take(ctx, agent, q, ByShow)
}

func (p *Pickup) take(
	ctx context.Context, agent int64, q inbox.Query, by string,
) (ms []inbox.Message, left int, err error) {
	a, err := p.fleet.Agent(agent)
	if err != nil {
		return nil, 0, err
	}
	if q.From, err = p.letters.Sender(ctx, agent, q.From); err != nil {
		return nil, 0, err
	}
	return p.takes.Check(ctx, a.Book(), q, by, AtRest(by), nil)
}

// Receive takes exactly one message into the agent's transcript, without starting a turn, waiting for one if need be.
// It returns tasks.ErrNothing (wrapped, with the explanation) if nothing can arrive, ErrStopped after Stop, ctx's cause
// if ctx ends, and any other error only if the take itself failed.
func (p *Pickup) Receive(ctx context.Context, agent int64, q inbox.Query) (inbox.Message, error) {
	return p.Await(ctx, agent, q, Await{})
}

// Await is how a human's receive differs from the plain one.
type Await struct {
	Outside bool // mail may come from outside: keep waiting even when no agent can send any more
	Show    bool // the model does not read the message
}

// Await is Receive with the differences in how.
func (p *Pickup) Await(ctx context.Context, agent int64, q inbox.Query, how Await) (inbox.Message, error) {
	by := "receive"
	if how.Show {
		by = ByShow
	}
	a, err := p.fleet.Agent(agent)
	if err != nil {
		return inbox.Message{}, err
	}
	if q.From, err = p.letters.Sender(ctx, agent, q.From); err != nil {
		return inbox.Message{}, err
	}
	ctx, release, err := p.visit(ctx, a)
	if err != nil {
		return inbox.Message{}, err
	}
	defer release()
	return p.takes.Receive(ctx, a.Book(), q, Patience{
		By: by, HasMail: a.HasMail, Outside: how.Outside, Into: AtRest(by), Stands: func(why string) func() { return p.showWait(a, why) },
	})
}

// showWait shows the wait of an idle agent's human as the agent's state, until the returned function is called.
func (p *Pickup) showWait(a *fleet.Agent, why string) (end func()) {
	set := func(now, then event.State, why string, since time.Time) (before time.Time, did bool) {
		a.Set(func(i *event.Info) {
			if did = i.State == now; did {
				before = i.Started
				i.State, i.Why, i.Started = then, why, since
			}
		})
		return before, did
	}
	turn, rested := set(event.Idle, event.Waiting, why+"; Esc stops it", p.now())
	return func() {
		if rested { // if not, a turn is waiting and shows it
			set(event.Waiting, event.Idle, "", turn)
		}
		a.Poke()
	}
}

// wish waits until w's turn has begun, or has turned out to have nothing to begin with.
func (p *Pickup) wish(ctx context.Context, agent int64, w *TurnRequest) (Took, error) {
	a, err := p.fleet.Agent(agent)
	if err != nil {
		return Took{}, err
	}
	switch {
	case !a.Kind.HasPrompt():
		return Took{}, tasks.ErrNoPrompt
	case p.db.ReadOnly() != nil:
		return Took{}, p.db.ReadOnly()
	}
	reply := w.Asked()
	w.from = fleet.EnvironmentOf(ctx)
	if err := p.want(ctx, a, w); err != nil {
		return Took{}, err
	}
	select {
	case t := <-reply:
		return t, t.Err
	case <-ctx.Done():
		p.delivery.Unwish(a.ID, w)
		return Took{}, context.Cause(ctx)
	case <-a.Gone:
		return Took{}, fmt.Errorf("%w: it was closed", tasks.ErrNoAgent)
	case <-p.fleet.Context().Done():
		return Took{}, event.ErrClosing
	}
}

// want records w. What the human typed with it is stored in a row until its turn begins, so that the next start shows
// it if the program ends before.
func (p *Pickup) want(ctx context.Context, a *fleet.Agent, w *TurnRequest) error {
	if !w.All {
		p.fleet.Lock()
		p.delivery.Tray(a.ID).Wish(w)
		p.fleet.Unlock()
		a.Poke()
		return nil
	}
	typed := strings.TrimSpace("/fire " + numbers(w.IDs) + w.Text)
	err := p.db.Write(ctx, "keep a command", func(tx *store.Tx) error {
		id, err := tx.AddPrompt(a.ID, typed, true)
		if err != nil {
			return err
		}
		tx.AfterCommit(func() {
			p.fleet.Lock()
			defer p.fleet.Unlock()
			w.Prompt = id
			p.delivery.Tray(a.ID).Wish(w)
			a.Queued(event.Prompt{ID: id, Text: typed, Held: true, Then: true})
			a.Poke()
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep the command: %w", err)
	}
	return nil
}

// Drop removes w's row in the transaction that finds nothing to carry it out with.
func (p *Pickup) Drop(tx *store.Tx, a *fleet.Agent, w *TurnRequest) error {
	if w == nil || w.Prompt == 0 {
		return nil
	}
	_, err := tx.RemovePrompt(w.Prompt)
	tx.AfterCommit(func() { a.Unqueue(w.Prompt) })
	return err
}

// visit is [fleet.Agent.Visit], unless the database can only be read.
func (p *Pickup) visit(ctx context.Context, a *fleet.Agent) (context.Context, func(), error) {
	if why := p.db.ReadOnly(); why != nil {
		return nil, nil, why
	}
	return a.Visit(ctx)
}

// Next takes the most urgent message, or the one with that id if it is not 0, and starts a turn with it, after the
// current turn if there is one. It returns false if there is none; an id that is not pending for this agent is an
// error.
func (p *Pickup) Next(ctx context.Context, agent, id int64) (inbox.Message, bool, error) {
	m, ok, err := p.one(ctx, agent, &TurnRequest{ID: id})
	if err == nil && !ok && id != 0 {
		err = p.elsewhere(ctx, agent, id)
	}
	return m, ok, err
}

// elsewhere says why a message is not pending for an agent.
func (p *Pickup) elsewhere(ctx context.Context, agent, id int64) error {
	m, ok, err := p.inbox.Get(ctx, id)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("there is no message #%d. /inbox to list your mail", id)
	case m.Recipient != agent:
		return fmt.Errorf("message #%d is another agent's; /messages why %d says whose", id, id)
	}
	return fmt.Errorf("message #%d does not wait any more: %s; /messages show %d prints it", id, Fate(m), id)
}

// Oldest is Next for the message that came first, however urgent others are.
func (p *Pickup) Oldest(ctx context.Context, agent int64) (inbox.Message, bool, error) {
	return p.one(ctx, agent, &TurnRequest{Oldest: true})
}

func (p *Pickup) one(ctx context.Context, agent int64, w *TurnRequest) (inbox.Message, bool, error) {
	t, err := p.wish(ctx, agent, w)
	if err != nil || len(t.Messages) == 0 {
		return inbox.Message{}, false, err
	}
	return t.Messages[0], true, nil
}

// Each takes the pending messages one by one, each into a turn of its own, including those that arrive meanwhile, until
// none is left, and returns how many it took. Stop ends it together with the current turn, and so does a turn that
// fails: the next one would fail in the same way.
func (p *Pickup) Each(ctx context.Context, agent int64) (n int, err error) {
	a, err := p.fleet.Agent(agent)
	if err != nil {
		return 0, err
	}
	ctx, release, err := p.visit(ctx, a)
	if err != nil {
		return 0, err
	}
	defer release()
	for {
		_, ok, err := p.one(ctx, agent, &TurnRequest{Steady: n > 0})
		if err != nil || !ok {
			return n, err
		}
		n++
	}
}

// ErrNoMail is returned by Fire for an empty inbox.
var ErrNoMail = errors.New("the inbox is empty, so there is nothing to fire; a prompt starts a turn without messages")

// Fire takes all pending messages, as many as fit in a quarter of the model's window, into one turn, with text as its
// prompt if there is one. While a turn runs it takes nothing and waits; meanwhile the command is queued, and Unprompt
// can withdraw it (ErrTakenBack). left counts the messages that stay. An empty inbox is refused with ErrNoMail, which
// names the agent's work that still runs.
func (p *Pickup) Fire(ctx context.Context, agent int64, text string) (n, left int, err error) {
	c, err := p.inbox.Count(ctx, agent)
	if err == nil && c.Pending == 0 {
		err = p.noMail(agent)
	}
	if err != nil {
		return 0, 0, err
	}
	t, err := p.fire(ctx, agent, &TurnRequest{All: true, Text: text})
	return len(t.Messages), t.Left, err
}

// noMail is ErrNoMail with the work of the agent that still runs.
func (p *Pickup) noMail(agent int64) error {
	a, err := p.fleet.Agent(agent)
	if err != nil {
		return err
	}
	switch owed := a.Owed(); len(owed) {
	case 0:
		return ErrNoMail
	case 1:
		return fmt.Errorf("%w; %s still runs: /fire --wait fires once it has ended", ErrNoMail, owed[0])
	default:
		return fmt.Errorf("%w; %s still run: /fire --wait fires once they have ended", ErrNoMail, strings.Join(owed, ", "))
	}
}

// FireAfter is Fire once all work that the agent dispatched has ended, if it runs or is about to start, including work
// that starts meanwhile. It does not wait for work that can't go on. Stop ends the wait with fleet.ErrStopped.
func (p *Pickup) FireAfter(ctx context.Context, agent int64, text string) (n, left int, err error) {
	if err := p.awaitWork(ctx, agent); err != nil {
		return 0, 0, err
	}
	return p.Fire(ctx, agent, text)
}

// awaitWork returns once nothing that the agent dispatched runs, or is about to start, that could still end.
func (p *Pickup) awaitWork(ctx context.Context, agent int64) error {
	a, err := p.fleet.Agent(agent)
	if err != nil || len(a.Owed()) == 0 {
		return err
	}
	ctx, release, err := p.visit(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	w := p.takes.waits.Begin(&tasks.Wait{Agent: agent, Children: true})
	end := p.showWait(a, "waiting for "+strings.Join(a.Owed(), ", ")+", then it fires")
	defer func() {
		w.End()
		end()
	}()
	err = w.Until(ctx, func() (bool, error) { return len(a.Owed()) == 0, nil })
	if errors.Is(err, tasks.ErrNothing) {
		return nil
	}
	return err
}

// FireThese is Fire with exactly these messages. If one of them is not pending when the turn is about to begin, none is
// taken, and the error says which.
func (p *Pickup) FireThese(ctx context.Context, agent int64, ids []int64, text string) (n int, err error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	switch {
	case len(ids) == 0:
		return 0, errors.New("fire which messages? none is chosen")
	case len(ids) > maxTaken:
		return 0, fmt.Errorf("%d messages are more than one turn takes; choose at most %d", len(ids), maxTaken)
	}
	if err := p.db.Read(ctx, func(rx *store.Rx) error { return AllWait(&rx.View, agent, ids) }); err != nil {
		return 0, err
	}
	t, err := p.fire(ctx, agent, &TurnRequest{All: true, IDs: ids, Text: text})
	return len(t.Messages), err
}

func (p *Pickup) fire(ctx context.Context, agent int64, w *TurnRequest) (Took, error) {
	t, err := p.wish(ctx, agent, w)
	if err == nil && len(t.Messages) == 0 {
		err = ErrNoMail // another taker was first while the request waited
	}
	// The human sees the error, so the row goes. If the program is closing they don't; the next start shows the row.
	if err != nil && ctx.Err() == nil && p.fleet.Context().Err() == nil {
		_, e := p.unprompt(ctx, w.Prompt)
		err = errors.Join(err, e)
	}
	return t, err
}

// numbers returns the numbers of messages as they are typed, each followed by a space.
func numbers(ids []int64) string {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, "#%d ", id)
	}
	return b.String()
}

// Grant takes what w asks for into this turn. A prompt that goes with messages enters only if there are any.
func (p *Pickup) Grant(tx *store.Tx, a *fleet.Agent, b *history.Batch, turn int64, w *TurnRequest) (t Took, err error) {
	tx.AfterCommit(func() {
		p.fleet.Lock()
		defer p.fleet.Unlock()
		a.Env.Adopt(w.from)
	})
	if !w.All {
		t.Messages, err = p.takes.Next(tx, a.Book(), b, turn, w)
		return t, err
	}
	if t.Messages, t.Left, err = p.takes.All(tx, a.Book(), b, turn, w); err != nil {
		return t, err
	}
	if len(t.Messages) == 0 {
		return t, p.Drop(tx, a, w)
	}
	entry := t.Messages[0].Entry
	if w.Text != "" {
		if entry, err = b.Add(turn, history.Entry{Kind: history.EntryPrompt, Text: w.Text}); err != nil {
			return t, err
		}
	}
	tx.AfterCommit(func() { a.Unqueue(w.Prompt) })
	return t, tx.EnterPrompt(w.Prompt, entry)
}
