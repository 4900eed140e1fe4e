package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// applicationID is in the header of each Fantail database.
const applicationID = 0x46616e74

// load returns the scripts of fsys, migrations/NNNN_name.sql, in the order of
// their numbers, which count from 1 without a gap.
func load(fsys fs.FS) ([]string, error) {
	names, err := fs.Glob(fsys, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	scripts := make([]string, len(names))
	for i, name := range names {
		base := path.Base(name)
		if n, err := strconv.Atoi(base[:min(4, len(base))]); err != nil || n != i+1 {
			return nil, fmt.Errorf("migration %s: want number %04d", base, i+1)
		}
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		scripts[i] = string(b)
	}
	return scripts, nil
}

// migrate runs the scripts above version, each in its own transaction, which first checks whether another process has
// done the same.
func (db *DB) migrate(c *conn, scripts []string, version int) error {
	if version > 0 {
		if err := db.backup(c, version); err != nil {
			return fmt.Errorf("back up before migrating: %w", err)
		}
	}
	if version == 0 { // other processes see a new file with the whole schema or none
		err := step(c, strings.Join(scripts, "\n"), 0, len(scripts))
		var now int64
		if err == nil {
			now, err = c.number("PRAGMA user_version")
		}
		if err != nil {
			return fmt.Errorf("make schema %d: %w", len(scripts), errors.Join(err, c.rollback()))
		}
		version = int(now)
	}
	for i := version; i < len(scripts); i++ {
		if err := step(c, scripts[i], i, i+1); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", i+1, errors.Join(err, c.rollback()))
		}
	}
	return nil
}

// step runs a script that leads from one version to the next, if the file still has the old one.
func step(c *conn, script string, from, to int) error {
	if _, err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	version, err := c.number("PRAGMA user_version")
	if err != nil {
		return err
	}
	if version == int64(from) {
		if _, err := c.c.ExecContext(context.Background(), script); err != nil {
			return err
		}
		marks := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, to)
		if _, err := c.c.ExecContext(context.Background(), marks); err != nil {
			return err
		}
	}
	_, err = c.exec("COMMIT")
	return err
}

// backup writes a copy next to the file, named after its schema version.
func (db *DB) backup(c *conn, version int) error {
	name := fmt.Sprintf("%s.schema%d-%s.bak", db.path, version, db.moment().Format("20060102T150405.000"))
	return vacuumInto(c, name)
}

// vacuumInto writes a copy of c's database. It creates the file first: SQLite would create it with the default mode.
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
