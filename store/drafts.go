package store

import (
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// Draft is text that a human had not sent to an agent when their screen went away.
type Draft struct {
	Agent  int64
	Text   string
	Pastes string // the positions of pastes in it, encoded by the caller
	Left   time.Time
}

const draftColumns = `agent, text, pastes, left_at`

func scanDraft(s scanner) (d Draft, err error) {
	var left sql.NullInt64
	err = s.Scan(&d.Agent, &d.Text, &d.Pastes, &left)
	d.Left = moment(left)
	return d, err
}

// LeaveDraft stores a draft in place of its agent's older one, and returns that if there was one. If d.Left is zero it
// is now.
func LeaveDraft(tx *Tx, d Draft) (older Draft, ok bool, err error) {
	if d.Left.IsZero() {
		d.Left = tx.Now()
	}
	older, ok, err = first(&tx.View, scanDraft, `SELECT `+draftColumns+` FROM drafts WHERE agent = ?`, d.Agent)
	if err == nil {
		_, err = tx.Exec(`REPLACE INTO drafts (`+draftColumns+`) VALUES (?, ?, ?, ?)`, d.Agent, d.Text, d.Pastes, stamp(d.Left))
	}
	if err != nil {
		return older, false, fmt.Errorf("keep the draft for agent %d: %w", d.Agent, err)
	}
	return older, ok, nil
}

// KeepTyping stores the text in the boxes of a screen, in place of the text before.
func KeepTyping(tx *Tx, screen int64, ds []Draft) error {
	if _, err := tx.Exec(`DELETE FROM typing WHERE screen = ?`, screen); err != nil {
		return fmt.Errorf("forget what was typed: %w", err)
	}
	for _, d := range ds {
		_, err := tx.Exec(`INSERT INTO typing (screen, `+draftColumns+`) VALUES (?, ?, ?, ?, ?)`, screen, d.Agent, d.Text, d.Pastes, stamp(tx.Now()))
		if err != nil {
			return fmt.Errorf("keep what is typed for agent %d: %w", d.Agent, err)
		}
	}
	return nil
}

// TakeDrafts returns all drafts, by agent, and removes them: those that were left, and those in the boxes of screens
// that are not among living.
func TakeDrafts(tx *Tx, living []int64) ([]Draft, error) {
	there := ` NOT IN (0` + strings.Repeat(", ?", len(living)) + `)`
	screens := make([]any, len(living))
	for i, id := range living {
		screens[i] = id
	}
	ds, err := all(&tx.View, scanDraft, `SELECT `+draftColumns+` FROM drafts
		UNION ALL SELECT `+draftColumns+` FROM typing WHERE screen`+there+` ORDER BY agent, left_at`, screens...)
	if err == nil && len(ds) > 0 {
		if _, err = tx.Exec(`DELETE FROM drafts`); err == nil {
			_, err = tx.Exec(`DELETE FROM typing WHERE screen`+there, screens...)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("take the drafts: %w", err)
	}
	return ds, nil
}
