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
)

// ErrReadOnly is the error of a write to a database that is only readable here.
var ErrReadOnly = errors.New("the database can only be read here")

// reading is the way to read a file that is not writable, or whose directory is not.
type reading struct {
	why    error
	still  *Still // nil: SQLite's own locks make reads consistent
	copied string // the directory of the copy that is read; "": the file itself is
}

// openReading opens the file at db.path, which can't be written because of why.
//
// With -wal and -shm SQLite reads as usual, also next to a writer. Without them, if the log is empty, SQLite reads the
// file as one that never changes. Otherwise SQLite would have to make the -shm that the log needs: it makes that next
// to a copy.
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

// anew reopens a file that changed while it was read without locks. It closes the open connections first: closing them
// later would drop the locks of the new ones. The caller has the writer's turn.
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
	_ = db.sql.Close() // it is not in use
	if err := db.openReading(context.Background(), r.why); err != nil {
		return err
	}
	r.close()
	db.others.Store(true)
	return nil
}

// connectReading opens the file at real so that everything committed can be read and no file is made next to it: a file
// made there could not be written either, and would be in the way later.
func (db *DB) connectReading(ctx context.Context, r *reading, real string) (c *conn, err error) {
	if exists(real+"-wal") && exists(real+"-shm") {
		c, err := db.connectOnly(ctx, real, "&mode=ro")
		if p := primary(err); p != sqlite3.SQLITE_CANTOPEN && p != sqlite3.SQLITE_READONLY {
			return c, err
		}
	}
	if r.still, err = Look(real); err != nil {
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

// connectOnly opens path for reading and reads once.
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

// moved returns an error if reads may have mixed two states of the file.
func (r *reading) moved() error {
	if r == nil || r.still == nil {
		return nil
	}
	return r.still.Moved()
}

// close removes the copy, if there is one.
func (r *reading) close() {
	if r != nil && r.copied != "" {
		_ = os.RemoveAll(r.copied) // a copy
	}
}

// ReadOnly is why the file can't be written, or nil if it can.
func (db *DB) ReadOnly() error {
	if r := db.reading.Load(); r != nil {
		return r.why
	}
	return nil
}
