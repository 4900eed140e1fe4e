package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/agents/reply"

	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/prompts"
	"fantail/agents/roster"
	"fantail/store"
)

// A conversation that has grown long is compacted: the agent's own model writes a
// summary, and requests from then on begin with it. The entries before it are
// kept and shown, and no longer sent. Unlike a reply a summary is not written down
// while it streams: a part of one stands for nothing. Whatever cuts it, kill -9 too,
// leaves the conversation whole and undone what was begun; a conversation that is
// still too long is compacted anew at the next request.

const (
	crowdedAt = 85 // percent of the window at which a conversation is compacted by itself
	listed    = 20 // of what runs, is queued or unread, named beside a summary
	shrinks   = 2  // how often a text that is too long for the model is cut further
)

var errNothingOld = errors.New("there is nothing to compact yet")

// squeeze is the human's wish that the conversation be compacted.
type squeeze struct {
	hint string
	done chan error
}

// Compact has the agent's model summarise its conversation, minding the hint if
// there is one, and returns when that is done; while a turn runs it waits for the
// turn's end. After an error nothing has changed; it is [ErrStopped] if the human
// stopped it.
func (p *Pool) Compact(ctx context.Context, agent int64, hint string) error {
	a, err := p.agent(agent)
	if err != nil {
		return err
	}
	switch {
	case !a.kind.HasPrompt():
		return ErrNoPrompt
	case p.o.shows():
		return p.o.DB.ReadOnly()
	}
	s := &squeeze{hint: hint, done: make(chan error, 1)}
	p.mu.Lock()
	if a.squeeze != nil {
		p.mu.Unlock()
		return errors.New("it is being compacted already")
	}
	a.squeeze = s
	p.mu.Unlock()
	a.poked()
	select {
	case err = <-s.done:
	case <-a.gone:
		err = event.ErrClosing
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("compact the conversation: %w", err)
	}
	return nil
}

// squeezed carries out the wish to be compacted, at rest: false if there is none.
func (a *agent) squeezed(ctx context.Context) bool {
	a.p.mu.Lock()
	wanted := a.squeeze != nil
	a.p.mu.Unlock()
	if !wanted {
		return false // what could be stopped makes a helper look busy
	}
	ctx, release := a.stoppable(ctx) // before it can be seen, so that nobody stops it in vain
	defer release()
	a.p.mu.Lock()
	s := a.squeeze
	if s == nil || a.info.State != Idle { // a human's receive waits in this tab
		a.p.mu.Unlock()
		return false
	}
	a.change(func(i *Info) { i.State, i.Doing, i.Started = Running, "compacting", a.p.o.Now() })
	a.p.mu.Unlock()
	err := a.readAll(ctx)
	if err == nil {
		err = a.compact(ctx, s.hint, false)
	}
	a.p.mu.Lock()
	a.squeeze = nil
	a.change(func(i *Info) { i.State, i.Doing, i.Retry = Idle, "", nil })
	a.p.told()
	a.p.mu.Unlock()
	s.done <- err
	return true
}

// readAll reads, at rest, what was appended since the last request. It counts as
// sent from now on: what it holds can't be taken back any more.
func (a *agent) readAll(ctx context.Context) error {
	var sent int64
	err := a.p.o.DB.Write(context.WithoutCancel(ctx), "read the conversation", func(tx *store.Tx) error {
		last, ok, err := tx.LastTurn(a.id)
		if err != nil || !ok {
			sent = 0
			return err
		}
		if sent, err = tx.LastSeq(a.id); err != nil {
			return err
		}
		return tx.SetSentUpTo(last.ID, sent)
	})
	switch {
	case err != nil:
		return err
	case sent == 0:
		return errNothingOld
	}
	return a.readUpTo(ctx, sent)
}

