package mail

import (
	"fmt"
	"strings"
	"testing"

	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
)

// Messages that a request has carried can't be put back, from its very last entry on; nor can those that no human
// took.
func TestMayUndo(t *testing.T) {
	o := newOffice(t, "", func(*policy.Overrides) {})
	const entry = 7
	for i, c := range []struct {
		by   string
		sent int64 // up to where the last turn's request carried entries; -1: there was no turn
		why  string
	}{
		{"check", -1, ""},
		{"check", 0, ""},
		{"check", entry - 1, ""},
		{"check", entry, "a request has carried"},
		{"check", entry + 1, "a request has carried"},
		{"receive", entry - 1, ""},
		{"receive", entry, "a request has carried"},
		{ByShow, entry, ""},
		{"turn", -1, "entered a turn"},
		{"next", -1, "entered a turn"},
		{"fire", -1, "entered a turn"},
		{ByTool, -1, "taken by a tool call"},
		{"fork", -1, "and read there"},
	} {
		err := o.db.Write(t.Context(), "try", func(tx *store.Tx) error {
			agent, err := tx.AddAgent(store.Agent{Kind: "main", Name: fmt.Sprint("agent", i), State: "idle"})
			if err == nil && c.sent >= 0 {
				var turn int64
				if turn, err = tx.BeginTurn(store.Turn{Agent: agent, Kind: "user"}); err == nil {
					err = tx.SetSentUpTo(turn, c.sent)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			return mayUndo(tx, agent, inbox.Message{ID: 3, TakenBy: c.by, Entry: entry})
		})
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("taken by %s, carried up to %d: %v, want %q", c.by, c.sent, err, c.why)
		}
	}
}
