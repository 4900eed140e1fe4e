package store

import (
	"errors"
	"fmt"
)

// ErrChanged is the error of a write or read that came upon files which somebody
// else deleted, replaced or overwrote while they were open. Nothing of that write
// is acknowledged.
var ErrChanged = errors.New("somebody changed the database's files while they were open")

// ErrStopped is the ErrChanged of a database that is not used any more: it has to
// be opened by a new process.
var ErrStopped = fmt.Errorf("%w, and it is not used any more", ErrChanged)

// Stopped reports whether err says that the same DB will never write again.
func Stopped(err error) bool { return errors.Is(err, ErrStopped) || errors.Is(err, ErrClosed) }

// harm is what was done to the files, by what can be done about it.
type harm int

const (
	away        harm = iota + 1 // the file is elsewhere, has a second name or can't be looked at: it may come back
	index                       // -shm is gone or another: SQLite makes a new one out of -wal
	journal                     // -wal is gone or another: what it held is in the one that is still open
	deleted                     // the file has no name any more: all of it is in what is still open
	replaced                    // another file has the name
	overwritten                 // the content of the file or of -wal is not what SQLite wrote
)

// damage is one difference between the files SQLite has open and what their
// paths lead to.
type damage struct {
	harm harm
	file string // its path
	what string // what happened to it
}

// err is the damage as an error. done says what became of it and what to do next.
func (d *damage) err(done string) error {
	return fmt.Errorf("%w: %s %s: %s", ErrChanged, d.file, d.what, done)
}

// stop is err for a database that is not used any more.
func (d *damage) stop(done string) error {
	return fmt.Errorf("%w: %s %s: %s", ErrStopped, d.file, d.what, done)
}
