package vendor

import (
	"context"
	"time"

	"fantail/agents/acp/schema"
)

// An agent may do something that it was not told to, as where a command of its that ran in the background has ended. Version 2 of
// the protocol says when that begins and when it is over. In version 1, and for what one says beside its work, it begins with a
// word, a call or a question while no turn goes on, and is over when nothing goes on any more and nothing has come for a while.
const quiet = 2 * time.Second

// rests has the first thing that the agent says while no turn goes on begin one. Only the end of a turn that was stopped may be
// said late.
func (c *chair) rests() {
	stirring := stirs
	if c.stopped {
		stirring = fresh
	}
	c.news.rest(stirring, c.seat.Stirs)
	if c.goesOn = c.s.Alone() && !c.stopped; c.goesOn { // it began before the end of the turn was heard
		c.seat.Stirs()
	}
}

// wakes has the agent heard.
func (c *chair) wakes() {
	if c.unasked = c.news.wakes() || c.goesOn; c.unasked {
		c.reply.note("It goes on by itself.")
	}
	c.goesOn = false
}

// stirs reports whether something begins what the agent does by itself: not what it may tell of a turn that is over.
func stirs(e event) bool {
	switch e := e.(type) {
	case schema.Chunk:
		return e.Of != schema.Heard && e.Block.Words() != ""
	case schema.ToolCall:
		return e.Title.OK && !ended(e.Status.V)
	}
	return fresh(e)
}

// fresh reports whether something can be of no turn that is over.
func fresh(e event) bool {
	switch e := e.(type) {
	case asked:
		return true
	case schema.Alone:
		return e.Begins
	}
	return false
}

// alone is what ends what the agent does by itself. All are nil of a turn that it was prompted for.
type alone struct {
	stopped <-chan struct{}
	gone    <-chan struct{}
	quiet   <-chan time.Time
	stop    func()
}

func (c *chair) alone(ctx context.Context) alone {
	if !c.unasked || c.prompted || c.steering {
		return alone{stop: func() {}}
	}
	a := alone{stopped: ctx.Done(), gone: c.s.Done(), stop: func() {}}
	if c.asking.Load() == 0 && !c.reply.busy() && !c.s.Alone() {
		t := time.NewTimer(quiet)
		a.quiet, a.stop = t.C, func() { t.Stop() }
	}
	return a
}

// busy reports whether a call has not ended.
func (r *reply) busy() bool {
	for _, c := range r.calls {
		if !c.ended() {
			return true
		}
	}
	return false
}
