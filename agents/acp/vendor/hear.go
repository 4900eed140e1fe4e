package vendor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"fantail/agents/acp/schema"
	"fantail/agents/engine"
	"fantail/agents/llm"
	"fantail/tools"
)

// How long the beginning of a call waits: for its details, and for calls that begin with it; and for those at all, where it
// tells nothing but that it comes, as while a model still writes what it is called with.
const (
	gathers = 100 * time.Millisecond
	comes   = 3 * time.Second
)

var errStopped = errors.New("the agent stopped by itself")

// Next implements [engine.Session].
func (c *chair) Next(ctx context.Context) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		stop, err := c.next(ctx, func(p llm.Part) { yield(p, nil) })
		if err != nil {
			yield(nil, err)
			return
		}
		yield(stop, nil)
	}
}

// next tells the parts of the reply until something ends it, and returns what. It never breaks off a turn of the agent's:
// when ctx ends, that is told to, and soon does.
func (c *chair) next(ctx context.Context, tell func(llm.Part)) (llm.Stop, error) {
	if c.s == nil {
		return llm.Stop{}, errors.New("nothing was said to " + c.v.o.Name)
	}
	r := c.reply
	for {
		switch {
		case len(r.begun) > 0 || c.prompted || c.steering || c.unasked:
		case len(c.held) > 0:
			if ctx.Err() != nil {
				c.held = nil // they are told with what comes next
				return llm.Stop{}, context.Cause(ctx)
			}
			if err := c.prompt(ctx, c.all()); err != nil {
				return llm.Stop{}, err
			}
		case c.finished:
			return c.stops(tell)
		default:
			return llm.Stop{}, fmt.Errorf("%s has nothing to do", c.v.o.Name)
		}
		e, err := c.wait(ctx)
		if err != nil {
			return llm.Stop{}, err
		}
		if r.parts(e) { // a call has begun, and this is not about it
			c.news.back(e)
			e = nil
		}
		if e == nil {
			for _, call := range r.begin() {
				tell(call)
			}
			return llm.Stop{Reason: llm.ToolUse}, nil
		}
		if err := c.take(ctx, e, tell); err != nil {
			return llm.Stop{}, err
		}
		if len(r.begun) == 0 && len(r.done)+len(r.notes) > 0 && (c.prompted || c.unasked) { // before anything that comes later
			return llm.Stop{Reason: llm.ToolUse}, nil
		}
	}
}

// all are the words that wait for the turn's end, as one.
func (c *chair) all() (w engine.Words) {
	var texts []string
	for _, h := range c.held {
		texts = append(texts, h.Text)
		w.UpTo, w.Again = max(w.UpTo, h.UpTo), w.Again || h.Again
	}
	w.Text, c.held = strings.Join(texts, "\n\n"), nil
	return w
}

// wait returns the next thing that the agent says; nil: what has begun has waited for its details long enough.
func (c *chair) wait(ctx context.Context) (event, error) {
	var late <-chan time.Time
	if len(c.reply.begun) > 0 {
		if !c.prompted && !c.unasked { // there are no more
			return nil, nil
		}
		within := gathers
		if slices.ContainsFunc(c.reply.begun, (*call).bare) {
			within = comes
		}
		t := time.NewTimer(within)
		defer t.Stop()
		late = t.C
	}
	alone := c.alone(ctx)
	defer alone.stop()
	for {
		if e, ok := c.news.take(); ok {
			return e, nil
		}
		select {
		case <-c.news.came:
		case <-late:
			return nil, nil
		case <-c.news.over:
			return nil, errStopped
		case <-alone.stopped:
			c.s.Cancel()
			return over{r: schema.PromptResponse{Stop: "cancelled"}}, nil
		case <-alone.quiet:
			return over{r: schema.PromptResponse{Stop: "end_turn"}}, nil
		case <-alone.gone:
			return over{err: c.s.Lost()}, nil
		}
	}
}

