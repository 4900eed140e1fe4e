//go:build !linux

package sqlite

import "fantail/store/files"

// heal heals nothing: it can't be known here that a deleted file's number was not
// given to another one, so the program must be started again.
func (db *DB) heal(*files.Damage) error { return errHopeless }
