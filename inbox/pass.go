package inbox

import (
	"fmt"

	"fantail/store"
)

// Pass gives the results and failures that wait for an agent that ends to
// another, inside tx: what work came to is read by whoever is responsible for it
// then. Mail to an agent stays that agent's.
func (b *Inbox) Pass(tx *store.Tx, from, to int64) error {
	return b.pass(tx, from, to, ` AND kind IN ('result', 'failure')`)
}

// PassAll gives all that waits for an agent that ends to another, inside tx.
func (b *Inbox) PassAll(tx *store.Tx, from, to int64) error { return b.pass(tx, from, to, "") }

func (b *Inbox) pass(tx *store.Tx, from, to int64, which string) error {
	these := ` FROM messages WHERE recipient = ? AND taken_at IS NULL` + which
	r := Rung{Recipient: to, Deposited: true}
	err := tx.QueryRow(`SELECT count(*), ifnull(sum(priority = 'urgent' AND muted = 0), 0), ifnull(max(deliver = 'wake'), 0)`+these, from).
		Scan(&r.Pending, &r.Urgent, &r.Wake)
	if err == nil && r.Pending > 0 {
		_, err = tx.Exec(`UPDATE messages SET recipient = ? WHERE id IN (SELECT id`+these+`)`, to, from)
	}
	if err != nil {
		return fmt.Errorf("pass the messages for agent %d to agent %d: %w", from, to, err)
	}
	if r.Pending == 0 {
		return nil
	}
	if err := b.change(tx, Rung{Recipient: from, Pending: -r.Pending, Urgent: -r.Urgent}); err != nil {
		return err
	}
	r.Came = r.Pending
	return b.change(tx, r)
}
