package inbox

import (
	"fmt"

	"fantail/store"
)

// Pass gives an ending agent's waiting results, failures and questions to another one, inside tx: the agent that is now
// responsible for the work reads them. Snoozed ones pass too, and stay snoozed. Mail stays with its recipient.
func (b *Inbox) Pass(tx *store.Tx, from, to int64) error {
	return b.pass(tx, from, to, `kind IN ('result', 'failure', 'question', 'approval') AND `)
}

// PassAll gives all waiting messages of an ending agent to another one, inside tx.
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
	r := Change{Deposited: t.pending > 0}
	if err == nil {
		err = tx.QueryRow(`SELECT ifnull(max(deliver = 'wake'), 0), count(*) FROM messages WHERE `+these+`taken_at IS NULL AND muted = 0`,
			from).Scan(&r.Wake, &r.Came)
	}
	if err == nil {
		err = tx.QueryRow(`SELECT count(*) FROM messages WHERE `+these+snoozed, from).Scan(&t.aside)
	}
	for _, state := range []string{`taken_at IS NULL`, snoozed} {
		if err == nil {
			_, err = tx.Exec(moveTo+`(SELECT id FROM messages WHERE `+these+state+`)`, to, from)
		}
	}
	if err != nil {
		return fmt.Errorf("pass the messages for agent %d to agent %d: %w", from, to, err)
	}
	if t.pending+t.aside == 0 {
		return nil
	}
	b.keep(tx, old, tally{}.plus(t, -1), Change{})
	b.keep(tx, heir, t, r)
	return nil
}

// moveTo gives rows another recipient. If that recipient already has a message with the same key from the same sender,
// the row loses its key: a retry is recognized by the key of the message that the recipient had.
const moveTo = `UPDATE messages SET recipient = ?1, key = CASE WHEN EXISTS (SELECT 1 FROM messages AS had
	WHERE had.recipient = ?1 AND ifnull(had.sender, 0) = ifnull(messages.sender, 0)
	AND iif(had.sender IS NULL, had.sender_name, '') = iif(messages.sender IS NULL, messages.sender_name, '')
	AND had.key = messages.key) THEN NULL ELSE key END WHERE id IN `
