// Package store is the database of one workspace: its tables, its migrations, and one writer.
//
// It does not know the meaning of a message (package inbox does) or of a transcript's entry (agents/history does).
package store

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"

	"fantail/store/sqlite"
)

//go:embed migrations/*.sql
var ground embed.FS

// Options are the options of Open. Zero fields have defaults.
type Options sqlite.Options

// DB is an open workspace file. It is safe for concurrent use. While it is open no other code in the process may open
// the file.
type DB struct{ *sqlite.DB }

// Open opens the file at path as [sqlite.Open] does, creating and migrating it as needed.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	return open(ctx, path, o, ground)
}

// open is Open with the migrations of schema.
func open(ctx context.Context, path string, o Options, schema fs.FS) (*DB, error) {
	db, err := sqlite.Open(ctx, path, schema, sqlite.Options(o))
	if err != nil {
		return nil, err
	}
	return &DB{db}, nil
}

// Write runs f in a write transaction as [sqlite.DB.Write] does: it returns after the COMMIT, f may run more than once
// and acts only on tx, and a Write inside a Write panics.
func (db *DB) Write(ctx context.Context, name string, f func(tx *Tx) error) error {
	return db.DB.Write(ctx, name, func(tx *sqlite.Tx) error { return f(&Tx{View{&tx.View}, tx}) })
}

// Read runs f in a read transaction, which sees one snapshot. ctx bounds the wait for a connection.
func (db *DB) Read(ctx context.Context, f func(rx *Rx) error) error {
	return db.DB.Read(ctx, func(rx *sqlite.Rx) error { return f(&Rx{View{&rx.View}}) })
}

// View reads inside a transaction.
type View struct{ v *sqlite.View }

// Tx is a write transaction. It is only valid inside the function that got it.
type Tx struct {
	View
	*sqlite.Tx
}

// Debt is work that transactions that commit together do once: [sqlite.Owe].
type Debt interface {
	// Pay writes what is owed so far, in a transaction of its own.
	Pay(tx *Tx) error
}

// Owe returns the debt under key of all transactions that commit together, made by first: [sqlite.Owe].
func Owe(tx *Tx, key any, first func() Debt) Debt {
	return sqlite.Owe(tx.Tx, key, func() sqlite.Debt { return debt{first()} }).(debt).Debt
}

type debt struct{ Debt }

func (d debt) Pay(tx *sqlite.Tx) error { return d.Debt.Pay(&Tx{View{&tx.View}, tx}) }

// Rx is a read transaction: one snapshot. Keep it short: the log can't start over while it lasts.
type Rx struct{ View }

// Query runs one statement. Rows left open are closed with the transaction.
func (v *View) Query(query string, args ...any) (*sql.Rows, error) { return v.v.Query(query, args...) }

// Settle pays the debts so far, so that statements see their rows: [Owe].
func Settle(v *View) error { return sqlite.Settle(v.v) }

// QueryRow runs one statement that returns at most one row. The row must be scanned.
func (v *View) QueryRow(query string, args ...any) *sql.Row { return v.v.QueryRow(query, args...) }
