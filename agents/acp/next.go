package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"fantail/agents/engine"
	"fantail/agents/llm"
	"fantail/tools"
)

// How long the beginning of a call waits: for its details, and for calls that begin with it; and for those at all, where it
// tells nothing but that it comes, as while a model still writes what it is called with.
const (
	detailsWait  = 100 * time.Millisecond
	bareCallWait = 3 * time.Second
)

var errStopped = errors.New("the agent stopped by itself")

// Next implements [engine.Session].
func (c *vendorSession) Next(ctx context.Context) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		stop, err := c.next(ctx, func(p llm.Part) { yield(p, nil) })
		if err != nil {
			yield(nil, err)
			return
		}
		yield(stop, nil)
	}
}

// next passes on the parts of the reply until something ends it, and returns its stop. It never leaves a turn of the agent:
// when ctx ends the agent is told to cancel, and ends its turn soon.
func (c *vendorSession) next(ctx context.Context, tell func(llm.Part)) (llm.Stop, error) {
	if c.session == nil {
		return llm.Stop{}, errors.New("nothing was said to " + c.vendor.o.Name)
	}
	r := c.turn
	for {
		switch {
		case len(r.newCalls) > 0 || c.inTurn || c.steering || c.unprompted:
		case len(c.pending) > 0:
			if ctx.Err() != nil {
				c.pending = nil // they are told with what comes next
				return llm.Stop{}, context.Cause(ctx)
			}
			if err := c.prompt(ctx, c.takePending()); err != nil {
				return llm.Stop{}, err
			}
		case c.turnOver:
			return c.turnResult(tell)
		default:
			return llm.Stop{}, fmt.Errorf("%s has nothing to do", c.vendor.o.Name)
		}
		e, err := c.nextEvent(ctx)
		if err != nil {
			return llm.Stop{}, err
		}
		if r.completesNewCalls(e) { // a call has begun, and this is not about it
			c.events.putBack(e)
			e = nil
		}
		if e == nil {
			for _, call := range r.startCalls() {
				tell(call)
			}
			return llm.Stop{Reason: llm.ToolUse}, nil
		}
		if err := c.handle(ctx, e, tell); err != nil {
			return llm.Stop{}, err
		}
		if len(r.newCalls) == 0 && len(r.done)+len(r.notes) > 0 && (c.inTurn || c.unprompted) { // before anything that comes later
			return llm.Stop{Reason: llm.ToolUse}, nil
		}
	}
}

// takePending returns the inputs that wait for the end of the turn as one, and removes them.
func (c *vendorSession) takePending() (w engine.Input) {
	var texts []string
	for _, h := range c.pending {
		texts = append(texts, h.Text)
		w.UpTo, w.Again = max(w.UpTo, h.UpTo), w.Again || h.Again
	}
	w.Text, c.pending = strings.Join(texts, "\n\n"), nil
	return w
}

// nextEvent returns the next event, or nil if the new calls have waited long enough for their details.
func (c *vendorSession) nextEvent(ctx context.Context) (event, error) {
	var late <-chan time.Time
	if len(c.turn.newCalls) > 0 {
		if !c.inTurn && !c.unprompted { // there are no more
			return nil, nil
		}
		within := detailsWait
		if slices.ContainsFunc(c.turn.newCalls, (*vendorCall).lacksDetails) {
			within = bareCallWait
		}
		t := time.NewTimer(within)
		defer t.Stop()
		late = t.C
	}
	alone := c.unpromptedEnd(ctx)
	defer alone.stop()
	for {
		if e, ok := c.events.next(); ok {
			return e, nil
		}
		select {
		case <-c.events.ready:
		case <-late:
			return nil, nil
		case <-c.events.done:
			return nil, errStopped
		case <-alone.stopped:
			c.session.Cancel()
			return turnEnded{response: PromptResponse{StopReason: "cancelled"}}, nil
		case <-alone.quiet:
			return turnEnded{response: PromptResponse{StopReason: "end_turn"}}, nil
		case <-alone.gone:
			return turnEnded{err: c.session.Err()}, nil
		}
	}
}

