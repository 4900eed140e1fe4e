package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the options of Open. Zero fields have defaults.
type Options struct {
	Now func() time.Time            // the clock; time.Now
	Go  func(name string, f func()) // starts a goroutine; a plain go statement

	// Upgrade is called before a file of an older schema is migrated; if it returns an error the file is unchanged.
	// nil: migration is allowed.
	Upgrade func() error

	// ReadOnly is why the file must only be read, and what to do about it; nil: it is written if possible.
	ReadOnly error

	// Withhold gets each text of the writer's statements and returns the text to store. It must be quick, and return
	// its own results unchanged. nil: texts are stored unchanged.
	Withhold func(text string) string

	// Hears makes [DB.Patrol] wait until the kernel reports a change of the files. It does not work with a test's fake
	// time, which does not advance during a wait for the kernel.
	Hears bool

	// Trace is called with each statement of the writer after it ran, including BEGIN and COMMIT. It must not write.
	// nil: no trace.
	Trace func(statement string)

	// TraceReads is called with each statement of the readers after it ran, on several goroutines at once. nil: no trace.
	TraceReads func(statement string)
}

// DB is an open workspace file. It is safe for concurrent use.
//
// While it is open no other code in the process may open the file: closing any other descriptor of it drops SQLite's
// locks.
type DB struct {
	path     string
	schema   int // the version this program writes
	now      func() time.Time
	trace    func(statement string)
	traced   func(statement string) // of the readers
	withhold func(text string) string
	start    func(name string, f func()) // a goroutine
	hears    bool
	sql      *sql.DB

	writer  writer
	readers readers
	version int64       // data_version at the writer's last look; owned by the holder of its turn
	sound   bool        // the schema was checked since then; same owner
	others  atomic.Bool // a write saw another process's commit that Changed has not reported

	rounds  rounds
	files   Held                    // the open files; owned by the holder of the writer's turn
	reading atomic.Pointer[reading] // nil: it can be written
	stopped atomic.Pointer[error]   // why the file can't be used any more; nil: it can

	parting error // error of the last check of the files before closing
	closing sync.Once
	closed  error // result of Close, once closing is done
}

// Open opens the file at path, creating and migrating it as needed: schema holds the scripts, migrations/NNNN_name.sql.
// It does not change a file that is no Fantail database (ErrForeign) or that a newer program wrote (ErrNewer). Before
// it migrates an existing database, it writes a copy next to it. If the file is not writable, Open opens it for
// reading: then every Write returns ErrReadOnly.
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

// Close waits for queued writes and running reads, and closes the file. It may be called more than once.
func (db *DB) Close() error {
	if inWrite() {
		panic("store: Close inside a write")
	}
	db.closing.Do(func() {
		db.rounds.stop()
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

// Changed reports whether another process committed since the last call (or since Open). Commits of this process don't
// count.
func (db *DB) Changed(ctx context.Context) (bool, error) {
	if err := db.onWriter(ctx, "changed", db.look); err != nil {
		return false, err
	}
	return db.others.Swap(false), nil
}

// SawOthers reports whether a write of this process saw a commit of another one that Changed has not reported yet. It
// costs nothing.
func (db *DB) SawOthers() bool { return db.others.Load() }

// look checks whether another process committed. The caller has the writer's turn.
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

// moment is the current time with the file's precision: UTC, whole milliseconds.
func (db *DB) moment() time.Time { return db.now().UTC().Truncate(time.Millisecond) }
