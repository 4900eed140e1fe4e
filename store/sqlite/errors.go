package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"fantail/store/files"
)

// Errors of this package, wrapped with their cause and the next step in the text; those of
// changed files are [files.ErrChanged] and [files.ErrStopped].
var (
	ErrNewer   = errors.New("a newer version of this program wrote the database")
	ErrForeign = errors.New("not a Fantail database")
	ErrBusy    = errors.New("another process keeps the database locked")
	ErrFull    = errors.New("the disk is full")
	ErrClosed  = errors.New("the database is closed")
)

// code is the result code of the SQLite error in err's chain; 0: none.
func code(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code()
}

// primary is the first byte of code: what kind of error it is.
func primary(err error) int { return code(err) & 0xff }

func full(err error) error {
	return fmt.Errorf("%w, nothing was written: free some space and try again: %w", ErrFull, err)
}

// explain adds to a SQLite error what it means and what can be done. Other
// errors, and those that were explained before, it returns as they are.
func explain(err error) error {
	for _, known := range []error{ErrNewer, ErrForeign, ErrBusy, ErrFull, files.ErrChanged, ErrReadOnly} {
		if errors.Is(err, known) {
			return err
		}
	}
	if code(err) == sqlite3.SQLITE_IOERR_SHMSIZE { // that file is only made larger
		return full(err)
	}
	switch primary(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w for more than %v: wait for it or end it, then try again: %w", ErrBusy, busyTimeout, err)
	case sqlite3.SQLITE_FULL:
		return full(err)
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: move the file away or put a backup in its place: %w", ErrForeign, err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("the database is damaged: put a backup in its place: %w", err)
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("the database or its directory is read-only: make both writable for you: %w", err)
	case sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("the database can't be opened: see that its directory exists and both are yours: %w", err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("the disk refused to read or write, nothing was written: see the system's log: %w", err)
	}
	return err
}

// undoes reports whether SQLite ends the whole transaction when a statement
// fails with err. What follows would then run outside of any transaction.
func undoes(err error) bool {
	switch primary(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_BUSY,
		sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PROTOCOL:
		return true
	}
	return errors.Is(err, sql.ErrConnDone)
}

// Unique reports whether err says that a unique index refused a row.
func Unique(err error) bool { return code(err) == sqlite3.SQLITE_CONSTRAINT_UNIQUE }
