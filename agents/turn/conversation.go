package turn

import (
	"context"
	"fmt"
	"runtime/debug"

	"fantail/agents/budget"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/hooks"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// conversation is what an agent and its model have said. It is read from the transcript, sent with each request, and
// continued by the replies. Only the agent's loop uses it.
type conversation struct {
	*fleet.Agent
	o     *Options
	tools *tools.Set // the tools its model may call

	unattended bool         // nobody is there to be asked
	guard      Guard        // bounds what it does; nil: nothing does
	last       *budget.Last // why it calls no more tools; nil: it may

	turn         int64        // the current turn; 0: none
	talk         history.Talk // what the model is sent, as far as it was read
	counted      int64        // the last entry that Info.Context counts
	sinceSummary int          // steps since the last summary
	cramped      bool         // the window is full, and the human was told
	filled       int          // tokens of its window that an engine says it fills; 0: not known
	steps        int          // of this turn
	tokens       int          // of this turn
}

// Turn returns the current turn; 0: none. Only code that the loop calls may use it.
func (c *conversation) Turn() int64 { return c.turn }

// hooked is the agent in its turn, as hooks are told of it.
func (c *conversation) hooked() hooks.Who { return hooks.Who{Info: c.Known(), Turn: c.turn} }

// readUpTo reads the entries up to sent into the talk that requests are made of. Anything a human's take appends later
// waits for the next request.
func (c *conversation) readUpTo(ctx context.Context, sent int64) error {
	if sent <= c.talk.Last {
		return nil
	}
	err := c.o.DB.Read(context.WithoutCancel(ctx), func(rx *store.Rx) error { return c.talk.Read(rx, c.ID, sent) })
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	if c.counted == 0 {
		c.counted = c.talk.Counted()
	}
	return nil
}

// long is how many bytes of a conversation an agent at rest keeps in memory at most.
const long = 4 << 20

// rests drops what only requests need and, of a long conversation, all the rest, which the next turn reads from the
// transcript again. The memory of a long one goes back to the system at once: an agent at rest makes no garbage, so it
// might be long before the collector looks.
func (c *conversation) rests() {
	c.talk.Forget()
	if c.talk.Size() > long {
		c.forget()
		c.o.Go("give memory back", debug.FreeOSMemory)
	}
}

// forget drops the conversation, which the next turn reads from the transcript again.
func (c *conversation) forget() { c.talk = history.Talk{} }

// Hops is [history.Talk.Hops].
func (c *conversation) Hops() int { return c.talk.Hops() }

// Entered is [history.Talk.Entered].
func (c *conversation) Entered(from string) inbox.Message { return c.talk.Entered(from) }
