package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"fantail/store/files"
)

// hold notes which files c, and so every connection, has open.
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

// examine looks at the files and mends what it finds.
func (db *DB) examine() error {
	if err := db.usable(); err != nil {
		return err
	}
	if d := db.files.Damage(); d != nil {
		return db.mend(d, nil, "")
	}
	return nil
}

// calm has the writer examine the files if anything about them changed.
func (db *DB) calm(ctx context.Context) error {
	if err := db.usable(); err != nil {
		return err
	}
	if db.files.Calm() || inWrite() {
		return nil
	}
	err := db.onWriter(ctx, "look at the files", func(*conn) error { return nil })
	if errors.Is(err, ErrClosed) {
		return nil // the reader's own rules say whether it may still read
	}
	return err
}

// part ends the writer's connection. Where the files are not what they were,
// connections end with the process instead: to close the last one would copy the
// log into a file and delete it.
func (db *DB) part() {
	db.parting = db.examine()
	d := db.files.Damage()
	if d != nil && d.Harm == files.Away && db.usable() == nil {
		// The file without its log beside it lacks what is only in that.
		if _, err := os.Lstat(db.files.Log()); err == nil {
			name := db.beside(db.files.Real(), "saved")
			if err := db.copyOut(name); err == nil {
				db.parting = d.Err("all that was acknowledged here is in " + name)
			}
		}
		db.stopped.Store(&db.parting)
	}
	if d != nil || db.usable() != nil {
		return
	}
	_ = db.writer.conn.close() // nothing is pending on it; DB.Close reports what concerns the file
}

// undone is what becomes of a write for which mended files were too late.
const undone = "; this write was not done, try it again"

// mend saves what d would lose, has the files be used again where that is safe,
// and returns d as an error. Where it is not, the DB is stopped: all that comes
// later fails with the same error. No transaction of the writer is open; rolled
// is why the last one could not be rolled back, and also is added where the files were
// mended.
func (db *DB) mend(d *files.Damage, rolled error, also string) error {
	if d.Harm == files.Away {
		return d.Err("nothing is written meanwhile: undo that, or end this program")
	}
	var failed error
	if rolled != nil {
		failed = fmt.Errorf("roll back: %w", rolled)
	} else if failed = db.heal(d); failed == nil {
		return d.Err("nothing that was acknowledged is lost, and the database is in use again" + also)
	}
	saved, err := db.save(d)
	if err != nil {
		saved = fmt.Sprintf("what it held could not be saved (%v)", err)
	}
	done := saved + ". End this program, see which file is to stand there, and start it again"
	if !errors.Is(failed, errHopeless) {
		done = failed.Error() + "; " + done
	}
	stop := d.Stop(done)
	db.stopped.Store(&stop)
	return stop
}

// errHopeless says that this kind of harm can't be healed.
var errHopeless = errors.New("the file is another one now")

// copyOut writes all that the writer sees into a new file beside the database
// and brings it to disk.
func (db *DB) copyOut(name string) error {
	c := db.writer.conn
	if c == nil {
		return errors.New("no connection is left")
	}
	return vacuumInto(c, name)
}

// vacuumInto writes a copy of c's database. The file is made empty first: SQLite
// would give it the default mode.
func vacuumInto(c *conn, name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if _, err := c.c.ExecContext(context.Background(), "VACUUM INTO ?", name); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	f, err = os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// beside is the name of a new file of this moment beside the database.
func (db *DB) beside(real, what string) string {
	return fmt.Sprintf("%s.%s-%s", real, what, db.moment().Format("20060102T150405.000"))
}

// save keeps what is only in the files that are still open, and takes the log of
// the old file out of the way of the new one. It returns a sentence about it.
func (db *DB) save(d *files.Damage) (string, error) {
	real := db.files.Real()
	var said []string
	if d.Harm == files.Overwritten && d.File == db.path {
		said = append(said, "what it held is overwritten")
	} else {
		name := db.beside(real, "saved")
		if err := db.copyOut(name); err != nil {
			return "", err
		}
		if d.Harm == files.Overwritten {
			said = append(said, "what of it could still be read is in "+name)
		} else {
			said = append(said, "all that was acknowledged here is in "+name)
		}
	}
	if d.File == db.path {
		for _, aside := range db.files.SetAside(db.beside(real, "aside")) {
			said = append(said, "its log is now "+aside)
		}
	}
	return strings.Join(said, ", "), nil
}

// renew opens the database anew after all connections were closed.
func (db *DB) renew() error {
	w := &db.writer
	c, err := db.connect(context.Background(), false)
	if err != nil {
		return err
	}
	version, err := inspect(c, db.schema)
	if err == nil && version != db.schema {
		err = fmt.Errorf("%w: its schema is %d", ErrForeign, version)
	}
	if err == nil {
		err = logged(context.Background(), c)
	}
	if err == nil {
		err = quickCheck(c)
	}
	if err == nil {
		err = db.hold(c)
	}
	if err != nil {
		return errors.Join(err, c.close())
	}
	c.trace, c.withhold = db.trace, db.withhold
	w.conn, db.version = c, -1
	return nil
}

// quickCheck is an error if the file is damaged.
func quickCheck(c *conn) error {
	var said string
	if err := c.row("PRAGMA quick_check(1)").Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		return fmt.Errorf("the database is damaged: %s", said)
	}
	return nil
}
