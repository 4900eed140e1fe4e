package sqlite

import (
	"context"
	"database/sql"
	"time"
)

// View is what can be read inside a transaction.
type View struct {
	c      *conn
	over   bool
	open   []*sql.Rows // returned, and perhaps not closed
	broken error       // the statement that ended the transaction early
}

// Tx is a write transaction. It is only valid inside the function that got it.
type Tx struct {
	View
	now    time.Time
	hooks  []func()
	locals map[any]any
}

// Rx is a read transaction: one snapshot. Keep it short: the log can't start
// over while it lasts.
type Rx struct{ View }

func newTx(c *conn, now time.Time) *Tx { return &Tx{View: View{c: c}, now: now} }

// Now is the transaction's time, the same for every statement in it.
func (tx *Tx) Now() time.Time { return tx.now }

// AfterCommit hangs f on the transaction: the writer runs it once COMMIT has
// returned, in the order hung, before Write returns, and never after a
// rollback. f must be quick and must not call Write.
func (tx *Tx) AfterCommit(f func()) { tx.hooks = append(tx.hooks, f) }

// Local is the transaction's own value under key, made by first when it is
// asked for the first time. It lets a package gather over a transaction what
// it does once after the commit.
func (tx *Tx) Local(key any, first func() any) any {
	v, ok := tx.locals[key]
	if !ok {
		if tx.locals == nil {
			tx.locals = make(map[any]any)
		}
		v = first()
		tx.locals[key] = v
	}
	return v
}

// Exec runs one statement.
func (tx *Tx) Exec(query string, args ...any) (sql.Result, error) {
	if err := tx.usable(); err != nil {
		return nil, err
	}
	r, err := tx.c.exec(query, args...)
	return r, tx.note(err)
}

// Query runs one statement. Rows left open are closed with the transaction.
func (v *View) Query(query string, args ...any) (*sql.Rows, error) {
	if err := v.usable(); err != nil {
		return nil, err
	}
	rows, err := v.c.query(query, args...)
	if err != nil {
		return nil, v.note(err)
	}
	if n := len(v.open); n > 0 {
		if _, err := v.open[n-1].Columns(); err != nil {
			v.open = v.open[:n-1] // closed
		}
	}
	v.open = append(v.open, rows)
	return rows, nil
}

// QueryRow runs one statement that returns at most one row. The row must be scanned.
func (v *View) QueryRow(query string, args ...any) *sql.Row {
	if v.usable() != nil {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return v.c.c.QueryRowContext(ctx, query, args...)
	}
	row := v.c.row(query, args...)
	_ = v.note(row.Err()) // the scan returns it
	return row
}

// usable refuses statements after one that ended the transaction: they would
// run, and stay, outside of it.
func (v *View) usable() error {
	if v.over {
		panic("store: transaction used after its end")
	}
	return v.broken
}

func (v *View) note(err error) error {
	if err != nil && v.broken == nil && undoes(err) {
		v.broken = err
	}
	return err
}

func (v *View) end() {
	for _, rows := range v.open {
		_ = rows.Close() // the statement's own error was returned to who read it
	}
	v.open, v.over = nil, true
}
