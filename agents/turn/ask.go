package turn

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/store"
)

// send sends one request, streams its reply to the feeds and records it in one transaction. A reply that ended in an
// error, or was cut by its token limit, carries no calls that may run.
func (l *Loop) send(ctx context.Context) (*event.Reply, error) {
	model, _ := l.Agent.Present()
	paid, err := l.Afford(ctx, model)
	if err != nil {
		return nil, err
	}
	l.fixed.tools.Turn(ctx, l.own.turn, model.Window)
	req := l.request()
	replied, err := l.guardRequest(req)
	if err != nil {
		return nil, err
	}
	l.Agent.Asked("streaming")
	r, failed := l.Hear(ctx, model, model.Provider.Stream(ctx, req))
	replied(r.Usage, r.Len())
	if failed != nil || ctx.Err() != nil {
		r.Calls = nil // never run calls of a reply that was cut short or is no longer wanted
	}
	r.Claim(l.own.talk.Calls)
	if err := l.Record(ctx, model, r, paid); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r, failed
}

// Hear streams a reply to the feeds, and saves it as it grows. Along with an error it returns what had arrived.
func (l *Loop) Hear(ctx context.Context, model llm.Model, parts iter.Seq2[llm.Part, error]) (*event.Reply, error) {
	l.own.counted = l.own.talk.Last
	s := event.NewScribe(event.ScribeOptions{
		DB: l.o.DB, Turn: l.own.turn, Model: model.Name, Go: l.o.Go, Trouble: l.Agent.Trouble,
	})
	r, failed := l.stream(ctx, model, parts, s)
	r.Noted = s.End() // until End returns, the scribe owns the text
	return r, failed
}

// Preamble returns the agent's request as it is before anything was said; nil: an engine carries
// out the agent's turns.
func (l *Loop) Preamble() *llm.Request {
	if model, _ := l.Agent.Present(); isEngine(model) {
		return nil
	}
	return l.requestOf(&history.Talk{})
}

// request returns the agent's next request.
func (l *Loop) request() *llm.Request { return l.requestOf(&l.own.talk) }

// requestOf returns the request for a talk.
func (l *Loop) requestOf(talk *history.Talk) *llm.Request {
	model, info := l.Agent.Present()
	req := &llm.Request{
		Model: model.ID, System: l.o.System(info), MaxTokens: model.MaxOut, Sees: model.Sees,
		Messages: talk.Request(model.Name), CacheKey: fmt.Sprintf("fantail-%d", l.Agent.ID),
		Brief: l.Agent.Kind.Ends() || l.fixed.unattended,
	}
	for _, s := range l.fixed.tools.Specs() {
		req.Tools = append(req.Tools, llm.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	return req
}

// stream streams a reply to the feeds and to s, which saves it as it grows (nil for a summary, which is worthless until it
// is complete).
func (l *Loop) stream(
	ctx context.Context, model llm.Model, parts iter.Seq2[llm.Part, error], s *event.ReplySaver,
) (*event.Reply, error) {
	r, err := event.ReadReply(ctx, parts, event.ReplyReader{
		Model: model.Name, Keys: l.o.Keys, Scribe: s, Now: l.o.Now,
		Show: func(d event.Delta) {
			d.Agent, d.Summary = l.Agent.ID, s == nil
			l.Agent.Show(d)
		},
		Void: func() { l.o.Fleet.Emit(event.Void{Agent: l.Agent.ID}) },
		Retry: func(r *event.Retry) {
			if l.Agent.Known().Retry != r {
				l.Agent.Set(func(i *event.Info) { i.Retry = r })
			}
		},
	})
	l.o.Fleet.Emit(event.Over{Agent: l.Agent.ID})
	return r, err
}

// Record appends a reply (thinking, text and calls, one entry each) and adds up what the request cost.
func (l *Loop) Record(ctx context.Context, model llm.Model, r *event.Reply, paid fleet.Charge) error {
	cost := r.Usage.Cost
	if model.Price != nil {
		cost = model.Price(r.Usage)
	}
	err := l.Keep(ctx, "record the reply", func(tx *store.Tx) error {
		b := l.Agent.Book().LiveBatch(tx)
		for _, e := range r.Entries(model.Name, l.fixed.tools.Title) {
			if _, err := b.Add(l.own.turn, e); err != nil {
				return err
			}
		}
		if r.Noted { // drop the saved pieces: the entries hold them now
			if err := tx.Unsay(l.own.turn); err != nil {
				return err
			}
		}
		if err := l.settle(tx, paid, model, r); err != nil {
			return err
		}
		return tx.AddStep(l.own.turn, store.Step{
			Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite,
			Cost: cost, Context: cmp.Or(l.own.filled, r.Usage.Context()),
		})
	})
	if err != nil {
		l.o.Fleet.Emit(event.Void{Agent: l.Agent.ID})
		return err
	}
	l.own.steps++
	l.own.sinceSummary++
	l.own.tokens += r.Usage.Context()
	l.own.cost += cost
	l.Agent.Set(func(i *event.Info) {
		i.Usage, i.Cost, i.Steps, i.Retry = i.Usage.Add(r.Usage), i.Cost+cost, i.Steps+1, nil
		if n := cmp.Or(l.own.filled, r.Usage.Context()); n > 0 {
			i.Context = n
		}
	})
	return nil
}
