package vendor

import (
	"context"
	"fmt"

	"fantail/agents/engine"
)

// again stands before what an agent may have got already.
const again = "(What follows may have reached you already: whether it did could not be found out. If you have it, go on with what you do.)"

// mark names what was sent up to that entry, in the text of it. The replay of a session shows whether it has arrived.
func (c *chair) mark(upTo int64) string { return fmt.Sprintf("fantail-%d-%d", c.seat.Agent, upTo) }

// save keeps what the agent was sent, before anything is done that depends on it.
func (c *chair) save(ctx context.Context, s engine.State) error {
	if s == c.state {
		return nil
	}
	if err := c.seat.Save(context.WithoutCancel(ctx), s); err != nil {
		return fmt.Errorf("write down what %s is sent: %w", c.v.o.Name, err)
	}
	c.state = s
	return nil
}

// sending notes what is on its way to the agent.
func (c *chair) sending(ctx context.Context, upTo int64) error {
	s := c.state
	s.Sending = upTo
	return c.save(ctx, s)
}

// arrived notes that the agent has what was on its way to it.
func (c *chair) arrived(ctx context.Context) error {
	s := c.state
	if s.Sending == 0 {
		return nil
	}
	s.Sent, s.Sending = s.Sending, 0
	return c.save(ctx, s)
}

// Had implements [engine.Session].
func (c *chair) Had(ctx context.Context, upTo int64) error {
	if c.state.Sending != 0 || upTo <= c.state.Sent {
		return nil
	}
	s := c.state
	s.Sent = upTo
	return c.save(ctx, s)
}

// Say implements [engine.Session].
func (c *chair) Say(ctx context.Context, w engine.Words) error {
	switch {
	case !c.prompted:
		return c.prompt(ctx, w)
	case !c.Steers():
		c.held = append(c.held, w)
		return nil
	}
	if err := c.sending(ctx, w.UpTo); err != nil {
		return err
	}
	c.steering = true
	s, n := c.s, c.news
	c.seat.Go("acp steer", func() {
		taken, err := s.Steer(ctx, c.signed(w))
		n.put(steered{w, taken, err})
	})
	return nil
}

// signed is a text with the mark of what it is sent as.
func (c *chair) signed(w engine.Words) string {
	text := w.Text + "\n\n[" + c.mark(w.UpTo) + "]"
	if w.Again {
		return again + "\n\n" + text
	}
	return text
}

// prompt begins a turn of the agent's.
func (c *chair) prompt(ctx context.Context, w engine.Words) error {
	if err := c.sending(ctx, w.UpTo); err != nil {
		return err
	}
	c.prompted = true
	c.refused.Store(false)
	s, n := c.s, c.news
	c.seat.Go("acp prompt", func() {
		r, err := s.Prompt(ctx, c.signed(w))
		n.put(over{r, err})
	})
	return nil
}

// Steers implements [engine.Session].
func (c *chair) Steers() bool { return c.s != nil && c.s.Steers() && !c.steering && len(c.held) == 0 }