// makeRoom compacts the conversation before a request that would fill too much of
// the model's window. A failure is told once and the turn goes on: the request
// may still fit.
func (a *agent) makeRoom(ctx context.Context) error {
	used, window := a.fills()
	if window == 0 || used*100 < window*crowdedAt {
		a.cramped = false
		return nil
	}
	if a.cramped {
		return nil
	}
	full := fmt.Sprintf("The conversation fills %d of the %d tokens the model can read", used, window)
	if a.sinceSummary == 1 { // the summary itself and a single step are too much
		a.cramped = true
		return a.tell(ctx, full+", and compacting it did not help. /new begins a new conversation.")
	}
	err := a.compact(ctx, "", true)
	switch {
	case errors.Is(err, errNothingOld):
		return nil // it may fit, and if not the model says so
	case err == nil:
		if used, _ = a.fills(); used*100 >= window*crowdedAt {
			a.cramped = true
			return a.tell(ctx, full+", most of it what has just come, which was not compacted. It is sent as it is.")
		}
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	a.cramped = true
	return a.tell(ctx, full+". Compacting it failed: "+strings.TrimSuffix(err.Error(), ".")+". It goes on as it is.")
}

// rescue compacts the conversation after the model refused a request as too long.
// It returns the error the turn ends with if that was not possible.
func (a *agent) rescue(ctx context.Context, refused error) error {
	err := a.compact(ctx, "", true)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errNothingOld):
		return fmt.Errorf("%w (there is nothing older to compact)", refused)
	}
	return fmt.Errorf("%w (compacting it failed: %w)", refused, err)
}

func tooLong(err error) bool {
	e := (*llm.Error)(nil)
	return errors.As(err, &e) && e.Kind == llm.ContextTooLong
}

// tell appends a notice for the human.
func (a *agent) tell(ctx context.Context, text string) error {
	return a.keep(ctx, "record a notice", func(tx *store.Tx) error {
		_, err := a.book().Batch(tx, false).Add(a.turn, Entry{Kind: EntryNotice, Text: text})
		return err
	})
}

// fills estimates the tokens of the next request, and says how many the model
// reads.
func (a *agent) fills() (used, window int) {
	a.p.mu.Lock()
	used, window = a.info.Context, a.info.Window
	a.p.mu.Unlock()
	if window == 0 {
		return used, 0
	}
	if used == 0 {
		return history.Estimate(a.request()), window
	}
	for _, e := range a.history {
		if e.Seq <= a.counted {
			continue
		}
		switch e.Kind {
		case EntryText, EntryThinking, EntryCall: // of a reply, whose tokens were counted with it
		default:
			used += history.Weight(e)
		}
	}
	return used, window
}

// compact asks for a summary of what the model has answered so far, and appends
// it. What stands behind that, a prompt or mail, is sent word for word.
func (a *agent) compact(ctx context.Context, hint string, auto bool) error {
	old := history.Answered(a.history)
	if len(old) == 0 || len(old) == 1 && old[0].Kind == EntrySummary {
		return errNothingOld
	}
	a.p.mu.Lock()
	model, room := a.model, a.info.Window
	before := a.info.Context
	a.change(func(i *Info) { a.asked, i.Doing = a.p.o.Now(), "compacting" })
	a.p.mu.Unlock()
	if room == 0 {
		room = history.SomeWindow
	}
	r, err := a.summarise(ctx, model, history.Request(old, model.Name), hint, history.BytesOf(room*6/10))
	if err != nil {
		a.p.hub.Emit(Void{Agent: a.id})
		return err
	}
	e := Entry{Kind: EntrySummary, Text: r.Text(), Model: model.Name, Summary: &Summary{
		Before: before, Auto: auto, Prompt: a.prompted(old),
	}}
	if r.Stop.Reason == llm.Length {
		e.Text += "\n\n(The summary was cut here: it reached the model's token limit.)"
	}
	for _, x := range old {
		e.Summary.UpTo = max(e.Summary.UpTo, x.Seq)
	}
	return a.adopt(ctx, model, r, e)
}

// prompted is the prompt of the turn that runs, if it is among those entries, at a
// length that leaves room.
func (a *agent) prompted(old []Entry) string {
	for i := len(old) - 1; i >= 0 && a.turn != 0; i-- {
		switch e := old[i]; {
		case e.Kind == EntryPrompt && e.Turn == a.turn:
			return history.Fit(e.Text, history.BytesOf(history.ItemTokens)/4)
		case e.Kind == EntrySummary && e.Turn == a.turn:
			return e.Summary.Prompt
		}
	}
	return ""
}

