package acp

import (
	"context"
	"time"
)

// An agent may work unprompted, for example after a command that ran in the background has ended. The protocol has no
// beginning and no end for that. So it begins with a text, a call or a question outside a turn, and ends once no call is
// open and nothing has arrived for quietTime.
const quietTime = 2 * time.Second

// watchIdle wakes the agent's loop when the agent works unprompted. After a turn that was stopped only a question does so,
// because the end of that turn may arrive late.
func (c *vendorSession) watchIdle() {
	stirring := startsUnprompted
	if c.stopped {
		stirring = isQuestion
	}
	c.events.watch(stirring, c.opts.Stirs)
}

// unwatchIdle ends watchIdle.
func (c *vendorSession) unwatchIdle() {
	if c.unprompted = c.events.unwatch(); c.unprompted {
		c.turn.note("It goes on by itself.")
	}
}

// startsUnprompted reports whether an event begins unprompted work. Late updates of the turn before do not.
func startsUnprompted(e event) bool {
	switch e := e.(type) {
	case ContentChunk:
		return e.Kind != UserMessage && e.Content.String() != ""
	case ToolCallUpdate:
		return e.Title.OK && !ended(e.Status.V)
	}
	return isQuestion(e)
}

func isQuestion(e event) bool {
	_, is := e.(question)
	return is
}

// unpromptedEnd holds the events that end unprompted work. All are nil in a turn that was prompted.
type unpromptedEnd struct {
	stopped <-chan struct{}
	gone    <-chan struct{}
	quiet   <-chan time.Time
	stop    func()
}

func (c *vendorSession) unpromptedEnd(ctx context.Context) unpromptedEnd {
	if !c.unprompted || c.inTurn || c.steering {
		return unpromptedEnd{stop: func() {}}
	}
	a := unpromptedEnd{stopped: ctx.Done(), gone: c.session.Done(), stop: func() {}}
	if c.openQuestions.Load() == 0 && !c.turn.hasOpenCalls() {
		t := time.NewTimer(quietTime)
		a.quiet, a.stop = t.C, func() { t.Stop() }
	}
	return a
}

// hasOpenCalls reports whether a call has not ended.
func (r *turn) hasOpenCalls() bool {
	for _, c := range r.calls {
		if !c.ended() {
			return true
		}
	}
	return false
}
