package store

import (
	"context"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fresh opens a new database that is closed with the test.
func fresh(t testing.TB) *DB {
	t.Helper()
	return reopen(t, filepath.Join(t.TempDir(), "fantail.db"))
}

func reopen(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, Options{})
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

// agent adds an agent and returns its id.
func agent(t testing.TB, db *DB, name string) (id int64) {
	t.Helper()
	write(t, db, func(tx *Tx) (err error) {
		id, err = tx.AddAgent(Agent{Name: name, Kind: "helper", Model: "builtin", State: "idle"})
		return err
	})
	return id
}
