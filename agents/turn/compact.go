package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/budget"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/hooks"
	"fantail/agents/llm"
	"fantail/agents/prompts"
	"fantail/agents/reply"
	"fantail/agents/roster"
	"fantail/store"
)

// A conversation that has grown long is compacted: the agent's own model writes a summary, and later requests begin
// with it. The entries before it are kept and shown, but no longer sent. Unlike a reply, a summary is not saved while
// it streams: part of one is useless. Whatever interrupts it, kill -9 included, leaves the conversation as it was; if
// it is still too long, the next request compacts it again.

const (
	crowdedAt = 85 // percent of the window at which a conversation is compacted automatically
	shrinks   = 2  // how often a text too long for the model is cut further
)

var errNothingOld = errors.New("there is nothing to compact yet")

// Compact has the agent's model summarise its conversation, following the hint if there is one, and returns when that
// is done. If a turn is running it waits for its end first. After an error nothing has changed; the error is
// [fleet.ErrStopped] if the human stopped it.
func (l *Loop) Compact(ctx context.Context, hint string) error {
	if err := l.Known().Compactable(); err != nil {
		return err
	}
	s := &compaction{hint: hint, done: make(chan error, 1)}
	l.o.Fleet.Lock()
	if l.compaction != nil {
		l.o.Fleet.Unlock()
		return errors.New("it is being compacted already")
	}
	l.compaction = s
	l.o.Fleet.Unlock()
	l.Poke()
	select {
	case err := <-s.done:
		return err
	case <-l.Gone:
		return event.ErrClosing
	case <-ctx.Done():
		return l.giveUp(ctx, s)
	}
}

// giveUp gives up a request to compact. One that has begun is stopped, and if that comes too late, done.
func (l *Loop) giveUp(ctx context.Context, s *compaction) error {
	l.o.Fleet.Lock()
	begun := s.begun
	if !begun {
		l.compaction = nil
	}
	l.o.Fleet.Unlock()
	if !begun {
		return ctx.Err()
	}
	l.Halt(fleet.ErrStopped)
	return <-s.done
}

// compacts carries out a request to compact, between turns; it returns false if there is none.
func (l *Loop) compacts(ctx context.Context) bool {
	l.o.Fleet.Lock()
	wanted := l.compaction != nil
	l.o.Fleet.Unlock()
	if !wanted {
		return false // anything stoppable makes a helper look busy
	}
	ctx, release := l.Stoppable(ctx) // before it is shown, so that a stop always hits something
	defer release()
	l.o.Fleet.Lock()
	s := l.compaction
	if s == nil || l.Info.State != event.Idle { // a human's receive waits in this tab
		l.o.Fleet.Unlock()
		return false
	}
	s.begun = true
	l.Change(func(i *event.Info) { i.State, i.Doing, i.Started = event.Running, "compacting", l.o.Now() })
	l.o.Fleet.Unlock()
	err := l.readAll(ctx)
	if err == nil {
		err = l.compact(ctx, s)
	}
	l.rests()
	l.o.Fleet.Lock()
	l.compaction = nil
	l.Change(func(i *event.Info) { i.State, i.Doing, i.Retry = event.Idle, "", nil })
	l.o.Fleet.Told()
	l.o.Fleet.Unlock()
	s.done <- err
	return true
}

