package turn

import (
	"context"
	"fmt"
	"time"

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
	req := c.request()
	replied, err := c.sends(req)
	if err != nil {
		return nil, err
	}
	c.Asked("streaming")
	c.counted = c.talk.Last
	s := reply.NewScribe(reply.Writing{
		DB: c.o.DB, Turn: c.turn, Model: model.Name, Go: c.o.Go,
		Trouble: func(err error) {
			if err == nil {
				c.Set(func(i *event.Info) { i.Why = "" })
				return
			}
			c.Trouble(err)
		},
	})
	r, failed := c.stream(ctx, model, req, s)
	r.Noted = s.End() // until then the words are the scribe's
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

// Preamble returns the agent's request as it is before anything was said.
func (c *conversation) Preamble() *llm.Request { return c.requestOf(&history.Talk{}) }

// request returns the agent's next request.
func (c *conversation) request() *llm.Request { return c.requestOf(&c.talk) }

// requestOf returns a request that carries that talk.
func (c *conversation) requestOf(talk *history.Talk) *llm.Request {
	model, info := c.Present()
	req := &llm.Request{
		Model: model.ID, System: c.o.System(info), MaxTokens: model.MaxOut,
		Messages: talk.Request(model.Name), CacheKey: fmt.Sprintf("fantail-%d", c.ID),
		Brief: c.Kind.Ends() || c.unattended,
	}
	for _, s := range c.tools.Specs() {
		req.Tools = append(req.Tools, llm.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	return req
}

// stream sends a request and streams the reply to the feeds and to s, which saves it as it grows (nil for a summary,
// which is worthless until it is complete). Along with an error it returns what had arrived.
func (c *conversation) stream(
	ctx context.Context, model llm.Model, req *llm.Request, s *reply.Scribe,
) (*reply.Reply, error) {
	r := &reply.Reply{}
	var failed error
	for part, err := range reply.Withhold(c.o.Keys, model.Provider.Stream(ctx, req)) {
		if err != nil {
			failed = err
			break
		}
		if again, ok := part.(llm.Retrying); ok {
			r = &reply.Reply{}
			s.Void()
			c.o.Fleet.Emit(event.Void{Agent: c.ID})
			c.Set(func(i *event.Info) {
				i.Retry = &event.Retry{
					Attempt: again.Attempt, Of: again.Of, Reason: again.Err.Error(),
					At: c.o.Now().Add(time.Duration(again.Wait) * time.Millisecond),
				}
			})
			continue
		}
		if c.Known().Retry != nil {
			c.Set(func(i *event.Info) { i.Retry = nil })
		}
		if d, ok := r.Add(part); ok {
			d.Agent, d.Summary = c.ID, s == nil
			s.Hear(d)
			c.Show(d)
		}
		if r.Stop != nil {
			break // anything after the stop is not part of the reply
		}
	}
	c.o.Fleet.Emit(event.Over{Agent: c.ID})
	if failed == nil && r.Stop == nil && ctx.Err() == nil {
		failed = &llm.Error{
			Kind: llm.Cut, Provider: model.Name, Message: "The reply ended without its end marker. Try again.",
		}
	}
	if failed == nil {
		failed = r.Check(model.Name)
	}
	return r, failed
}

// record appends a reply (thinking, text and calls, one entry each) and adds up what the request cost.
func (c *conversation) record(ctx context.Context, model llm.Model, r *reply.Reply, paid budget.Charge) error {
	var cost int64
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
			Cost: cost, Context: r.Usage.Context(),
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
		if c := r.Usage.Context(); c > 0 {
			i.Context = c
		}
	})
	return nil
}
