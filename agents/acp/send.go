package acp

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/engine"
)

// resentNote precedes text that the agent may have received already.
const resentNote = "(What follows may have reached you already: whether it did could not be found out. If you have it, go on with what you do.)"

// markPrefix returns the beginning of this agent's marks. A mark in the text of a prompt names the last entry of the prompt.
// If the replay of a session holds the mark, the prompt was delivered and kept.
func (c *vendorSession) markPrefix() string { return fmt.Sprintf("[fantail-%d-", c.opts.Agent) }

// saveState saves what the agent was sent, before anything that depends on it.
func (c *vendorSession) saveState(ctx context.Context, s engine.State) error {
	if s == c.state {
		return nil
	}
	if err := c.opts.Save(context.WithoutCancel(ctx), s); err != nil {
		return fmt.Errorf("write down what %s is sent: %w", c.vendor.o.Name, err)
	}
	c.state = s
	return nil
}

// noteSending saves that the entries up to upTo are being sent.
func (c *vendorSession) noteSending(ctx context.Context, upTo int64) error {
	s := c.state
	s.Sending = upTo
	return c.saveState(ctx, s)
}

// noteDelivered saves that the agent has what was being sent, and that it is settled once the turn has ended.
func (c *vendorSession) noteDelivered(ctx context.Context) error {
	s := c.state
	if s.Sending != 0 {
		s.Sent, s.Sending = s.Sending, 0
	}
	if !c.inTurn {
		s.Settled = s.Sent
	}
	return c.saveState(ctx, s)
}

// Had implements [engine.Session].
func (c *vendorSession) Had(ctx context.Context, upTo int64) error {
	if c.state.Sending != 0 || upTo <= c.state.Sent {
		return nil
	}
	s := c.state
	s.Sent = upTo
	if !c.inTurn && !c.unprompted {
		s.Settled = upTo
	}
	return c.saveState(ctx, s)
}

// Say implements [engine.Session].
func (c *vendorSession) Say(ctx context.Context, w engine.Input) error {
	switch {
	case !c.inTurn:
		return c.prompt(ctx, w)
	case !c.Steers():
		c.pending = append(c.pending, w)
		return nil
	}
	if err := c.noteSending(ctx, w.UpTo); err != nil {
		return err
	}
	c.steering = true
	s, n := c.session, c.events
	c.opts.Go("acp steer", func() {
		taken, err := s.Steer(ctx, c.marked(w))
		n.add(steerResult{w, taken, err})
	})
	return nil
}

// marked returns the text of an input with its mark. Marks that the text holds are removed.
func (c *vendorSession) marked(w engine.Input) string {
	text := strings.ReplaceAll(w.Text, c.markPrefix(), "["+strings.TrimPrefix(c.markPrefix(), "[fantail-"))
	text = fmt.Sprintf("%s\n\n%s%d]", text, c.markPrefix(), w.UpTo)
	if w.Again {
		return resentNote + "\n\n" + text
	}
	return text
}

// prompt begins a turn of the agent.
func (c *vendorSession) prompt(ctx context.Context, w engine.Input) error {
	if err := c.noteSending(ctx, w.UpTo); err != nil {
		return err
	}
	c.inTurn, c.unprompted = true, false
	c.userRefused.Store(false)
	s, n := c.session, c.events
	c.opts.Go("acp prompt", func() {
		r, err := s.Prompt(ctx, c.marked(w))
		n.add(turnEnded{r, err})
	})
	return nil
}

// Steers implements [engine.Session]. Text is not added to a turn while earlier text may not have been delivered, or while
// the agent works unprompted.
func (c *vendorSession) Steers() bool {
	return c.session != nil && c.session.Steers() && c.state.Sending == 0 && !c.steering && !c.unprompted && len(c.pending) == 0
}