// readAll reads, between turns, what was appended since the last request. It counts as sent from now on, so none of it
// can be taken back.
func (c *conversation) readAll(ctx context.Context) error {
	var sent int64
	err := c.o.DB.Write(context.WithoutCancel(ctx), "read the conversation", func(tx *store.Tx) error {
		last, ok, err := tx.LastTurn(c.ID)
		if err != nil || !ok {
			sent = 0
			return err
		}
		if sent, err = tx.LastSeq(c.ID); err != nil {
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
	return c.readUpTo(ctx, sent)
}

// makeRoom compacts the conversation before a request that would fill too much of the model's window. A failure is
// reported once and the turn goes on: the request may still fit.
func (c *conversation) makeRoom(ctx context.Context) error {
	used, window := c.fills()
	if window == 0 || used*100 < window*crowdedAt {
		c.cramped = false
		return nil
	}
	if c.cramped {
		return nil
	}
	full := fmt.Sprintf("The conversation fills %d of the %d tokens the model can read", used, window)
	if c.sinceSummary == 1 { // the summary and a single step are already too much
		c.cramped = true
		return c.tell(ctx, full+", and compacting it did not help. /new begins a new conversation.")
	}
	err := c.compact(ctx, nil)
	over := (*budget.Over)(nil)
	switch {
	case errors.As(err, &over):
		return err
	case errors.Is(err, errNothingOld):
		return nil // it may fit; if not, the model says so
	case err == nil:
		if used, _ = c.fills(); used*100 >= window*crowdedAt {
			c.cramped = true
			return c.tell(ctx, full+", most of it what has just come, which was not compacted. It is sent as it is.")
		}
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	c.cramped = true
	return c.tell(ctx, full+". Compacting it failed: "+strings.TrimSuffix(err.Error(), ".")+". It goes on as it is.")
}

// rescue compacts the conversation after the model refused a request as too long. If it can't, it returns the error
// that the turn ends with.
func (c *conversation) rescue(ctx context.Context, refused error) error {
	err := c.compact(ctx, nil)
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

// tell appends a notice for the human.
func (c *conversation) tell(ctx context.Context, text string) error {
	return c.Keep(ctx, "record a notice", func(tx *store.Tx) error {
		_, err := c.Book().Batch(tx).Add(c.turn, history.Entry{Kind: history.EntryNotice, Text: text})
		return err
	})
}

// fills estimates the tokens of the next request, and returns the size of the model's window.
func (c *conversation) fills() (used, window int) {
	now := c.Known()
	used, window = now.Context, now.Window
	if window == 0 {
		return used, 0
	}
	if used == 0 {
		return history.Estimate(c.request()), window
	}
	return used + c.talk.Uncounted(c.counted), window
}

// compact asks for a summary of everything the model has answered so far, and appends it. Anything later, a prompt or
// mail, is still sent word for word. s is the request to compact; nil: nobody asked.
func (c *conversation) compact(ctx context.Context, s *compaction) error {
	hint, trigger := "", hooks.Auto
	if s != nil {
		hint, trigger = s.hint, hooks.Manual
	}
	if err := c.Known().Compactable(); err != nil {
		return err
	}
	old := history.Answered(c.talk.Entries)
	if len(old) == 0 || len(old) == 1 && old[0].Kind == history.EntrySummary {
		return errNothingOld
	}
	if err := c.o.Hooks.Compacts(ctx, c.hooked(), trigger, hint); err != nil {
		return err
	}
	model, now := c.Present()
	room, before := now.Window, now.Context
	paid, err := c.afford(ctx, model)
	if err != nil {
		return err
	}
	c.Asked("compacting")
	if room == 0 {
		room = history.SomeWindow
	}
	r, err := c.summarise(ctx, model, history.Request(old, model.Name), hint, history.BytesOf(room*6/10))
	if err != nil {
		c.o.Fleet.Emit(event.Void{Agent: c.ID})
		return err
	}
	e := history.Entry{Kind: history.EntrySummary, Text: r.Text(), Model: model.Name, Summary: &history.Summary{
		Before: before, Auto: s == nil, Prompt: history.Prompted(old, c.turn),
	}}
	if r.Stop.Reason == llm.Length {
		e.Text += "\n\n(The summary was cut here: it reached the model's token limit.)"
	}
	for _, x := range old {
		e.Summary.UpTo = max(e.Summary.UpTo, x.Seq)
	}
	return c.adopt(ctx, model, r, e, paid)
}

// summarise streams the summary of a conversation. A text that turns out too long for the model is cut further.
func (c *conversation) summarise(ctx context.Context, model llm.Model, said []llm.Message, hint string, room int) (*reply.Reply, error) {
	for try := 0; ; try++ {
		text := history.Spell(said, room)
		req := &llm.Request{
			Model: model.ID, System: prompts.Compact(), MaxTokens: model.MaxOut,
			CacheKey: fmt.Sprintf("fantail-%d-summary", c.ID),
			Messages: []llm.Message{history.Summarise(text, hint)},
		}
		replied, err := c.sends(req)
		if err != nil {
			return nil, err
		}
		r, err := c.stream(ctx, model, model.Provider.Stream(ctx, req), nil)
		replied(r.Usage, r.Len())
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case llm.TooLong(err) && try < shrinks:
			room = min(room, len(text)) / 4
			c.o.Fleet.Emit(event.Void{Agent: c.ID})
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

// adopt appends a summary and makes it the beginning of the history, unless the conversation was cleared meanwhile.
func (c *conversation) adopt(ctx context.Context, model llm.Model, r *reply.Reply, e history.Entry, paid budget.Charge) error {
	var cost int64
	if model.Price != nil {
		cost = model.Price(r.Usage)
	}
	rest := c.talk.Entries[len(history.Answered(c.talk.Entries)):]
	kept := history.Estimate(c.requestOf(&history.Talk{Entries: append([]history.Entry{e}, rest...)}))
	e.Summary.After = kept
	if e.Summary.Before > 0 { // scale our estimate by what the model counted
		e.Summary.After = e.Summary.Before * kept / history.Estimate(c.request())
	}
	var seq int64
	err := c.Keep(ctx, "record the summary", func(tx *store.Tx) error {
		cleared, ok, err := tx.LastEntry(c.ID, string(history.EntryCleared))
		if err != nil {
			return err
		}
		if ok && cleared.Seq > e.Summary.UpTo {
			return errors.New("a new conversation began meanwhile")
		}
		if e.Summary.State, err = roster.Standing(tx, c.o.Inbox, c.ID); err != nil {
			return err
		}
		turn, ok, err := tx.LastTurn(c.ID)
		if err != nil || !ok {
			return errors.Join(err, store.Missing(ok, "a turn of agent %d", c.ID))
		}
		tx.AfterCommit(func() {
			c.Set(func(i *event.Info) {
				i.Usage, i.Cost, i.Steps = i.Usage.Add(r.Usage), i.Cost+cost, i.Steps+1
				i.Context, i.Retry = e.Summary.After, nil
			})
		})
		b := c.Book().LiveBatch(tx)
		if seq, err = b.Add(c.turn, e); err != nil {
			return err
		}
		if err := tx.SetSentUpTo(turn.ID, seq); err != nil {
			return err
		}
		if err := c.settle(tx, paid, model, r); err != nil {
			return err
		}
		return tx.AddStep(turn.ID, store.Step{
			Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite,
			Cost: cost, Context: e.Summary.After,
		})
	})
	if err != nil {
		c.o.Fleet.Emit(event.Void{Agent: c.ID})
		return err
	}
	c.tokens += r.Usage.Context()
	c.counted, c.sinceSummary, c.cramped = seq, 0, false
	return c.readUpTo(ctx, seq)
}
