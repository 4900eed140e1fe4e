package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"fantail/store/files"
)

// ErrReadOnly is the error of a write to a database that can only be read here.
var ErrReadOnly = errors.New("the database can only be read here")

// reading is how a file is read that can't be written, or whose directory can't.
type reading struct {
	why    error
	still  *files.Still // nil: SQLite's own locks keep what is read of one moment
	copied string       // the directory of the copy that is read; "": the file itself is
}

// openReading opens the file at db.path, which can't be written because of why.
//
// With -wal and -shm SQLite reads as ever, beside a writer too. Without, all may stand
// in the file: then it is read as one that never changes. Otherwise SQLite would have
// to make the -shm that the log needs: it does so beside a copy.
func (db *DB) openReading(ctx context.Context, why error) (err error) {
	r := &reading{why: why}
	if !errors.Is(why, ErrReadOnly) {
		r.why = fmt.Errorf("%w: %w", ErrReadOnly, why)
	}
	real, err := filepath.EvalSymlinks(db.path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && r.copied != "" {
			err = errors.Join(err, os.RemoveAll(r.copied))
		}
	}()
	c, err := db.connectReading(ctx, r, real)
	if err != nil {
		return err
	}
	version, err := inspect(c, db.schema)
	if err == nil && version != db.schema {
		err = fmt.Errorf("an older version of this program wrote it, and it can't be brought up to date: %w", r.why)
	}
	if err == nil {
		db.sound = false
		db.version, err = c.number("PRAGMA data_version")
	}
	if err != nil {
		return errors.Join(err, c.close(), db.sql.Close())
	}
	db.writer.conn = c
	db.reading.Store(r)
	return nil
}

// anew opens a file again that somebody wrote to while it was read without locks. What
// is open is closed first: that would drop the locks of what is opened. Whoever has the
// writer's turn calls it.
func (r *reading) anew(db *DB) error {
	resume, ok := db.readers.pause(busyTimeout)
	if !ok {
		return r.moved()
	}
	defer resume()
	db.readers.close()
	if c := db.writer.conn; c != nil {
		_ = c.close() // it only read
	}
	db.writer.conn = nil
	_ = db.sql.Close() // nobody uses it
	if err := db.openReading(context.Background(), r.why); err != nil {
		return err
	}
	r.close()
	db.others.Store(true)
	return nil
}

// connectReading opens the file at real in the way that reads all that is committed
// and makes nothing beside it: what is made beside a file that can't be written
// can't be written either, and would be in the way once it can.
func (db *DB) connectReading(ctx context.Context, r *reading, real string) (c *conn, err error) {
	if exists(real+"-wal") && exists(real+"-shm") {
		c, err := db.connectOnly(ctx, real, "&mode=ro")
		if p := primary(err); p != sqlite3.SQLITE_CANTOPEN && p != sqlite3.SQLITE_READONLY {
			return c, err
		}
	}
	if r.still, err = files.Look(real); err != nil {
		return nil, err
	}
	if r.still.Empty() {
		return db.connectOnly(ctx, real, "&immutable=1")
	}
	if r.copied, err = os.MkdirTemp("", "fantail-"); err != nil {
		return nil, err
	}
	copied, err := r.still.CopyTo(r.copied)
	if err != nil {
		return nil, err
	}
	return db.connectOnly(ctx, copied, "")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// connectOnly opens path for reading and reads a first time.
func (db *DB) connectOnly(ctx context.Context, path, how string) (*conn, error) {
	connector, err := sqlite.NewConnector(locator(path) + how)
	if err != nil {
		return nil, err
	}
	db.sql = sql.OpenDB(connector)
	db.sql.SetMaxIdleConns(-1)
	c, err := db.connect(ctx, true)
	if err != nil {
		return nil, errors.Join(err, db.sql.Close())
	}
	if _, err := c.number("SELECT count(*) FROM sqlite_schema"); err != nil {
		return nil, errors.Join(err, c.close(), db.sql.Close())
	}
	return c, nil
}

// moved is an error if what was read may be of more than one moment.
func (r *reading) moved() error {
	if r == nil || r.still == nil {
		return nil
	}
	return r.still.Moved()
}

// close removes what was only there for reading.
func (r *reading) close() {
	if r != nil && r.copied != "" {
		_ = os.RemoveAll(r.copied) // a copy
	}
}

// ReadOnly is why nothing can be written; nil: it can.
func (db *DB) ReadOnly() error {
	if r := db.reading.Load(); r != nil {
		return r.why
	}
	return nil
}
