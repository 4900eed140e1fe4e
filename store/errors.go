package store

import (
	"database/sql"
	"errors"

	"fantail/store/sqlite"
)

// Errors that callers distinguish, wrapped with their cause and the next step in the text.
var (
	// ErrNoRows is returned by scans that found nothing, and by changes to a row that does not exist.
	ErrNoRows = sql.ErrNoRows

	ErrTaken = errors.New("the name is taken")

	ErrBusy     = sqlite.ErrBusy     // another process holds the lock
	ErrFull     = sqlite.ErrFull     // nothing was written
	ErrReadOnly = sqlite.ErrReadOnly // of each write to a file that is only readable here
	ErrChanged  = sqlite.ErrChanged  // another program changed the open files; see Stopped
)

// Stopped reports whether err says that this DB will never write again.
func Stopped(err error) bool {
	return errors.Is(err, sqlite.ErrStopped) || errors.Is(err, sqlite.ErrClosed)
}

// Writable is an error if there is a file at path and it, or its directory, can't be
// written.
func Writable(path string) error { return sqlite.Writable(path) }