// summarise streams the summary of a conversation. A text that turns out too long
// for the model is cut further.
func (a *agent) summarise(ctx context.Context, model Model, said []llm.Message, hint string, room int) (*reply.Reply, error) {
	ask := "Write the summary now."
	if hint = strings.TrimSpace(hint); hint != "" {
		ask = "The person asks that the summary mind this: " + hint + "\n\n" + ask
	}
	for try := 0; ; try++ {
		text := history.Spell(said, room)
		r, err := a.stream(ctx, model, &llm.Request{
			Model: model.ID, System: prompts.Compact(), MaxTokens: model.MaxOut, CacheKey: fmt.Sprintf("fantail-%d-summary", a.id),
			Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{
				llm.Text{Text: "<conversation>\n" + text + "\n</conversation>", From: llm.FromTool}, llm.Text{Text: ask, From: llm.FromHost},
			}}},
		}, nil)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case tooLong(err) && try < shrinks:
			room = min(room, len(text)) / 4
			a.p.hub.Emit(Void{Agent: a.id})
			continue
		case err != nil:
			return nil, err
		case r.Stop.Reason == llm.Refusal:
			return nil, errors.New("the model refused to summarise the conversation")
		case r.Text() == "":
			return nil, errors.New("the model answered nothing")
		}
		return r, nil
	}
}

// adopt appends a summary and makes it the beginning of the history, unless a new
// conversation began meanwhile.
func (a *agent) adopt(ctx context.Context, model Model, r *reply.Reply, e Entry) error {
	var cost int64
	if model.Price != nil {
		cost = model.Price(r.Usage)
	}
	kept := history.Estimate(a.requestOf(append([]Entry{e}, a.history[len(history.Answered(a.history)):]...)))
	e.Summary.After = kept
	if e.Summary.Before > 0 { // what the model counted puts the estimate right
		e.Summary.After = e.Summary.Before * kept / history.Estimate(a.request())
	}
	var seq int64
	err := a.keep(ctx, "record the summary", func(tx *store.Tx) error {
		cleared, ok, err := tx.LastEntry(a.id, string(EntryCleared))
		if err != nil {
			return err
		}
		if ok && cleared.Seq > e.Summary.UpTo {
			return errors.New("a new conversation began meanwhile")
		}
		if e.Summary.State, err = a.p.standing(tx, a.id); err != nil {
			return err
		}
		turn, ok, err := tx.LastTurn(a.id)
		if err != nil || !ok {
			return errors.Join(err, store.Missing(ok, "a turn of agent %d", a.id))
		}
		tx.AfterCommit(func() {
			a.set(func(i *Info) {
				i.Usage, i.Cost, i.Steps, i.Context, i.Retry = i.Usage.Add(r.Usage), i.Cost+cost, i.Steps+1, e.Summary.After, nil
			})
		})
		b := a.book().Batch(tx, true)
		if seq, err = b.Add(a.turn, e); err != nil {
			return err
		}
		if err := tx.SetSentUpTo(turn.ID, seq); err != nil {
			return err
		}
		return tx.AddStep(turn.ID, store.Step{
			Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite,
			Cost: cost, Context: e.Summary.After,
		})
	})
	if err != nil {
		a.p.hub.Emit(Void{Agent: a.id})
		return err
	}
	a.tokens += r.Usage.Context()
	a.counted, a.sinceSummary, a.cramped = seq, 0, false
	return a.readUpTo(ctx, seq)
}

// standing says what of an agent's work is under way and what is unread in its
// inbox.
func (p *Pool) standing(tx *store.Tx, agent int64) (string, error) {
	ts, err := tx.Tasks(agent)
	if err != nil {
		return "", err
	}
	var running, queued, unread []string
	for _, t := range ts {
		switch t.State {
		case roster.TaskRunning:
			running = append(running, t.Name)
		case roster.TaskQueued:
			queued = append(queued, t.Name)
		}
	}
	ms, unreadAll, err := p.inbox.Waiting(tx, agent, listed)
	if err != nil {
		return "", err
	}
	for _, m := range ms {
		unread = append(unread, fmt.Sprintf("#%d %s from %s", m.ID, m.Kind, m.By()))
	}
	var lines []string
	for _, l := range []struct {
		what  string
		names []string
		all   int
	}{
		{"Your agents at work", running, len(running)},
		{"Tasks in your queue", queued, len(queued)},
		{"Messages unread in your inbox", unread, unreadAll},
	} {
		if l.all == 0 {
			continue
		}
		line := l.what + ": " + strings.Join(l.names[:min(listed, len(l.names))], ", ")
		if more := l.all - listed; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, line+".")
	}
	return strings.Join(lines, "\n"), nil
}
