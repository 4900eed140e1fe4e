package agents

import (
	"context"
	"errors"

	"fantail/inbox"
	"fantail/store"
)

// wish is a human's wish for a turn with mail. It waits for the end of the turn
// that runs, and takes nothing before its own begins.
type wish struct {
	id     int64  // this message; 0: the most urgent
	oldest bool   // the one that came first instead of the most urgent
	all    bool   // all that is pending, in one turn
	text   string // the prompt that goes with them; "": none
	reply  chan took
}

// took is what became of a wish.
type took struct {
	ms   []inbox.Message
	left int
	err  error
}

// query matches what w could take.
func (w *wish) query(agent int64) inbox.Query { return inbox.Query{Recipient: agent, ID: w.id} }

// wish waits until w's turn has begun, or there was nothing to begin it with.
func (p *Pool) wish(ctx context.Context, agent int64, w *wish) (took, error) {
	a, err := p.agent(agent)
	if err != nil {
		return took{}, err
	}
	if !a.kind.HasPrompt() {
		return took{}, ErrNoPrompt
	}
	w.reply = make(chan took, 1)
	p.mu.Lock()
	a.wishes = append(a.wishes, w)
	p.mu.Unlock()
	a.poked()
	select {
	case t := <-w.reply:
		return t, t.err
	case <-ctx.Done():
		a.unwish(w)
		return took{}, context.Cause(ctx)
	case <-p.ctx.Done():
		return took{}, errClosing
	}
}

// unwish forgets a wish that was carried out or given up.
func (a *agent) unwish(w *wish) {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	for i, other := range a.wishes {
		if other == w {
			a.wishes = append(a.wishes[:i:i], a.wishes[i+1:]...)
			a.p.told()
			return
		}
	}
}

// Next takes the most urgent message, or the one with that id (0: none named),
// and starts a turn with it; while a turn runs it waits for its end. False:
// there is none.
func (p *Pool) Next(ctx context.Context, agent, id int64) (inbox.Message, bool, error) {
	return p.one(ctx, agent, &wish{id: id})
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
// the turn that runs. It returns how many it took.
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
		_, ok, err := p.Next(ctx, agent, 0)
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
// runs it waits for its end and takes nothing before. left counts those that
// stay. An empty inbox is refused with ErrNoMail.
func (p *Pool) Fire(ctx context.Context, agent int64, text string) (n, left int, err error) {
	pending, _, err := p.inbox.Count(ctx, agent)
	if err == nil && pending == 0 {
		err = ErrNoMail
	}
	if err != nil {
		return 0, 0, err
	}
	t, err := p.wish(ctx, agent, &wish{all: true, text: text})
	if err == nil && len(t.ms) == 0 {
		err = ErrNoMail // somebody took them while the request waited
	}
	return len(t.ms), t.left, err
}

// grant takes what w wishes into this turn. A prompt that goes with messages
// enters only if there are some.
func (a *agent) grant(tx *store.Tx, b *batch, turn int64, w *wish) (t took, err error) {
	if !w.all {
		t.ms, err = a.takeNext(tx, b, turn, w)
		return t, err
	}
	t.ms, t.left, err = a.takeAll(tx, b, turn)
	if err == nil && len(t.ms) > 0 && w.text != "" {
		_, err = b.add(turn, Entry{Kind: EntryPrompt, Text: w.text})
	}
	return t, err
}
