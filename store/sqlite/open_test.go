package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// bytesOf reads a database file that is not open.
func bytesOf(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func closed(t *testing.T, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOpen_makesItPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	db := reopen(t, filepath.Join(dir, "fantail.db"))
	write(t, db, set("x"))
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Dir(dir): 0o700, db.Path(): 0o600, db.Path() + "-wal": 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: mode %o, want %o", path, got, want)
		}
	}
}

func TestOpen_setsTheConnectionUp(t *testing.T) {
	db := fresh(t)
	pragmas := func(c *conn) (got string) {
		for _, p := range []string{"busy_timeout", "foreign_keys", "synchronous", "query_only"} {
			n, err := c.number("PRAGMA " + p)
			if err != nil {
				t.Error(err)
			}
			got += fmt.Sprintf("%s %d ", p, n)
		}
		return got
	}
	_ = db.onWriter(context.Background(), "look", func(c *conn) error {
		if got := pragmas(c); got != "busy_timeout 5000 foreign_keys 1 synchronous 2 query_only 0 " {
			t.Errorf("writer: %s", got)
		}
		var mode string
		if err := c.row("PRAGMA journal_mode").Scan(&mode); err != nil || mode != "wal" {
			t.Errorf("journal mode %q, %v", mode, err)
		}
		return nil
	})
	read(t, db, func(rx *Rx) error {
		if got := pragmas(rx.c); !strings.Contains(got, "busy_timeout 5000") || !strings.Contains(got, "query_only 1") {
			t.Errorf("reader: %s", got)
		}
		return nil
	})
}

func TestOpen_pathsOfAllKinds(t *testing.T) {
	for _, name := range []string{"a b", "q?mode=ro", "h#h", "p%20%", "ünï 🐦", "new\nline", "'quote\"", strings.Repeat("l", 200), "file:x"} {
		path := filepath.Join(t.TempDir(), name, "fantail.db")
		db := reopen(t, path)
		write(t, db, set(name))
		closed(t, db)
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%q: the file is elsewhere: %v", name, err)
		}
		if got := notes(t, reopen(t, path)); len(got) != 1 || got[0] != name {
			t.Errorf("%q: kept %q", name, got)
		}
	}
	if _, err := Open(t.Context(), "a\x00b", schema, Options{}); err == nil || !strings.Contains(err.Error(), "NUL") {
		t.Errorf("NUL: %v", err)
	}
	if _, err := Open(t.Context(), t.TempDir(), schema, Options{}); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("directory: %v", err)
	}
}

func TestOpen_leavesWhatIsNotOursAlone(t *testing.T) {
	dir := t.TempDir()
	newer := filepath.Join(dir, "newer")
	db := reopen(t, newer)
	_ = db.onWriter(context.Background(), "age", func(c *conn) error { _, err := c.exec("PRAGMA user_version = 7"); return err })
	closed(t, db)
	other := filepath.Join(dir, "other")
	db = reopen(t, other)
	_ = db.onWriter(context.Background(), "age", func(c *conn) error { _, err := c.exec("PRAGMA application_id = 1"); return err })
	closed(t, db)
	unversioned := filepath.Join(dir, "unversioned")
	db = reopen(t, unversioned)
	_ = db.onWriter(context.Background(), "age", func(c *conn) error {
		_, err := c.c.ExecContext(context.Background(), "PRAGMA application_id = 0; PRAGMA user_version = 0")
		return err
	})
	closed(t, db)
	for name, content := range map[string]string{
		"text": "Dear diary,\n" + strings.Repeat("today ", 500), "short": "x", "zeros": strings.Repeat("\x00", 4096),
		"header": "SQLite format 3\x00" + strings.Repeat("\xff", 5000),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spoilt := bytesOf(t, newer)
	copy(spoilt, "garbage!")
	if err := os.WriteFile(filepath.Join(dir, "spoilt"), spoilt, 0o600); err != nil {
		t.Fatal(err)
	}

	for name, want := range map[string]error{
		"newer": ErrNewer, "other": ErrForeign, "unversioned": ErrForeign, "text": ErrForeign, "short": ErrForeign,
		"zeros": ErrForeign, "header": ErrForeign, "spoilt": ErrForeign,
	} {
		path := filepath.Join(dir, name)
		before := bytesOf(t, path)
		db, err := Open(t.Context(), path, schema, Options{})
		if err == nil {
			closed(t, db)
		}
		if !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if !bytes.Equal(before, bytesOf(t, path)) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	_, err := Open(t.Context(), newer, schema, Options{})
	if s := fmt.Sprint(err); !strings.Contains(s, "schema 7") || !strings.Contains(s, "up to 1") || !strings.Contains(s, "update") {
		t.Errorf("newer: %q names both versions and the next step", s)
	}
}

func TestOpen_anEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fantail.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, reopen(t, path), set("x"))
}

func TestOpen_manyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fantail.db")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			db, err := Open(context.Background(), path, schema, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Write(context.Background(), "x", set(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := notes(t, reopen(t, path)); len(got) != 8 {
		t.Errorf("kept %q", got)
	}
}

func TestLoad_wantsNumbersWithoutGap(t *testing.T) {
	if _, err := load(fstest.MapFS{"migrations/0001_a.sql": {}, "migrations/0003_b.sql": {}}); err == nil {
		t.Error("a gap is fine")
	}
}

func TestOpen_whenTheDirectoryIsReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "fantail.db"), schema, Options{}); err == nil || !strings.Contains(err.Error(), "yours") {
		t.Errorf("%v", err)
	}
}
