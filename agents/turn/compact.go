package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/hooks"
	"fantail/agents/llm"
	"fantail/agents/tasks"
	"fantail/store"
)

// A conversation that has grown long is compacted: the agent's own model writes a summary, and
// later requests begin with it. The entries before it are kept and shown, but no longer sent.
// Unlike a reply, a summary is not saved while it streams, because a part of one is useless. Any
// interruption, kill -9 included, leaves the conversation unchanged; if it is still too long, the
// next request compacts it again.

const (
	crowdedAt = 85 // percent of the window at which a conversation is compacted automatically
	shrinks   = 2  // how often a text too long for the model is cut further
)

var errNothingOld = errors.New("there is nothing to compact yet")

// compaction is the human's request to compact the conversation.
type compaction struct {
	hint  string
	begun bool
	done  chan error
}

// Compact has the agent's model summarise its conversation, following the hint if there is one, and
// returns when that is done. It first waits for a running turn to end. After an error nothing has
// changed; the error is [fleet.ErrStopped] if the human stopped it.
func (l *Loop) Compact(ctx context.Context, hint string) error {
	if err := l.Agent.Known().Compactable(); err != nil {
		return err
	}
	s := &compaction{hint: hint, done: make(chan error, 1)}
	l.o.Fleet.Lock()
	if l.shared.compaction != nil {
		l.o.Fleet.Unlock()
		return errors.New("it is being compacted already")
	}
	l.shared.compaction = s
	l.o.Fleet.Unlock()
	l.Agent.Poke()
	select {
	case err := <-s.done:
		return err
	case <-l.Agent.Gone:
		return event.ErrClosing
	case <-ctx.Done():
		return l.giveUp(ctx, s)
	}
}

// giveUp withdraws a request to compact. If compacting has begun, it is stopped; if it is too late
// for that, it is done.
func (l *Loop) giveUp(ctx context.Context, s *compaction) error {
	l.o.Fleet.Lock()
	begun := s.begun
	if !begun {
		l.shared.compaction = nil
	}
	l.o.Fleet.Unlock()
	if !begun {
		return ctx.Err()
	}
	l.Agent.Halt(fleet.ErrStopped)
	return <-s.done
}

// compactIfAsked carries out a request to compact, between turns. It returns false if there is
// none.
func (l *Loop) compactIfAsked(ctx context.Context) bool {
	l.o.Fleet.Lock()
	wanted := l.shared.compaction != nil
	l.o.Fleet.Unlock()
	if !wanted {
		return false // anything stoppable makes a helper look busy
	}
	ctx, release := l.Agent.Stoppable(ctx) // stoppable before it is shown, so that a stop always has an effect
	defer release()
	l.o.Fleet.Lock()
	s := l.shared.compaction
	if s == nil || l.Agent.Info.State != event.Idle { // a human's receive waits in this tab
		l.o.Fleet.Unlock()
		return false
	}
	s.begun = true
	l.Agent.Change(func(i *event.Info) { i.State, i.Doing, i.Started = event.Running, "compacting", l.o.Now() })
	l.o.Fleet.Unlock()
	err := l.readAll(ctx)
	if err == nil {
		err = l.compact(ctx, s)
	}
	l.trim()
	l.o.Fleet.Lock()
	l.shared.compaction = nil
	l.Agent.Change(func(i *event.Info) { i.State, i.Doing, i.Retry = event.Idle, "", nil })
	l.o.Fleet.Told()
	l.o.Fleet.Unlock()
	s.done <- err
	return true
}

