package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"

	"fantail/store/files"
)

// heal makes the paths lead to all that was acknowledged, if that is certain, and
// opens the files anew.
func (db *DB) heal(d *files.Damage) error {
	switch d.Harm {
	case files.Index:
		return db.reopen()
	case files.Journal:
		if err := db.putBack(); err != nil {
			return fmt.Errorf("its content could not be put back: %w", err)
		}
		return db.reopen()
	case files.Deleted:
		if err := db.restore(); err != nil {
			return fmt.Errorf("it could not be written anew: %w", err)
		}
		return db.reopen()
	}
	return errHopeless
}

// reopen closes all connections without changing any file and opens the
// database anew.
func (db *DB) reopen() error {
	resume, ok := db.readers.pause(busyTimeout)
	if !ok {
		return errors.New("a read does not end")
	}
	defer resume()
	lift, err := db.files.Fence()
	if err != nil {
		return err
	}
	db.readers.close()
	if err = db.writer.conn.close(); err != nil {
		err = fmt.Errorf("close the old files: %w", err)
	}
	db.writer.conn = nil
	lift()
	db.writer.gate.close() // its files may be others as well
	if err != nil {
		return err
	}
	if err := db.renew(); err != nil {
		return fmt.Errorf("open it again: %w", err)
	}
	return nil
}

// putBack gives the log its name back.
func (db *DB) putBack() (err error) {
	c := db.writer.conn
	if _, err := c.exec("BEGIN IMMEDIATE"); err != nil { // the log is whole and stays as it is
		return err
	}
	defer func() { err = errors.Join(err, c.rollback()) }()
	return db.files.PutBack(db.beside(db.files.Log(), "copy"))
}

// restore writes a deleted file anew under its name, with all that is in the one
// that is still open.
func (db *DB) restore() error {
	real := db.files.Real()
	if err := files.MakeDir(filepath.Dir(real)); err != nil {
		return err
	}
	name := db.beside(real, "restored")
	if err := db.copyOut(name); err != nil {
		return err
	}
	return db.files.Replace(name, db.beside(real, "aside"))
}
