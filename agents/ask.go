package agents

import (
	"context"
	"fmt"
	"time"

	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/reply"
	"fantail/store"
)

// ask sends one request, streams its reply to the feeds and records it in one
// transaction. A reply that comes with an error, or cut by its token limit, has
// no calls that may run.
func (a *agent) ask(ctx context.Context) (*reply.Reply, error) {
	a.p.mu.Lock()
	model := a.model
	a.p.mu.Unlock()
	a.set(func(i *Info) { a.asked, i.State, i.Doing = a.p.o.Now(), Running, "streaming" })
	a.counted = a.read
	s := reply.NewScribe(reply.Writing{DB: a.p.o.DB, Turn: a.turn, Model: model.Name, Go: a.p.o.Go, Trouble: func(err error) {
		if err == nil {
			a.set(func(i *Info) { i.Why = "" })
			return
		}
		a.trouble(err)
	}})
	r, failed := a.stream(ctx, model, a.request(), s)
	r.Noted = s.End()
	if failed != nil || ctx.Err() != nil {
		r.Calls = nil // nothing runs from a reply that did not end in order, or that nobody waits for
	}
	r.Claim(a.ids)
	if err := a.record(ctx, model, r); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r, failed
}

// request is what the agent asks next.
func (a *agent) request() *llm.Request { return a.requestOf(a.history) }

// requestOf is a request that carries those entries.
func (a *agent) requestOf(entries []Entry) *llm.Request {
	a.p.mu.Lock()
	model, info := a.model, a.info
	a.p.mu.Unlock()
	req := &llm.Request{
		Model: model.ID, System: a.p.o.System(info), MaxTokens: model.MaxOut,
		Messages: history.Request(entries, model.Name), CacheKey: fmt.Sprintf("fantail-%d", a.id),
		Brief: a.kind.Ends() || !a.p.o.Attended,
	}
	for _, s := range a.tools.Specs() {
		req.Tools = append(req.Tools, llm.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	return req
}

// stream sends a request and streams the reply to the feeds and to s, which writes
// it down; nil: it is a summary, which is nothing until it is whole. With an error
// comes what had arrived.
func (a *agent) stream(ctx context.Context, model Model, req *llm.Request, s *reply.Scribe) (*reply.Reply, error) {
	r := &reply.Reply{}
	var failed error
	for part, err := range reply.Withhold(a.p.o.Keys, model.Provider.Stream(ctx, req)) {
		if err != nil {
			failed = err
			break
		}
		if again, ok := part.(llm.Retrying); ok {
			r = &reply.Reply{}
			s.Void()
			a.p.hub.Emit(Void{Agent: a.id})
			a.set(func(i *Info) {
				i.Retry = &Retry{
					Attempt: again.Attempt, Of: again.Of, Reason: again.Err.Error(),
					At: a.p.o.Now().Add(time.Duration(again.Wait) * time.Millisecond),
				}
			})
			continue
		}
		if a.retrying() {
			a.set(func(i *Info) { i.Retry = nil })
		}
		if d, ok := r.Add(part); ok {
			d.Agent, d.Summary = a.id, s == nil
			s.Hear(d)
			a.show(d)
		}
		if r.Stop != nil {
			break // what a provider might still say is not part of the reply
		}
	}
	if failed == nil && r.Stop == nil && ctx.Err() == nil {
		failed = &llm.Error{Kind: llm.Cut, Provider: model.Name, Message: "The reply ended without its end marker. Try again."}
	}
	if failed == nil {
		failed = r.Check(model.Name)
	}
	return r, failed
}

func (a *agent) retrying() bool {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	return a.info.Retry != nil
}

// record appends a reply: thinking, text and calls, each an entry, and adds what
// the request cost.
func (a *agent) record(ctx context.Context, model Model, r *reply.Reply) error {
	var cost int64
	if model.Price != nil {
		cost = model.Price(r.Usage)
	}
	err := a.keep(ctx, "record the reply", func(tx *store.Tx) error {
		b := a.book().Batch(tx, true)
		for _, e := range r.Entries(model.Name, a.p.o.Tools.Title) {
			if _, err := b.Add(a.turn, e); err != nil {
				return err
			}
		}
		if r.Noted { // what no entry took over
			if err := tx.Unsay(a.turn); err != nil {
				return err
			}
		}
		return tx.AddStep(a.turn, store.Step{
			Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite,
			Cost: cost, Context: r.Usage.Context(),
		})
	})
	if err != nil {
		a.p.hub.Emit(Void{Agent: a.id})
		return err
	}
	a.steps++
	a.sinceSummary++
	a.tokens += r.Usage.Context()
	a.set(func(i *Info) {
		i.Usage, i.Cost, i.Steps, i.Retry = i.Usage.Add(r.Usage), i.Cost+cost, i.Steps+1, nil
		if c := r.Usage.Context(); c > 0 {
			i.Context = c
		}
	})
	return nil
}
