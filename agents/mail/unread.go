package mail

import (
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
)

// maxNamed is how many messages one notice names.
const maxNamed = 20

// Unread tells the senders of an ending agent's unread messages that they were not read, in the transaction that ends
// it. The messages stay where they are, readable.
func (ls *Letters) Unread(tx *store.Tx, id, heirID int64, state event.State) error {
	ms, err := ls.inbox.Unread(tx, id)
	if err != nil || len(ms) == 0 {
		return err
	}
	name, _, err := tx.AgentName(id)
	if err != nil {
		return err
	}
	var senders []int64
	ids := map[int64][]string{}
	for _, m := range ms {
		to, err := toTell(tx, id, heirID, m)
		if err != nil {
			return err
		}
		if to == 0 {
			continue
		}
		if ids[to] == nil {
			senders = append(senders, to)
		}
		ids[to] = append(ids[to], fmt.Sprintf("#%d", m.ID))
	}
	for _, to := range senders {
		if _, err := ls.inbox.Add(tx, inbox.Message{
			Recipient: to, Sender: id, Kind: inbox.Notice, Deliver: inbox.Next,
			Body: notRead(ids[to], name, state),
		}); err != nil {
			return err
		}
	}
	return nil
}

// toTell returns the agent to be told that m was not read: its sender, or the nearest living agent above that one; for
// mail from outside, the heir of its recipient. 0: none.
func toTell(tx *store.Tx, id, heirID int64, m inbox.Message) (int64, error) {
	switch m.Sender {
	case id:
		return 0, nil
	case 0:
		return heirID, nil
	}
	return tasks.Heir(tx, m.Sender)
}

// notRead returns `message #N to NAME not read: NAME finished`.
func notRead(ids []string, name string, state event.State) string {
	what := "message " + ids[0]
	if n := len(ids); n > 1 {
		what = "messages " + strings.Join(ids[:min(n, maxNamed)], ", ")
		if n > maxNamed {
			what += fmt.Sprintf(" and %d more", n-maxNamed)
		}
	}
	end := map[event.State]string{
		event.Done: "finished", event.Failed: "failed", event.Killed: "was killed", event.Crashed: "crashed",
	}[state]
	return fmt.Sprintf("%s to %s not read: %s %s", what, name, name, end)
}
