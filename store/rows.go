package store

import (
	"database/sql"
	"fmt"
	"time"
)

// count runs a change and returns the number of changed rows.
func (tx *Tx) count(query string, args ...any) (int64, error) {
	r, err := tx.Exec(query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// one runs a change of one row; ErrNoRows if there is no such row.
func (tx *Tx) one(query string, args ...any) error {
	n, err := tx.count(query, args...)
	if err == nil && n == 0 {
		err = ErrNoRows
	}
	return err
}

// insert runs an INSERT and returns the row's id.
func (tx *Tx) insert(query string, args ...any) (int64, error) {
	r, err := tx.Exec(query, args...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// scanner is a row to be scanned: *sql.Row or *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

// scanText scans a row of one text.
func scanText(s scanner) (text string, err error) {
	err = s.Scan(&text)
	return text, err
}

// all runs a query and returns its rows, read by scan.
func all[T any](v *View, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := v.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ts []T
	for rows.Next() {
		t, err := scan(rows)
		if err != nil {
			return nil, err
		}
		ts = append(ts, t)
	}
	return ts, rows.Err()
}

// first runs a query and returns its first row; ok is false if it has none.
func first[T any](v *View, scan func(scanner) (T, error), query string, args ...any) (t T, ok bool, err error) {
	t, err = scan(v.QueryRow(query, args...))
	if err == sql.ErrNoRows {
		return t, false, nil
	}
	return t, err == nil, err
}

// null returns n for a column that may be NULL; 0 becomes NULL.
func null(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// stamp returns t for a column; the zero time becomes NULL.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// moment reads a column that stamp wrote.
func moment(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}

// Missing returns an error if a required row does not exist; nil if ok.
func Missing(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%s does not exist", fmt.Sprintf(format, args...))
}
