package sqlite

import (
	"fmt"
	"strings"
	"time"
)

// hold records which files c, and so every connection, has open.
func (db *DB) hold(c *conn) error {
	if _, err := c.number("SELECT count(*) FROM sqlite_schema"); err != nil { // opens -wal and -shm
		return fmt.Errorf("read its schema: %w", err)
	}
	return db.files.Hold(db.path)
}

// usable is nil while the file can be used.
func (db *DB) usable() error {
	if err := db.stopped.Load(); err != nil {
		return *err
	}
	return nil
}

// examine checks the files. The result may stop the DB.
func (db *DB) examine() error {
	if err := db.usable(); err != nil {
		return err
	}
	if d := db.files.Damage(); d != nil {
		return db.damaged(d)
	}
	return nil
}

// part closes the writer's connection. If the files have changed it leaves the connections open until the process ends:
// closing the last one would copy the log into a file and delete it.
func (db *DB) part() {
	if db.parting = db.examine(); db.parting == nil {
		_ = db.writer.conn.close() // no write is pending on it; DB.Close reports errors of the file
		return
	}
	db.stopped.CompareAndSwap(nil, &db.parting)
}

// damaged returns d as an error. Files that are away may come back: nothing is written until then. Any other damage
// stops the DB: all later calls fail with the same error. The writer must have no open transaction.
func (db *DB) damaged(d *Damage) error {
	if err := db.usable(); err != nil {
		return err
	}
	var stop error
	switch d.Harm {
	case Away:
		return d.Err("nothing is written meanwhile: undo that, or end this program")
	case Index:
		stop = d.Stop("nothing is lost. End this program, and start it again")
	case Log:
		stop = d.Stop(fmt.Sprintf("what it held and %s does not hold yet is lost unless it comes back. "+
			"End this program, put back the log or a backup of both, and start it again", db.path))
	case File:
		said := ""
		if aside := db.moveLog(); len(aside) > 0 {
			said = "its log is now " + strings.Join(aside, ", ") + ". "
		}
		stop = d.Stop(said + "End this program, see which file is to be there, and start it again")
	}
	db.stopped.Store(&stop)
	return stop
}

// settles is how long deleting a directory with its files may take.
const settles = 300 * time.Millisecond

// moveLog renames the log of a missing file, out of the way of the file that is at its path or will be: the next start
// would copy the log into that file.
func (db *DB) moveLog() (names []string) {
	// Another program may be deleting the directory: a new name in it would be in the way.
	time.Sleep(settles)
	return db.files.RenameLog(fmt.Sprintf("%s.old-%s", db.path, db.moment().Format("20060102T150405.000")))
}