// readAll reads, between turns, what was appended since the last request. These entries count as
// sent from now on, so none of them can be taken back.
func (l *Loop) readAll(ctx context.Context) error {
	var sent int64
	err := l.o.DB.Write(context.WithoutCancel(ctx), "read the conversation", func(tx *store.Tx) error {
		last, ok, err := tx.LastTurn(l.Agent.ID)
		if err != nil || !ok {
			sent = 0
			return err
		}
		if sent, err = tx.LastSeq(l.Agent.ID); err != nil {
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
	return l.readUpTo(ctx, sent)
}

// compactIfFull compacts the conversation before a request that would fill too much of the model's window. A failure is
// reported once and the turn goes on: the request may still fit.
func (l *Loop) compactIfFull(ctx context.Context) error {
	used, window := l.fills()
	if window == 0 || used*100 < window*crowdedAt {
		l.own.cramped = false
		return nil
	}
	if l.own.cramped {
		return nil
	}
	full := fmt.Sprintf("The conversation fills %d of the %d tokens the model can read", used, window)
	if l.own.sinceSummary == 1 { // the summary and a single step are already too much
		l.own.cramped = true
		return l.Tell(ctx, full+", and compacting it did not help. /new begins a new conversation.")
	}
	err := l.compact(ctx, nil)
	over := (*fleet.OverBudget)(nil)
	switch {
	case errors.As(err, &over):
		return err
	case errors.Is(err, errNothingOld):
		return nil // it may still fit; if not, the model says so
	case err == nil:
		if used, _ = l.fills(); used*100 >= window*crowdedAt {
			l.own.cramped = true
			return l.Tell(ctx, full+", most of it what has just come, which was not compacted. It is sent as it is.")
		}
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	l.own.cramped = true
	return l.Tell(ctx, full+". Compacting it failed: "+strings.TrimSuffix(err.Error(), ".")+". It goes on as it is.")
}

// rescue compacts the conversation after the model refused a request as too long. If it can't, it returns the error
// that the turn ends with.
func (l *Loop) rescue(ctx context.Context, refused error) error {
	err := l.compact(ctx, nil)
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

// Tell appends a notice for the human.
func (l *Loop) Tell(ctx context.Context, text string) error {
	return l.Keep(ctx, "record a notice", func(tx *store.Tx) error {
		_, err := l.Agent.Book().Batch(tx).Add(l.own.turn, history.Entry{Kind: history.EntryNotice, Text: text})
		return err
	})
}

// fills estimates the tokens of the next request, and returns the size of the model's window.
func (l *Loop) fills() (used, window int) {
	now := l.Agent.Known()
	used, window = now.Context, now.Window
	if window == 0 {
		return used, 0
	}
	if used == 0 {
		return history.Estimate(l.request()), window
	}
	return used + l.own.talk.Uncounted(l.own.counted), window
}

// compact requests a summary of everything the model has answered so far, and appends it. Anything
// later, a prompt or mail, is still sent unchanged. s is the human's request; nil: it is automatic.
func (l *Loop) compact(ctx context.Context, s *compaction) error {
	hint, trigger := "", hooks.Auto
	if s != nil {
		hint, trigger = s.hint, hooks.Manual
	}
	if err := l.Agent.Known().Compactable(); err != nil {
		return err
	}
	old := history.Answered(l.own.talk.Entries)
	if len(old) == 0 || len(old) == 1 && old[0].Kind == history.EntrySummary {
		return errNothingOld
	}
	if err := l.o.Hooks.Compacts(ctx, l.who(), trigger, hint); err != nil {
		return err
	}
	model, now := l.Agent.Present()
	window, before := now.Window, now.Context
	paid, err := l.Afford(ctx, model)
	if err != nil {
		return err
	}
	l.Agent.Asked("compacting")
	if window == 0 {
		window = history.SomeWindow
	}
	r, err := l.summarise(ctx, model, history.Request(old, model.Name), hint, history.BytesOf(window*6/10))
	if err != nil {
		l.o.Fleet.Emit(event.Void{Agent: l.Agent.ID})
		return err
	}
	e := history.Entry{Kind: history.EntrySummary, Text: r.Text(), Model: model.Name, Summary: &history.Summary{
		Before: before, Auto: s == nil, Prompt: history.Prompted(old, l.own.turn),
	}}
	switch r.Stop.Reason {
	case llm.Length:
		e.Text += "\n\n(The summary was cut here: it reached the model's token limit.)"
	case llm.Incomplete:
		e.Text += "\n\n(The summary may end too early: the server never said that it is complete.)"
	}
	for _, x := range old {
		e.Summary.UpTo = max(e.Summary.UpTo, x.Seq)
	}
	return l.adopt(ctx, model, r, e, paid)
}

// summarise streams the summary of a conversation. If the text is too long for the model, it is cut
// further.
func (l *Loop) summarise(ctx context.Context, model llm.Model, said []llm.Message, hint string, maxBytes int) (*event.Reply, error) {
	for try := 0; ; try++ {
		text := history.Spell(said, maxBytes)
		req := &llm.Request{
			Model: model.ID, System: CompactPrompt(), MaxTokens: model.MaxOut,
			CacheKey: fmt.Sprintf("fantail-%d-summary", l.Agent.ID),
			Messages: []llm.Message{history.Summarise(text, hint)},
		}
		replied, err := l.guardRequest(req)
		if err != nil {
			return nil, err
		}
		r, err := l.stream(ctx, model, model.Provider.Stream(ctx, req), nil)
		replied(r.Usage, r.Len())
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case llm.TooLong(err) && try < shrinks:
			maxBytes = min(maxBytes, len(text)) / 4
			l.o.Fleet.Emit(event.Void{Agent: l.Agent.ID})
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
func (l *Loop) adopt(ctx context.Context, model llm.Model, r *event.Reply, e history.Entry, paid fleet.Charge) error {
	var cost int64
	if model.Price != nil {
		cost = model.Price(r.Usage)
	}
	rest := l.own.talk.Entries[len(history.Answered(l.own.talk.Entries)):]
	kept := history.Estimate(l.requestOf(&history.Talk{Entries: append([]history.Entry{e}, rest...)}))
	e.Summary.After = kept
	if e.Summary.Before > 0 { // scale the estimate by what the model counted
		e.Summary.After = e.Summary.Before * kept / history.Estimate(l.request())
	}
	var seq int64
	err := l.Keep(ctx, "record the summary", func(tx *store.Tx) error {
		cleared, ok, err := tx.LastEntry(l.Agent.ID, string(history.EntryCleared))
		if err != nil {
			return err
		}
		if ok && cleared.Seq > e.Summary.UpTo {
			return errors.New("a new conversation began meanwhile")
		}
		if e.Summary.State, err = tasks.Standing(tx, l.o.Inbox, l.Agent.ID); err != nil {
			return err
		}
		turn, ok, err := tx.LastTurn(l.Agent.ID)
		if err != nil || !ok {
			return errors.Join(err, store.Missing(ok, "a turn of agent %d", l.Agent.ID))
		}
		tx.AfterCommit(func() {
			l.Agent.Set(func(i *event.Info) {
				i.Usage, i.Cost, i.Steps = i.Usage.Add(r.Usage), i.Cost+cost, i.Steps+1
				i.Context, i.Retry = e.Summary.After, nil
			})
		})
		b := l.Agent.Book().LiveBatch(tx)
		if seq, err = b.Add(l.own.turn, e); err != nil {
			return err
		}
		if err := tx.SetSentUpTo(turn.ID, seq); err != nil {
			return err
		}
		if err := l.settle(tx, paid, model, r); err != nil {
			return err
		}
		return tx.AddStep(turn.ID, store.Step{
			Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite,
			Cost: cost, Context: e.Summary.After,
		})
	})
	if err != nil {
		l.o.Fleet.Emit(event.Void{Agent: l.Agent.ID})
		return err
	}
	l.own.tokens += r.Usage.Context()
	l.own.cost += cost
	l.own.counted, l.own.sinceSummary, l.own.cramped = seq, 0, false
	return l.readUpTo(ctx, seq)
}