// handle applies an event.
func (c *vendorSession) handle(ctx context.Context, e event, tell func(llm.Part)) error {
	r := c.turn
	switch e := e.(type) {
	case turnEnded:
		c.inTurn, c.unprompted, c.turnOver, c.stopped = false, false, true, ctx.Err() != nil
		r.endCalls(ctx)
		if e.err != nil {
			c.dropSession()
			return c.userError(e.err)
		}
		r.response = e.response
		if c.steering { // whether that was taken is told next
			return nil
		}
		return c.noteDelivered(ctx)
	case steerResult:
		c.steering = false
		if e.taken {
			return c.noteDelivered(ctx)
		}
		e.input.Again = e.input.Again || e.err != nil
		c.pending = append([]engine.Input{e.input}, c.pending...)
		if e.err != nil { // it may have them, and that stays known
			return nil
		}
		s := c.state
		s.Sending = 0
		return c.saveState(ctx, s)
	case question:
		c.askUser(ctx, e)
		return nil
	case UsageUpdate:
		if e.Used.OK {
			c.opts.Filled(count(e.Used.V), count(e.Size.V))
		}
		if e.Cost.OK && e.Cost.V.Currency == "USD" {
			c.cost.set(e.Cost.V.Amount)
		}
		return nil
	case SessionUpdate:
		if r.apply(e, tell, c.opts.Output) && !c.steering {
			return c.noteDelivered(ctx)
		}
	}
	return nil
}

// turnResult returns how the agent's turn ended.
func (c *vendorSession) turnResult(tell func(llm.Part)) (llm.Stop, error) {
	r := c.turn.response
	u := r.Usage.V
	tell(llm.Usage{
		Input: count(u.InputTokens.V), Output: count(u.OutputTokens.V), CacheRead: count(u.CachedReadTokens.V), CacheWrite: count(u.CachedWriteTokens.V),
		Reasoning: count(u.ThoughtTokens.V), Cost: c.cost.takeUnreported(),
	})
	broken, why := c.turn.failed, strings.TrimSpace(c.turn.failureText)
	c.turnOver = false
	c.turn.reset()
	switch r.StopReason {
	case "max_tokens":
		return llm.Stop{Reason: llm.Length}, nil
	case "refusal":
		return llm.Stop{Reason: llm.Refusal}, nil
	case "max_turn_requests":
		return llm.Stop{}, fmt.Errorf("%s stopped: it has made as many requests as it makes in a turn", c.vendor.o.Name)
	case "cancelled":
		if c.userRefused.Load() {
			return llm.Stop{}, fmt.Errorf("%s stopped: %w", c.vendor.o.Name, engine.ErrRefused)
		}
		return llm.Stop{}, fmt.Errorf("%s stopped its turn by itself", c.vendor.o.Name)
	default: // end_turn, missing, or unknown: the turn ended
		if broken {
			return llm.Stop{}, fmt.Errorf("%s failed: %s", c.vendor.o.Name, cmp.Or(llm.Clip(tools.Line(why), 500), "it does not say why"))
		}
		return llm.Stop{Reason: llm.EndTurn}, nil
	}
}

// Ended implements [engine.Session].
func (c *vendorSession) Ended() (done []engine.Done, notes []string) {
	r := c.turn
	done, notes = r.done, r.notes
	r.done, r.notes = nil, nil
	return done, notes
}

// count limits a number of tokens to the possible range.
func count[N int | float64](n N) int { return int(min(max(n, 0), 1<<40)) }

// costMeter counts the cost of the session. The agent tells the total so far.
type costMeter struct {
	baseKnown  bool // the cost before this meter began is known
	total      float64
	unreported float64 // not counted yet
}

func (s *costMeter) set(cost float64) {
	const most = 1e6 // dollars at once
	if s.baseKnown && cost > s.total {
		s.unreported = min(s.unreported+cost-s.total, most)
	}
	s.total, s.baseKnown = cost, true
}

// takeUnreported returns the cost since its last call, in millionths of a dollar.
func (s *costMeter) takeUnreported() int64 {
	due := int64(s.unreported * 1e6)
	s.unreported = 0
	return due
}
