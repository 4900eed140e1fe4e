package sqlite

import (
	"context"
	"path/filepath"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// schema are migrations that make one table.
var schema = fstest.MapFS{
	"migrations/0001_notes.sql": {Data: []byte(`CREATE TABLE notes (text TEXT NOT NULL UNIQUE) STRICT`)},
}

// fresh opens a new database that is closed with the test.
func fresh(t testing.TB) *DB {
	t.Helper()
	return reopen(t, filepath.Join(t.TempDir(), "fantail.db"))
}

func reopen(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, schema, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func write(t testing.TB, db *DB, f func(tx *Tx) error) {
	t.Helper()
	if err := db.Write(context.Background(), "test", f); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, db *DB, f func(rx *Rx) error) {
	t.Helper()
	if err := db.Read(context.Background(), f); err != nil {
		t.Fatal(err)
	}
}

// note adds a note, unless it exists.
func note(tx *Tx, text string) error {
	_, err := tx.Exec(`INSERT INTO notes (text) VALUES (?) ON CONFLICT DO NOTHING`, text)
	return err
}

// notes returns all notes, in the order of their insertion.
func notes(t *testing.T, db *DB) (texts []string) {
	t.Helper()
	read(t, db, func(rx *Rx) error {
		texts = nil
		rows, err := rx.Query(`SELECT text FROM notes ORDER BY rowid`)
		if err != nil {
			return err
		}
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			texts = append(texts, text)
		}
		return rows.Err()
	})
	return texts
}

// noted reports whether the note exists.
func noted(v *View, text string) (ok bool, err error) {
	err = v.QueryRow(`SELECT EXISTS (SELECT 1 FROM notes WHERE text = ?)`, text).Scan(&ok)
	return ok, err
}
