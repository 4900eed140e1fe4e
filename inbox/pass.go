package inbox

import (
	"fmt"

	"fantail/store"
)

// Pass gives the results, failures and questions that wait for an agent that ends
// to another, inside tx: what work came to is read by whoever is responsible for it
// then. What is snoozed passes too, and stays so. Mail to an agent stays that agent's.
func (b *Inbox) Pass(tx *store.Tx, from, to int64) error {
	return b.pass(tx, from, to, `kind IN ('result', 'failure', 'question', 'approval') AND `)
}

// PassAll gives all that waits for an agent that ends to another, inside tx.
func (b *Inbox) PassAll(tx *store.Tx, from, to int64) error { return b.pass(tx, from, to, "") }

func (b *Inbox) pass(tx *store.Tx, from, to int64, which string) error {
	old, err := b.change(tx, from)
	if err != nil {
		return err
	}
	heir, err := b.change(tx, to)
	if err != nil {
		return err
	}
	these := `recipient = ? AND ` + which
	t, err := sum(&tx.View, these+`taken_at IS NULL`, from)
	r := Rung{Deposited: t.pending > 0}
	if err == nil {
		err = tx.QueryRow(`SELECT ifnull(max(deliver = 'wake' AND muted = 0), 0) FROM messages WHERE `+these+`taken_at IS NULL`, from).Scan(&r.Wake)
	}
	if err == nil {
		err = tx.QueryRow(`SELECT count(*) FROM messages WHERE `+these+snoozed, from).Scan(&t.aside)
	}
	for _, state := range []string{`taken_at IS NULL`, snoozed} {
		if err == nil {
			_, err = tx.Exec(`UPDATE messages SET recipient = ? WHERE id IN (SELECT id FROM messages WHERE `+these+state+`)`, to, from)
		}
	}
	if err != nil {
		return fmt.Errorf("pass the messages for agent %d to agent %d: %w", from, to, err)
	}
	if t.pending+t.aside == 0 {
		return nil
	}
	b.keep(tx, old, tally{}.plus(t, -1), Rung{})
	r.Came = t.pending
	b.keep(tx, heir, t, r)
	return nil
}
