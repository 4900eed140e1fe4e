package files

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

// Harm is what was done to the files, by what can be done about it.
type Harm int

const (
	Away        Harm = iota + 1 // the file is elsewhere, has a second name or can't be looked at: it may come back
	Index                       // -shm is gone or another: SQLite makes a new one out of -wal
	Journal                     // -wal is gone or another: what it held is in the one that is still open
	Deleted                     // the file has no name any more: all of it is in what is still open
	Replaced                    // another file has the name
	Overwritten                 // the content of the file or of -wal is not what SQLite wrote
)

// Damage is one difference between the files SQLite has open and what their
// paths lead to.
type Damage struct {
	Harm Harm
	File string // its path
	what string // what happened to it
}

// Err is the damage as an error. done says what became of it and what to do next.
func (d *Damage) Err(done string) error {
	return fmt.Errorf("%w: %s %s: %s", ErrChanged, d.File, d.what, done)
}

// Stop is Err for a database that is not used any more.
func (d *Damage) Stop(done string) error {
	return fmt.Errorf("%w: %s %s: %s", ErrStopped, d.File, d.what, done)
}
