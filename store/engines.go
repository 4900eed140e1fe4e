package store

import (
	"database/sql"
	"errors"
	"fmt"
)

// Engine is what another vendor's agent, which carries out an agent's turns, has of its conversation.
type Engine struct {
	Vendor  string
	Session string // its own name of the conversation; "": none began
	Sent    int64  // the last entry that it has
	Sending int64  // the last entry on its way to it; 0: none is
	Settled int64  // the last entry that it had as a turn of its ended
}

// EngineOf returns what the engine of an agent has; the zero value if it has none.
func EngineOf(v *View, agent int64) (e Engine, err error) {
	err = v.QueryRow(`SELECT vendor, session, sent, sending, settled FROM engines WHERE agent = ?`, agent).
		Scan(&e.Vendor, &e.Session, &e.Sent, &e.Sending, &e.Settled)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return e, fmt.Errorf("read the engine of agent %d: %w", agent, err)
	}
	return e, nil
}

// PutEngine writes what the engine of an agent has.
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

// Dispatches reports whether the human has let an agent hand work to the agents of a vendor.
func Dispatches(v *View, agent int64, vendor string) (is bool, err error) {
	err = v.QueryRow(`SELECT EXISTS (SELECT 1 FROM dispatchers WHERE agent = ? AND vendor = ?)`, agent, vendor).Scan(&is)
	if err != nil {
		return false, fmt.Errorf("read whom agent %d may hand work: %w", agent, err)
	}
	return is, nil
}

// LetDispatch lets an agent hand work to the agents of a vendor.
func LetDispatch(tx *Tx, agent int64, vendor string) error {
	_, err := tx.count(`INSERT INTO dispatchers (agent, vendor) VALUES (?, ?) ON CONFLICT DO NOTHING`, agent, vendor)
	if err != nil {
		return fmt.Errorf("let agent %d hand work to %s: %w", agent, vendor, err)
	}
	return nil
}
