package mail

import (
	"context"
	"errors"
	"fmt"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// Undo puts the batch of messages that was taken last back into the agent's inbox, in their old places, and returns
// how many they are. It puts back only what a human took, and only until a request has carried it: what a model has
// read can't be unread.
func (ls *Letters) Undo(ctx context.Context, agent int64) (n int, err error) {
	if _, err := ls.fleet.Agent(agent); err != nil {
		return 0, err
	}
	err = ls.db.Write(ctx, "undo", func(tx *store.Tx) error {
		ms, err := ls.inbox.LastTaken(tx, agent)
		if err != nil {
			return err
		}
		if len(ms) == 0 {
			return errors.New("no messages were taken yet")
		}
		if err := mayUndo(tx, agent, ms[0]); err != nil {
			return err
		}
		b := ls.fleet.Book(agent).Batch(tx)
		if n, err = ls.inbox.PutBack(tx, agent, ms[0].Entry); err != nil {
			return err
		}
		_, err = b.Add(0, history.Entry{Kind: history.EntryWithdrawn, Withdraws: ms[0].Entry, Text: wentBack(n)})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("undo: %w", err)
	}
	return n, nil
}

// mayUndo says why the batch that m belongs to can't go back.
func mayUndo(tx *store.Tx, agent int64, m inbox.Message) error {
	switch m.TakenBy {
	case ByShow:
		return nil
	case "check", "receive":
	case "turn", "next", "fire":
		return fmt.Errorf("the last messages (#%d …) entered a turn, and its request carried them", m.ID)
	case ByTool:
		return fmt.Errorf("the last messages (#%d …) were taken by a tool call, whose result they are", m.ID)
	default:
		return fmt.Errorf("the last messages (#%d …) were %s and read there", m.ID, m.Fate())
	}
	last, ok, err := tx.LastTurn(agent)
	if err == nil && ok && last.SentUpTo >= m.Entry {
		return fmt.Errorf("a request has carried the last messages (#%d …): the model has read them", m.ID)
	}
	return err
}

func wentBack(n int) string {
	if n == 1 {
		return "1 message went back into the inbox."
	}
	return fmt.Sprintf("%d messages went back into the inbox.", n)
}
