// Package sqlite is one SQLite file: its connections and transactions.
//
// Does: open and migrate the file; run transactions on one writer (group commit) and on a
// few readers, all within one bound of memory; run functions after a commit; mend the file's names, or stop, where somebody
// changed them while it was open.
//
// Does not: know a table, notify anybody by itself, take the host's lock.
//
// Imports: store/files.
package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"fantail/store/files"
)

// Options are what Open needs from its caller. Zero fields have defaults.
type Options struct {
	Now func() time.Time            // the clock; time.Now
	Go  func(name string, f func()) // starts a goroutine; a plain go statement

	// Upgrade is asked before a file of an older schema is changed; its error leaves
	// the file as it is. nil: it may be.
	Upgrade func() error

	// ReadOnly is why the file is only to be read, and what to do about it; nil: it is
	// written if it can be.
	ReadOnly error

	// Withhold is given each text that a statement of the writer carries and returns
	// what is kept of it. It must be quick, and leave alone what it returned once. nil:
	// all is kept.
	Withhold func(text string) string

	// Hears has [DB.Patrol] rest while nothing is done to the files, and the kernel say when something is. It is not for a
	// test's fake time, which does not go on while somebody waits for the kernel.
	Hears bool

	// Trace hears of each statement of the writer after it ran, BEGIN and COMMIT
	// too. It must not write. nil: nobody listens.
	Trace func(statement string)
}

// DB is an open workspace file. It is safe for concurrent use.
//
// While it is open nothing else in the process may open the file: closing any
// other descriptor of it drops SQLite's locks.
type DB struct {
	path     string
	schema   int // the version this program writes
	now      func() time.Time
	trace    func(statement string)
	withhold func(text string) string
	start    func(name string, f func()) // a goroutine
	hears    bool
	sql      *sql.DB

	writer  writer
	readers readers
	version int64       // data_version of the writer's connection at the last look; whoever has the writer's turn owns it
	sound   bool        // the schema was looked at since then; they own it, too
	others  atomic.Bool // another process committed, which a write saw and nobody asked for yet

	files   files.Held              // what the connections have open
	reading atomic.Pointer[reading] // nil: it can be written
	stopped atomic.Pointer[error]   // why the file can't be used any more; nil: it can

	parting error // what the writer's last look at the files found
	closing sync.Once
	closed  error // what Close returns, once closing is done
}

// Open opens the file at path, creating and migrating it as needed: schema holds the
// scripts, migrations/NNNN_name.sql. A file that is no Fantail database (ErrForeign) or
// that a newer program wrote (ErrNewer) is left as it is. Before an existing database is
// migrated, a copy is written beside it. A file that can't be written is opened for
// reading: every Write is an ErrReadOnly then.
func Open(ctx context.Context, path string, schema fs.FS, o Options) (*DB, error) {
	db, err := prepare(ctx, path, o, schema)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, explain(err))
	}
	if db.start, db.hears = o.Go, o.Hears; db.start == nil {
		db.start = func(_ string, f func()) { go f() }
	}
	return db, nil
}

// Close lets the writes that are queued end, waits for running reads and closes
// the file. It may be called more than once.
func (db *DB) Close() error {
	if inWrite() {
		panic("store: Close inside a write")
	}
	db.closing.Do(func() {
		db.writer.rounds.stop()
		db.writer.stop()
		if db.writer.conn != nil {
			db.part()
		}
		db.writer.gate.close()
		db.readers.stop()
		if db.stopped.Load() == nil {
			db.readers.close()
		}
		db.files.Release()
		defer db.reading.Load().close()
		db.closed = db.parting
		if err := db.sql.Close(); err != nil && db.closed == nil {
			db.closed = fmt.Errorf("close %s: %w", db.path, explain(err))
		}
	})
	return db.closed
}

// Path is the file's absolute path.
func (db *DB) Path() string { return db.path }

// Changed reports whether another process committed since the last call (or
// since Open). Commits of this process don't count.
func (db *DB) Changed(ctx context.Context) (bool, error) {
	if err := db.onWriter(ctx, "changed", db.look); err != nil {
		return false, err
	}
	return db.others.Swap(false), nil
}

// SawOthers reports whether a write of this process came upon a commit of another
// one that no Changed has reported yet. It costs nothing.
func (db *DB) SawOthers() bool { return db.others.Load() }

// look sees whether another process committed. Whoever has the writer's turn calls it.
func (db *DB) look(c *conn) error {
	if r := db.reading.Load(); r.moved() != nil {
		return r.anew(db)
	}
	v, err := c.number("PRAGMA data_version")
	if err != nil {
		return fmt.Errorf("read data_version: %w", err)
	}
	if v != db.version {
		db.version, db.sound, c.known = v, false, nil
		db.others.Store(true)
	}
	return nil
}

// moment is the clock's time as the file keeps it: UTC, whole milliseconds.
func (db *DB) moment() time.Time { return db.now().UTC().Truncate(time.Millisecond) }
