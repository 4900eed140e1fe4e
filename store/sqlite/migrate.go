package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// applicationID stands in the file's header and says whose it is.
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

// migrate runs the scripts above version, each in a transaction of its own that
// first looks whether another process has just done the same.
func (db *DB) migrate(c *conn, scripts []string, version int) error {
	if version > 0 {
		if err := db.backup(c, version); err != nil {
			return fmt.Errorf("back up before migrating: %w", err)
		}
	}
	if version == 0 { // a new file has the whole schema or none, whoever looks meanwhile
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

// step runs a script that leads from one version to another, if the file still has
// the first.
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

// backup writes a copy beside the file, named after the version it has.
func (db *DB) backup(c *conn, version int) error {
	name := fmt.Sprintf("%s.schema%d-%s.bak", db.path, version, db.moment().Format("20060102T150405.000"))
	return vacuumInto(c, name)
}
