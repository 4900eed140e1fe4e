package store

import (
	"database/sql"
	"errors"
	"fmt"
)

// Engine is the state of another vendor's agent that carries out an agent's turns.
type Engine struct {
	Vendor  string
	Session string // its own name of the conversation; "": none
	Sent    int64  // the last entry that it has
	Sending int64  // the last entry that is being sent to it; 0: none
	Settled int64  // the last entry that it had when a turn of it ended
}

// EngineOf returns the engine of an agent; the zero value if it has none.
func EngineOf(v *View, agent int64) (e Engine, err error) {
	err = v.QueryRow(`SELECT vendor, session, sent, sending, settled FROM engines WHERE agent = ?`, agent).
		Scan(&e.Vendor, &e.Session, &e.Sent, &e.Sending, &e.Settled)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return e, fmt.Errorf("read the engine of agent %d: %w", agent, err)
	}
	return e, nil
}

// PutEngine stores the engine of an agent.
func PutEngine(tx *Tx, agent int64, e Engine) error {
	_, err := tx.count(`INSERT INTO engines (agent, vendor, session, sent, sending, settled) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (agent) DO UPDATE SET vendor = excluded.vendor, session = excluded.session, sent = excluded.sent,
		sending = excluded.sending, settled = excluded.settled`,
		agent, e.Vendor, e.Session, e.Sent, e.Sending, e.Settled)
	if err != nil {
		return fmt.Errorf("write down the engine of agent %d: %w", agent, err)
	}
	return nil
}

// LetDispatch lets an agent hand work to the agents of a vendor.
func LetDispatch(tx *Tx, agent int64, vendor string) error {
	_, err := tx.count(`INSERT INTO dispatchers (agent, vendor) VALUES (?, ?) ON CONFLICT DO NOTHING`, agent, vendor)
	if err != nil {
		return fmt.Errorf("let agent %d hand work to %s: %w", agent, vendor, err)
	}
	return nil
}
