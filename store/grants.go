package store

import (
	"database/sql"
	"fmt"
	"time"
)

// Grant is a rule that a human gave for all commands of the workspace, for good.
type Grant struct {
	Rule    string
	Created time.Time
}

// AddGrant adds the rule; an existing one is unchanged.
func AddGrant(tx *Tx, rule string) error {
	if _, err := tx.Exec(`INSERT INTO grants (rule, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING`, rule, stamp(tx.Now())); err != nil {
		return fmt.Errorf("keep the rule %s: %w", rule, err)
	}
	return nil
}

// RemoveGrant removes the rule, if it exists.
func RemoveGrant(tx *Tx, rule string) error {
	if _, err := tx.Exec(`DELETE FROM grants WHERE rule = ?`, rule); err != nil {
		return fmt.Errorf("take back the rule %s: %w", rule, err)
	}
	return nil
}

// Grants are the rules there are, by their texts.
func Grants(v *View) ([]Grant, error) {
	gs, err := all(v, func(s scanner) (g Grant, err error) {
		var created sql.NullInt64
		err = s.Scan(&g.Rule, &created)
		g.Created = moment(created)
		return g, err
	}, `SELECT rule, created_at FROM grants ORDER BY rule`)
	if err != nil {
		return nil, fmt.Errorf("read what sandboxes were granted: %w", err)
	}
	return gs, nil
}
