// Package store is the workspace's SQLite file.
//
// Does: open and migrate the file; run transactions on one writer (group
// commit) and on a few readers; run functions after a commit; keep agents,
// turns, entries, prompts and tasks.
//
// Does not: know what a message means, notify anybody by itself, take the
// host's lock, delete anything.
//
// Imports: nothing of ours.
package store

import (
	"context"
	"database/sql"
	"time"
)

// Options are what Open needs from its caller. Zero fields have defaults.
type Options struct {
	Now func() time.Time            // the clock; time.Now
	Go  func(name string, f func()) // starts a goroutine; a plain go statement
}

// DB is an open workspace file. It is safe for concurrent use.
type DB struct{ contract }

// Tx is a write transaction. It is only valid inside the function that got it.
type Tx struct{ contract }

// Rx is a read transaction: one snapshot. Keep it short.
type Rx struct{ contract }

type contract struct{}

// ErrNoRows is returned by scans that found nothing.
var ErrNoRows = sql.ErrNoRows

// Open opens the file at path, creating and migrating it as needed.
func Open(ctx context.Context, path string, o Options) (*DB, error) { panic("contract") }

// Close waits for the writer's last batch and closes the file.
func (db *DB) Close() error { panic("contract") }

// Write runs f in a write transaction and returns after its COMMIT, or with the
// error that undid it. f may run more than once (a batch that failed as a whole
// is tried again one by one), so it must only act on tx and on variables it sets
// anew. ctx bounds the wait for the writer, never a started transaction. The
// name says who writes; a Write inside a Write panics with both names.
func (db *DB) Write(ctx context.Context, name string, f func(tx *Tx) error) error { panic("contract") }

// Read runs f in a read transaction.
func (db *DB) Read(ctx context.Context, f func(rx *Rx) error) error { panic("contract") }

// Now is the transaction's time, the same for every statement in it.
func (tx *Tx) Now() time.Time { panic("contract") }

// AfterCommit hangs f on the transaction: the writer runs it once COMMIT has
// returned, in the order hung, and never after a rollback. f must be quick and
// must not call Write.
func (tx *Tx) AfterCommit(f func()) { panic("contract") }

// Exec, Query and QueryRow run one statement.
func (tx *Tx) Exec(query string, args ...any) (sql.Result, error) { panic("contract") }
func (tx *Tx) Query(query string, args ...any) (*sql.Rows, error) { panic("contract") }
func (tx *Tx) QueryRow(query string, args ...any) *sql.Row        { panic("contract") }
func (rx *Rx) Query(query string, args ...any) (*sql.Rows, error) { panic("contract") }
func (rx *Rx) QueryRow(query string, args ...any) *sql.Row        { panic("contract") }
