package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Errors of this package, wrapped with their cause and the next step in the text; those of changed files are
// [ErrChanged] and [ErrStopped].
var (
	ErrNewer   = errors.New("a newer version of this program wrote the database")
	ErrForeign = errors.New("not a Fantail database")
	ErrBusy    = errors.New("another process keeps the database locked")
	ErrFull    = errors.New("the disk is full")
	ErrMemory  = errors.New("the program has no memory left")
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

// primary is the first byte of code: the kind of the error.
func primary(err error) int { return code(err) & 0xff }

func full(err error) error {
	return fmt.Errorf("%w, nothing was written: free some space and try again: %w", ErrFull, err)
}

// explain adds to a SQLite error its meaning and what can be done. It returns other errors, and those explained before,
// unchanged.
func explain(err error) error {
	for _, known := range []error{ErrNewer, ErrForeign, ErrBusy, ErrFull, ErrMemory, ErrChanged, ErrReadOnly} {
		if errors.Is(err, known) {
			return err
		}
	}
	if code(err) == sqlite3.SQLITE_IOERR_SHMSIZE { // that file only grows
		return full(err)
	}
	if starved(err) {
		return fmt.Errorf("%w: end other programs or let it have more (ulimit -d, ulimit -v), then try again: %w", ErrMemory, err)
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

// starved reports whether SQLite or its driver could not allocate memory. The driver says so only in words ("CString:
// cannot allocate 262145 bytes").
func starved(err error) bool {
	return err != nil && (primary(err) == sqlite3.SQLITE_NOMEM || code(err) == 0 && strings.Contains(err.Error(), ": cannot allocate "))
}

// undoes reports whether SQLite ends the whole transaction when a statement fails with err. Later statements would then
// run outside of any transaction.
func undoes(err error) bool {
	switch primary(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_BUSY,
		sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PROTOCOL:
		return true
	}
	return errors.Is(err, sql.ErrConnDone)
}

// Unique reports whether err is a violation of a unique index.
func Unique(err error) bool { return code(err) == sqlite3.SQLITE_CONSTRAINT_UNIQUE }