// take hears one thing.
func (c *chair) take(ctx context.Context, e event, tell func(llm.Part)) error {
	r := c.reply
	switch e := e.(type) {
	case over:
		c.prompted, c.unasked, c.finished, c.stopped = false, false, true, ctx.Err() != nil
		r.ends(ctx)
		if e.err != nil {
			c.drop()
			return c.said(e.err)
		}
		r.stop = e.r
		if c.steering { // whether that was taken is told next
			return nil
		}
		return c.arrived(ctx)
	case steered:
		c.steering = false
		if e.taken {
			return c.arrived(ctx)
		}
		e.w.Again = e.w.Again || e.err != nil
		c.held = append([]engine.Words{e.w}, c.held...)
		if e.err != nil { // it may have them, and that stays known
			return nil
		}
		s := c.state
		s.Sending = 0
		return c.save(ctx, s)
	case asked:
		c.asks(ctx, e)
		return nil
	case schema.Alone:
		if c.unasked && !e.Begins {
			return c.take(ctx, over{r: e.End}, tell)
		}
		return nil
	case schema.Usage:
		if e.Used.OK {
			c.seat.Filled(count(e.Used.V), count(e.Size.V))
		}
		if e.Cost.OK && e.Cost.V.Currency == "USD" {
			c.spent.now(e.Cost.V.Amount)
		}
		return nil
	case schema.Update:
		if r.hear(e, tell, c.seat.Output) && !c.steering && c.s.Arrived() {
			return c.arrived(ctx)
		}
	}
	return nil
}

// stops returns how the agent's turn has ended.
func (c *chair) stops(tell func(llm.Part)) (llm.Stop, error) {
	r := c.reply.stop
	u := r.Usage.V
	tell(llm.Usage{
		Input: count(u.Input.V), Output: count(u.Output.V), CacheRead: count(u.Read.V), CacheWrite: count(u.Write.V),
		Reasoning: count(u.Thought.V), Cost: c.spent.take(),
	})
	broken, why := c.reply.broken, strings.TrimSpace(c.reply.failed)
	c.finished = false
	c.reply.over()
	switch r.Stop {
	case "end_turn":
		if broken {
			return llm.Stop{}, fmt.Errorf("%s failed: %s", c.v.o.Name, cmp.Or(llm.Clip(tools.Line(why), 500), "it does not say why"))
		}
		return llm.Stop{Reason: llm.EndTurn}, nil
	case "max_tokens":
		return llm.Stop{Reason: llm.Length}, nil
	case "refusal":
		return llm.Stop{Reason: llm.Refusal}, nil
	case "max_turn_requests":
		return llm.Stop{}, fmt.Errorf("%s stopped: it has made as many requests as it makes in a turn", c.v.o.Name)
	case "error":
		return llm.Stop{}, fmt.Errorf("%s failed: %s", c.v.o.Name, cmp.Or(llm.Clip(tools.Line(r.Why), 500), "it does not say why"))
	case "cancelled":
		if c.refused.Load() {
			return llm.Stop{}, fmt.Errorf("%s stopped: %w", c.v.o.Name, engine.ErrRefused)
		}
		return llm.Stop{}, fmt.Errorf("%s stopped its turn by itself", c.v.o.Name)
	}
	return llm.Stop{}, fmt.Errorf("%s stopped for a reason that is not known here: %q", c.v.o.Name, llm.Clip(r.Stop, 80))
}

// Ended implements [engine.Session].
func (c *chair) Ended() (done []engine.Done, notes []string) {
	r := c.reply
	done, notes = r.done, r.notes
	r.done, r.notes = nil, nil
	return done, notes
}

// count is a number of tokens as an agent tells it, within what can be.
func count[N int | float64](n N) int { return int(min(max(n, 0), 1<<40)) }

// spent is what the session costs, as the agent tells it: all so far.
type spent struct {
	known bool // the cost before what is counted here
	cost  float64
	due   float64 // not counted yet
}

func (s *spent) now(cost float64) {
	const most = 1e6 // dollars at once
	if s.known && cost > s.cost {
		s.due = min(s.due+cost-s.cost, most)
	}
	s.cost, s.known = cost, true
}

// take returns what was not counted yet, in millionths of a dollar.
func (s *spent) take() int64 {
	due := int64(s.due * 1e6)
	s.due = 0
	return due
}
