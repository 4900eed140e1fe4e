package store

import (
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// Audit is a row of the audit. Package audit defines its meaning.
type Audit struct {
	ID       int64
	At       time.Time
	What     string
	Agent    int64
	Name     string
	Turn     int64
	Call     string
	Tool     string
	Args     string
	Decision string
	By       string
	Outcome  string
	Bytes    int64
	Began    time.Time // zero: it has no beginning
	Millis   int64
	Hash     string
}

const auditColumns = `id, at, what, agent, name, turn, call, tool, args, decision, ruled_by, outcome, bytes, began, millis, hash`

func scanAudit(s scanner) (a Audit, err error) {
	var at, began sql.NullInt64
	err = s.Scan(&a.ID, &at, &a.What, &a.Agent, &a.Name, &a.Turn, &a.Call, &a.Tool, &a.Args, &a.Decision, &a.By,
		&a.Outcome, &a.Bytes, &began, &a.Millis, &a.Hash)
	a.At, a.Began = moment(at), moment(began)
	return a, err
}

// AddAudit adds a row. Its ID must follow that of the last one.
func AddAudit(tx *Tx, a Audit) error {
	_, err := tx.Exec(`INSERT INTO audit (`+auditColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		a.ID, stamp(a.At), a.What, a.Agent, a.Name, a.Turn, a.Call, a.Tool, a.Args, a.Decision, a.By, a.Outcome, a.Bytes,
		stamp(a.Began), a.Millis, a.Hash)
	if err != nil {
		return fmt.Errorf("add row %d of the audit: %w", a.ID, err)
	}
	return nil
}

// LastAudit returns the last row; false: there is none.
func LastAudit(v *View) (Audit, bool, error) {
	a, ok, err := first(v, scanAudit, `SELECT `+auditColumns+` FROM audit ORDER BY id DESC LIMIT 1`)
	if err != nil {
		return a, false, fmt.Errorf("read the end of the audit: %w", err)
	}
	return a, ok, nil
}

// AuditRow returns the row of that number.
func AuditRow(v *View, id int64) (Audit, bool, error) {
	a, ok, err := first(v, scanAudit, `SELECT `+auditColumns+` FROM audit WHERE id = ?`, id)
	if err != nil {
		return a, false, fmt.Errorf("read row %d of the audit: %w", id, err)
	}
	return a, ok, nil
}

// AuditOf returns the rows of an agent's call, in their order.
func AuditOf(v *View, agent int64, call string) ([]Audit, error) {
	as, err := all(v, scanAudit, `SELECT `+auditColumns+` FROM audit WHERE agent = ? AND call = ? AND call <> '' ORDER BY id`, agent, call)
	if err != nil {
		return nil, fmt.Errorf("read the audit of call %s: %w", call, err)
	}
	return as, nil
}

// AuditWanted selects rows of the audit. Zero fields match all.
type AuditWanted struct {
	After  int64    // rows after this one
	Before int64    // rows before this one, the newest of them
	Name   string   // of agents that were called so then
	Kinds  []string // of agents of these kinds
	Not    []string // rows without these words
	Limit  int
}

// AuditRows returns the selected rows in order: the first ones, or, with Before, the last.
func AuditRows(v *View, w AuditWanted) ([]Audit, error) {
	where, args := []string{"id > ?"}, []any{w.After}
	among := func(words []string) string {
		for _, word := range words {
			args = append(args, word)
		}
		return "(?" + strings.Repeat(", ?", len(words)-1) + ")"
	}
	order := ""
	if w.Before > 0 {
		where, args, order = append(where, "id < ?"), append(args, w.Before), " DESC"
	}
	if w.Name != "" {
		where, args = append(where, "name = ?"), append(args, w.Name)
	}
	if len(w.Kinds) > 0 {
		where = append(where, "agent IN (SELECT id FROM agents WHERE kind IN "+among(w.Kinds)+")")
	}
	if len(w.Not) > 0 {
		where = append(where, "what NOT IN "+among(w.Not))
	}
	as, err := all(v, scanAudit, `SELECT * FROM (SELECT `+auditColumns+` FROM audit WHERE `+strings.Join(where, " AND ")+
		` ORDER BY id`+order+` LIMIT ?) ORDER BY id`, append(args, w.Limit)...)
	if err != nil {
		return nil, fmt.Errorf("read the audit: %w", err)
	}
	return as, nil
}
