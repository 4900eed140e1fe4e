package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	busyTimeout  = 5 * time.Second
	journalLimit = 8 << 20 // bytes
	smallest     = 512     // bytes of the smallest database; SQLite treats a smaller file as empty and overwrites it
)

// prepare opens the file for [Open], and starts no goroutine. It only writes to the file once it is known to be empty
// or ours.
func prepare(ctx context.Context, path string, o Options, fsys fs.FS) (_ *DB, err error) {
	steps, err := load(fsys)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if strings.ContainsRune(path, 0) {
		return nil, fmt.Errorf("the path contains a NUL byte")
	}
	fresh, err := place(path)
	if err != nil {
		return nil, err
	}
	db := &DB{path: path, schema: len(steps), now: o.Now, trace: o.Trace, traced: o.TraceReads, withhold: o.Withhold}
	if db.now == nil {
		db.now = time.Now
	}
	db.writer.init()
	db.readers.init()
	why := o.ReadOnly
	if w := Writable(path); why == nil && w != nil {
		why = fmt.Errorf("%w: make the file and its directory writable for you, or have XDG_DATA_HOME name another directory", w)
	}
	if why != nil {
		return db, db.openReading(ctx, why)
	}
	connector, err := opener(path)
	if err != nil {
		return nil, err
	}
	db.sql = sql.OpenDB(connector)
	db.sql.SetMaxIdleConns(-1) // a closed connection is not reused
	if err := SettleFiles(ctx, path, busyTimeout); err != nil {
		return nil, errors.Join(err, db.sql.Close())
	}

	c, err := db.connect(ctx, false)
	defer func() {
		if err != nil {
			if c != nil {
				err = errors.Join(err, c.close())
			}
			err = errors.Join(err, db.sql.Close())
		}
	}()
	if err != nil {
		return nil, err
	}
	if fresh {
		// While it is empty; -wal and -shm inherit the mode.
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, err
		}
	}
	version, err := inspect(c, db.schema)
	if err != nil {
		return nil, err
	}
	if version > 0 && version < db.schema && o.Upgrade != nil {
		if err := o.Upgrade(); err != nil {
			return nil, err
		}
	}
	if err := logged(ctx, c); err != nil {
		return nil, err
	}
	if version < db.schema {
		if err := db.migrate(c, steps, version); err != nil {
			return nil, err
		}
	}
	if db.version, err = c.number("PRAGMA data_version"); err != nil {
		return nil, fmt.Errorf("read data_version: %w", err)
	}
	if err := db.hold(c); err != nil {
		return nil, err
	}
	c.trace, c.withhold = db.trace, db.withhold
	db.writer.conn, db.writer.gate.path = c, path
	return db, nil
}

// place makes the file's directory and reports whether the file is missing. It never opens the file. It does not touch
// a log without its file: SQLite would delete it.
func place(path string) (fresh bool, err error) {
	log, _ := os.Stat(path + "-wal") // first: another process may be making both
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return false, errors.New("it is a directory")
	case err == nil && info.Mode().IsRegular() && info.Size() > 0 && info.Size() < smallest:
		return false, fmt.Errorf("%w: it has only %d bytes, move it away", ErrForeign, info.Size())
	case err == nil:
		return false, nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	case log != nil && log.Size() > 0:
		return false, fmt.Errorf("%w: it is missing, and its log %s-wal is there: put the file back beside it, or move the log away to begin anew", ErrChanged, path)
	}
	return true, MakeDir(filepath.Dir(path))
}

// creating makes the file with its first connection. Later connections fail if it is missing: a deleted file must not
// come back empty.
type creating struct {
	driver.Connector // of later connections
	first            driver.Connector
	made             atomic.Bool
}

func opener(path string) (*creating, error) {
	first, err := sqlite.NewConnector(locator(path))
	if err != nil {
		return nil, err
	}
	later, err := sqlite.NewConnector(locator(path) + "&mode=rw")
	return &creating{Connector: later, first: first}, err
}

// Connect implements [driver.Connector].
func (c *creating) Connect(ctx context.Context) (driver.Conn, error) {
	if c.made.CompareAndSwap(false, true) {
		return c.first.Connect(ctx)
	}
	return c.Connector.Connect(ctx)
}

// locator is path as a URI for SQLite. _error_rc prevents stale messages of an earlier failure in an error; _dqs=0
// makes a misspelt column in double quotes an error instead of a string.
func locator(path string) string {
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(path))
	if !strings.HasPrefix(escaped, "/") {
		escaped = "/" + escaped
	}
	return "file://" + escaped + "?_error_rc=1&_dqs=0"
}

// inspect reads the schema's version without writing, and refuses a file that
// is not ours or newer than schema.
func inspect(c *conn, schema int) (version int, err error) {
	if _, err := c.exec("BEGIN"); err != nil {
		return 0, err
	}
	defer func() {
		if _, e := c.exec("COMMIT"); err == nil {
			err = e
		}
	}()
	var ns [3]int64
	for i, q := range []string{"PRAGMA user_version", "PRAGMA application_id", "SELECT EXISTS (SELECT 1 FROM sqlite_schema)"} {
		if ns[i], err = c.number(q); err != nil {
			return 0, fmt.Errorf("read its header: %w", err)
		}
	}
	version = int(ns[0])
	switch {
	case ns[2] == 0 && ns[1] == 0 && version == 0:
		return 0, nil // empty
	case ns[1] != applicationID:
		return 0, fmt.Errorf("%w but another program's: choose another path or move the file away", ErrForeign)
	case version > schema:
		return 0, newer(version, schema)
	}
	return version, nil
}

func newer(version, schema int) error {
	return fmt.Errorf("%w: it has schema %d, this program knows schemas up to %d: update this program, or leave it for the newer one",
		ErrNewer, version, schema)
}

// logged switches the file to write-ahead logging if it is not in that mode. The switch needs exclusive access and
// SQLite doesn't always wait for that, so logged must wait for a process that opens the new file at the same moment.
func logged(ctx context.Context, c *conn) error {
	deadline := time.NewTimer(busyTimeout)
	defer deadline.Stop()
	for {
		var mode string
		err := c.row("PRAGMA journal_mode").Scan(&mode)
		if err == nil && mode != "wal" {
			err = c.row("PRAGMA journal_mode = WAL").Scan(&mode)
		}
		switch {
		case err == nil && mode == "wal":
			return nil
		case err == nil:
			return fmt.Errorf("the file system does not support write-ahead logging (journal mode is %q): choose a local directory", mode)
		case primary(err) != sqlite3.SQLITE_BUSY:
			return fmt.Errorf("switch to write-ahead logging: %w", err)
		}
		pause := time.NewTimer(5 * time.Millisecond)
		select {
		case <-pause.C:
		case <-deadline.C:
			pause.Stop()
			return fmt.Errorf("switch to write-ahead logging: %w", err)
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
}
