package vendor

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/engine"
)

// again stands before what an agent may have got already.
const again = "(What follows may have reached you already: whether it did could not be found out. If you have it, go on with what you do.)"

// marks is what the marks begin with that name, in the text of what is sent, up to which entry it is. The replay of a session
// shows them: it has arrived, and was kept.
func (c *chair) marks() string { return fmt.Sprintf("[fantail-%d-", c.seat.Agent) }

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

// arrived notes that the agent has what was on its way to it, and keeps it once its turn has ended.
func (c *chair) arrived(ctx context.Context) error {
	s := c.state
	if s.Sending != 0 {
		s.Sent, s.Sending = s.Sending, 0
	}
	if !c.prompted {
		s.Settled = s.Sent
	}
	return c.save(ctx, s)
}

// Had implements [engine.Session].
func (c *chair) Had(ctx context.Context, upTo int64) error {
	if c.state.Sending != 0 || upTo <= c.state.Sent {
		return nil
	}
	s := c.state
	s.Sent = upTo
	if !c.prompted && !c.unasked {
		s.Settled = upTo
	}
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

// signed is a text with the mark of what it is sent as. A mark that somebody has written into it is none.
func (c *chair) signed(w engine.Words) string {
	text := strings.ReplaceAll(w.Text, c.marks(), "["+strings.TrimPrefix(c.marks(), "[fantail-"))
	text = fmt.Sprintf("%s\n\n%s%d]", text, c.marks(), w.UpTo)
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
	c.prompted, c.unasked = true, false
	c.refused.Store(false)
	s, n := c.s, c.news
	c.seat.Go("acp prompt", func() {
		r, err := s.Prompt(ctx, c.signed(w))
		n.put(over{r, err})
	})
	return nil
}

// Steers implements [engine.Session]. Nothing is put into a turn while it is not known that it has what it was sent before,
// and what the agent does by itself has no turn of ours.
func (c *chair) Steers() bool {
	return c.s != nil && c.s.Steers() && c.state.Sending == 0 && !c.steering && !c.unasked && len(c.held) == 0
}
