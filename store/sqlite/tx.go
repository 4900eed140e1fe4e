package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"time"
)

// View reads inside a transaction.
type View struct {
	c      *conn
	debts  *debts // nil: read only
	over   bool
	open   []*sql.Rows // returned, and perhaps not closed
	broken error       // the statement that ended the transaction early
}

// Tx is a write transaction. It is only valid inside the function that got it.
type Tx struct {
	View
	now    time.Time
	hooks  []func()
	locals []local
}

// local is a transaction's own value.
type local struct{ key, value any }

// Rx is a read transaction: one snapshot. Keep it short: the log can't start over while it lasts.
type Rx struct{ View }

func newTx(c *conn, d *debts, now time.Time) *Tx { return &Tx{View: View{c: c, debts: d}, now: now} }

// debts are owed by the transactions that commit together, by key and in the order of their creation.
type debts struct {
	of  map[any]Debt
	all []Debt
}

// Debt is work that transactions that commit together do once.
type Debt interface {
	// Pay writes what is owed so far, in one of the transactions.
	Pay(tx *Tx) error
}

// Owe returns the debt under key of all transactions that commit together; first makes it for the first of them. It is
// paid before the COMMIT; a transaction that reads the rows calls [Settle] first. If one of them fails, the debt is
// rolled back with them all, and each that is tried again owes anew.
func Owe(tx *Tx, key any, first func() Debt) Debt {
	d, ok := tx.debts.of[key]
	if !ok {
		d = first()
		if tx.debts.of == nil {
			tx.debts.of = map[any]Debt{}
		}
		tx.debts.of[key] = d
		tx.debts.all = append(tx.debts.all, d)
	}
	return d
}

// Settle pays the debts so far, so that statements see their rows.
func Settle(v *View) error {
	if v.debts == nil {
		return nil
	}
	for _, d := range v.debts.all {
		tx := newTx(v.c, nil, time.Time{})
		err := d.Pay(tx)
		if tx.end(); err != nil {
			return v.note(err)
		}
	}
	return nil
}

// Now is the transaction's time, the same for every statement in it.
func (tx *Tx) Now() time.Time { return tx.now }

// AfterCommit registers f to run once COMMIT has returned, in the order of registration, before Write returns, perhaps
// on the goroutine of another Write, and never after a rollback. f must be quick, must not call Write, and must not end
// its goroutine.
func (tx *Tx) AfterCommit(f func()) { tx.hooks = append(tx.hooks, f) }

// Local returns the transaction's own value under key, made by first on the first call. It lets a package collect
// during a transaction what it does once after the commit.
func (tx *Tx) Local(key any, first func() any) any {
	if i := slices.IndexFunc(tx.locals, func(l local) bool { return l.key == key }); i >= 0 {
		return tx.locals[i].value
	}
	v := first()
	tx.locals = append(tx.locals, local{key, v})
	return v
}

// Known returns what the writer's transactions know about the file under key. first makes it if it is unknown: on the
// first call, after another process's commit, and after a failed transaction. It describes the state after the last
// commit, or within the transactions that commit next. The error is that of first.
func (tx *Tx) Known(key any, first func() (any, error)) (any, error) {
	if v, ok := tx.c.known[key]; ok {
		return v, nil
	}
	v, err := first()
	if err != nil {
		return nil, err
	}
	if tx.c.known == nil {
		tx.c.known = make(map[any]any)
	}
	tx.c.known[key] = v
	return v, nil
}

// Exec runs one statement.
func (tx *Tx) Exec(query string, args ...any) (sql.Result, error) {
	if err := tx.usable(); err != nil {
		return nil, err
	}
	r, err := tx.c.exec(query, args...)
	return r, tx.note(err)
}

// Query runs one statement. Rows that are still open are closed with the transaction.
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

// usable refuses statements after one that ended the transaction: they would run, and be committed, outside of it.
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
		_ = rows.Close() // its reader got the statement's own error
	}
	v.open, v.over = nil, true
}
