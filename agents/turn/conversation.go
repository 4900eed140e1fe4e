package turn

import (
	"context"
	"fmt"
	"slices"

	"fantail/agents/budget"
	"fantail/agents/fleet"
	"fantail/agents/history"
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

	turn         int64           // the current turn; 0: none
	history      []history.Entry // what the model is sent, as far as it was read
	ids          map[string]bool // of the calls read so far
	read         int64           // the last entry read into history
	counted      int64           // the last entry that Info.Context counts
	sinceSummary int             // steps since the last summary
	cramped      bool            // the window is full, and the human was told
	steps        int             // of this turn
	tokens       int             // of this turn
}

// Turn returns the current turn; 0: none. Only code that the loop calls may use it.
func (c *conversation) Turn() int64 { return c.turn }

// readUpTo reads the entries up to sent into the history that requests are made of. Anything a human's take appends
// later waits for the next request.
func (c *conversation) readUpTo(ctx context.Context, sent int64) error {
	if sent <= c.read {
		return nil
	}
	var rows []store.Entry
	first := c.read == 0
	err := c.o.DB.Read(context.WithoutCancel(ctx), func(rx *store.Rx) error {
		var err error
		if first {
			if c.read, err = history.SentFrom(rx, c.ID); err != nil {
				return err
			}
		}
		rows, err = rx.EntriesAfter(c.ID, c.read, 0)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	for _, e := range history.DecodeAll(rows) {
		if e.Seq > sent {
			break
		}
		c.read = e.Seq
		if e.Kind == history.EntryCall && e.Call != nil {
			c.ids[e.Call.ID] = true
		}
		c.history = e.Extend(c.history)
		if first && (e.Kind == history.EntryEnded || e.Kind == history.EntrySummary) {
			c.counted = e.Seq // the turn's row has counted up to here
		}
	}
	return nil
}

// Hops returns the hop count of a message the agent writes now: one more than that of the mail that has entered on its
// own since the human last had a hand in its turn.
func (c *conversation) Hops() int {
	most := 0
	for _, e := range slices.Backward(c.history) {
		byItself := e.By == "turn" || e.By == "fork"
		if e.Kind == history.EntryEnded || e.Kind == history.EntryPrompt ||
			e.Kind == history.EntryMessage && !byItself {
			break
		}
		for _, m := range e.Messages {
			if e.Kind == history.EntryMessage {
				most = max(most, m.Hops)
			}
		}
	}
	return most + 1
}

// Entered returns the last message from that sender (from anyone, if empty) that entered in this turn on its own,
// before the agent asked for it.
func (c *conversation) Entered(from string) inbox.Message {
	for _, e := range slices.Backward(c.history) {
		if e.Kind == history.EntryEnded {
			break
		}
		for _, m := range slices.Backward(e.Messages) {
			if e.Kind == history.EntryMessage && (from == "" || m.From == from) {
				return m
			}
		}
	}
	return inbox.Message{}
}
