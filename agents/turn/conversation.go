package turn

import (
	"context"
	"fmt"
	"slices"

	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// conversation is what an agent and its model have said: it is read from the transcript,
// sent with each request, and goes on in the replies. Only the agent's loop uses it.
type conversation struct {
	*fleet.Agent
	o     *Options
	tools *tools.Set // what its model may call

	turn         int64           // the one that runs; 0: none
	history      []history.Entry // what the model is sent, as far as it was read
	ids          map[string]bool // of the calls that were read
	read         int64           // the last entry read into history
	counted      int64           // the last entry that Info.Context counts
	sinceSummary int             // steps since the last summary
	cramped      bool            // the window is full and the human was told
	steps        int             // of this turn
	tokens       int             // of this turn
}

// Turn is the turn that runs; 0: none. Only what the loop calls may ask.
func (c *conversation) Turn() int64 { return c.turn }

// readUpTo reads the entries up to sent into the history that requests are
// made of. What a human's take appended later waits for the next request.
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
			c.counted = e.Seq // by what the turn's row says
		}
	}
	return nil
}

// Hops is what a message has that the agent writes now: one more than the mail that
// entered by itself since the human last had a hand in its turn.
func (c *conversation) Hops() int {
	most := 0
	for _, e := range slices.Backward(c.history) {
		byItself := e.By == "turn" || e.By == "fork"
		if e.Kind == history.EntryEnded || e.Kind == history.EntryPrompt || e.Kind == history.EntryMessage && !byItself {
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

// Entered is the last message from that sender (from anybody, if it is empty) that
// entered in this turn without a call for it: one that came before the agent asked.
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
