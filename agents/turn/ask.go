package turn

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"fantail/agents/budget"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/reply"
	"fantail/store"
)

// ask sends one request, streams its reply to the feeds and records it in one transaction. A reply that ended in an
// error, or was cut by its token limit, carries no calls that may run.
func (c *conversation) ask(ctx context.Context) (*reply.Reply, error) {
	model, _ := c.Present()
	paid, err := c.afford(ctx, model)
	if err != nil {
		return nil, err
	}
	c.tools.Turn(ctx, c.turn, model.Window)
	req := c.request()
	replied, err := c.sends(req)
	if err != nil {
		return nil, err
	}
	c.Asked("streaming")
	r, failed := c.hear(ctx, model, model.Provider.Stream(ctx, req))
	replied(r.Usage, r.Len())
	if failed != nil || ctx.Err() != nil {
		r.Calls = nil // never run calls of a reply that broke off or that nobody waits for
	}
	r.Claim(c.talk.Calls)
	if err := c.record(ctx, model, r, paid); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r, failed
}

// hear streams a reply to the feeds, and saves it as it grows. Along with an error it returns what had arrived.
func (c *conversation) hear(ctx context.Context, model llm.Model, parts iter.Seq2[llm.Part, error]) (*reply.Reply, error) {
	c.counted = c.talk.Last
	s := reply.NewScribe(reply.Writing{
		DB: c.o.DB, Turn: c.turn, Model: model.Name, Go: c.o.Go, Trouble: c.Trouble,
	})
	r, failed := c.stream(ctx, model, parts, s)
	r.Noted = s.End() // until then the words are the scribe's
	return r, failed
}

// Preamble returns the agent's request as it is before anything was said; nil: it makes none, an engine carries out its
// turns.
func (c *conversation) Preamble() *llm.Request {
	if model, _ := c.Present(); isEngine(model) {
		return nil
	}
	return c.requestOf(&history.Talk{})
}

// request returns the agent's next request.
func (c *conversation) request() *llm.Request { return c.requestOf(&c.talk) }

// requestOf returns a request that carries that talk.
func (c *conversation) requestOf(talk *history.Talk) *llm.Request {
	model, info := c.Present()
	req := &llm.Request{
		Model: model.ID, System: c.o.System(info), MaxTokens: model.MaxOut, Sees: model.Sees,
		Messages: talk.Request(model.Name), CacheKey: fmt.Sprintf("fantail-%d", c.ID),
		Brief: c.Kind.Ends() || c.unattended,
	}
	for _, s := range c.tools.Specs() {
		req.Tools = append(req.Tools, llm.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	return req
}

// stream streams a reply to the feeds and to s, which saves it as it grows (nil for a summary, which is worthless until it
// is complete).
func (c *conversation) stream(
	ctx context.Context, model llm.Model, parts iter.Seq2[llm.Part, error], s *reply.Scribe,
) (*reply.Reply, error) {
	r, err := reply.Read(ctx, parts, reply.Reading{
		Model: model.Name, Keys: c.o.Keys, Scribe: s, Now: c.o.Now,
		Show: func(d event.Delta) {
			d.Agent, d.Summary = c.ID, s == nil
			c.Show(d)
		},
		Void: func() { c.o.Fleet.Emit(event.Void{Agent: c.ID}) },
		Retry: func(r *event.Retry) {
			if c.Known().Retry != r {
				c.Set(func(i *event.Info) { i.Retry = r })
			}
		},
	})
	c.o.Fleet.Emit(event.Over{Agent: c.ID})
	return r, err
}

// record appends a reply (thinking, text and calls, one entry each) and adds up what the request cost.
func (c *conversation) record(ctx context.Context, model llm.Model, r *reply.Reply, paid budget.Charge) error {
	cost := r.Usage.Cost
	if model.Price != nil {
		cost = model.Price(r.Usage)
	}
	err := c.Keep(ctx, "record the reply", func(tx *store.Tx) error {
		b := c.Book().LiveBatch(tx)
		for _, e := range r.Entries(model.Name, c.tools.Title) {
			if _, err := b.Add(c.turn, e); err != nil {
				return err
			}
		}
		if r.Noted { // drop the saved pieces: the entries hold them now
			if err := tx.Unsay(c.turn); err != nil {
				return err
			}
		}
		if err := c.settle(tx, paid, model, r); err != nil {
			return err
		}
		return tx.AddStep(c.turn, store.Step{
			Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite,
			Cost: cost, Context: cmp.Or(c.filled, r.Usage.Context()),
		})
	})
	if err != nil {
		c.o.Fleet.Emit(event.Void{Agent: c.ID})
		return err
	}
	c.steps++
	c.sinceSummary++
	c.tokens += r.Usage.Context()
	c.Set(func(i *event.Info) {
		i.Usage, i.Cost, i.Steps, i.Retry = i.Usage.Add(r.Usage), i.Cost+cost, i.Steps+1, nil
		if n := cmp.Or(c.filled, r.Usage.Context()); n > 0 {
			i.Context = n
		}
	})
	return nil
}
