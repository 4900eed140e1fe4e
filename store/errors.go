package store

import (
	"database/sql"
	"errors"

	"fantail/store/files"
	"fantail/store/sqlite"
)

// Errors that callers tell apart, wrapped with their cause and the next step in the text.
var (
	// ErrNoRows is returned by scans that found nothing, and by changes to a row that does not exist.
	ErrNoRows = sql.ErrNoRows

	ErrTaken = errors.New("the name is taken")

	ErrBusy     = sqlite.ErrBusy     // another process keeps the file locked
	ErrFull     = sqlite.ErrFull     // nothing was written
	ErrReadOnly = sqlite.ErrReadOnly // of each write to a file that can only be read here
	ErrChanged  = files.ErrChanged   // somebody changed the files while they were open; see Stopped
)

// Stopped reports whether err says that the same DB will never write again.
func Stopped(err error) bool {
	return errors.Is(err, files.ErrStopped) || errors.Is(err, sqlite.ErrClosed)
}

// Writable is an error if there is a file at path and it, or its directory, can't be
// written.
func Writable(path string) error { return files.Writable(path) }
