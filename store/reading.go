package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrReadOnly is the error of a write to a database that can only be read here.
var ErrReadOnly = errors.New("the database can only be read here")

// reading is how a file is read that can't be written, or whose directory can't.
type reading struct {
	why    error
	still  *still // nil: SQLite's own locks keep what is read of one moment
	copied string // the directory of the copy that is read; "": the file itself is
}

// still is what a file and its log were when reading without locks began.
type still struct {
	path string // of the file, without symbolic links
	file os.FileInfo
	log  os.FileInfo // nil: there was none
}

func look(real string) (s *still, err error) {
	s = &still{path: real}
	if s.file, err = os.Stat(real); err != nil {
		return nil, err
	}
	if s.log, err = os.Stat(real + "-wal"); err != nil {
		s.log = nil
	}
	return s, nil
}

// empty reports that all there is stands in the file.
func (s *still) empty() bool { return s.log == nil || s.log.Size() == 0 }

// moved is an error if somebody wrote since.
func (s *still) moved() error {
	same := func(a, b os.FileInfo) bool {
		if a == nil || b == nil {
			return a == nil && b == nil
		}
		return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
	}
	if now, err := look(s.path); err != nil || !same(now.file, s.file) || !same(now.log, s.log) {
		return fmt.Errorf("%w: somebody wrote to %s while it was read without locks: try again", ErrChanged, s.path)
	}
	return nil
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
// is open is closed first: that would drop the locks of what is opened. The writer's
// goroutine calls it.
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
	if r.still, err = look(real); err != nil {
		return nil, err
	}
	if r.still.empty() {
		return db.connectOnly(ctx, real, "&immutable=1")
	}
	if err := r.copyFiles(); err != nil {
		return nil, err
	}
	return db.connectOnly(ctx, filepath.Join(r.copied, filepath.Base(real)), "")
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

// copyFiles copies the file and its log to where SQLite may write.
func (r *reading) copyFiles() (err error) {
	if r.copied, err = os.MkdirTemp("", "fantail-"); err != nil {
		return err
	}
	to := filepath.Join(r.copied, filepath.Base(r.still.path))
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(r.still.path+suffix, to+suffix); err != nil {
			return err
		}
	}
	return r.still.moved()
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// moved is an error if what was read may be of more than one moment.
func (r *reading) moved() error {
	if r == nil || r.still == nil {
		return nil
	}
	return r.still.moved()
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

// Writable is an error if there is a file at path and it, or its directory, can't be
// written.
func Writable(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil //nolint:nilerr // what is missing can be made, or opening it says why not
	}
	for _, p := range []string{filepath.Dir(real), real} {
		if err := writable(p); err != nil {
			return &os.PathError{Op: "write", Path: p, Err: err}
		}
	}
	return nil
}
