package store

import (
	"fmt"
	"slices"
)

// Table is a table whose rows start or allow something, so each has the seal of the program that wrote it.
type Table string

// Tables with sealed rows.
const (
	Schedules    Table = "schedules"
	GrantedRules Table = "grants"
	KeptChecks   Table = "checks"
	Settings     Table = "settings"
	Dispatchers  Table = "dispatchers" // the key of a row is its agent, a blank and the vendor
)

// key is the expression that identifies its rows, in SQL.
func (t Table) key() string {
	return map[Table]string{Schedules: "id", GrantedRules: "rule", KeptChecks: "name", Settings: "key", Dispatchers: "agent || ' ' || vendor"}[t]
}

// SealedRow returns all columns of a row except its seal, each as NAME=VALUE and sorted by name, and the seal. It
// leaves out empty columns, so that a new empty column changes nothing. ok is false if there is no such row.
func SealedRow(v *View, t Table, key any) (columns []string, seal string, ok bool, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read a row of %s: %w", t, err)
		}
	}()
	rows, err := v.Query(`SELECT * FROM `+string(t)+` WHERE `+t.key()+` = ?`, key)
	if err != nil {
		return nil, "", false, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil || !rows.Next() {
		return nil, "", false, err
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		return nil, "", false, err
	}
	for i, name := range names {
		switch x := values[i].(type) {
		case nil:
		case string:
			if name == "seal" {
				seal = x
			} else if x != "" {
				columns = append(columns, name+"="+x)
			}
		case int64:
			if x != 0 {
				columns = append(columns, fmt.Sprintf("%s=%d", name, x))
			}
		default:
			return nil, "", false, fmt.Errorf("%s holds a %T", name, x)
		}
	}
	slices.Sort(columns)
	return columns, seal, true, rows.Err()
}

// SealRow sets the seal of a row.
func SealRow(tx *Tx, t Table, key any, seal string) error {
	if err := tx.one(`UPDATE `+string(t)+` SET seal = ? WHERE `+t.key()+` = ?`, seal, key); err != nil {
		return fmt.Errorf("seal a row of %s: %w", t, err)
	}
	return nil
}
