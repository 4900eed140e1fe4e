package tasks_test

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fantail/agents/tasks"
	"fantail/store"
	"fantail/store/storetest"
)

var (
	//go:embed testdata/rows.sql
	rows string
	//go:embed testdata/copies.sql
	copies string
	//go:embed testdata/columns.sql
	columnNames string
)

// opened returns a database with two agents, and a row in each table whose rows are sealed.
func opened(t *testing.T) *store.DB {
	t.Helper()
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for statement := range strings.Lines(rows) {
		write(t, db, statement)
	}
	return db
}

func write(t *testing.T, db *store.DB, statement string, args ...any) {
	t.Helper()
	if err := db.Write(t.Context(), "test", func(tx *store.Tx) error { _, err := tx.Exec(statement, args...); return err }); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func set(t *testing.T, db *store.DB, key, value string) {
	t.Helper()
	if err := db.Write(t.Context(), "test", func(tx *store.Tx) error { return tx.SetSetting(key, value) }); err != nil {
		t.Fatal(err)
	}
}

// keys are the tables and the key of the row in each.
var keys = map[store.Table]any{store.Schedules: int64(1), store.GrantedRules: "bash(make)", store.KeptChecks: "c", store.Settings: "k", store.Dispatchers: "1 claude"}

func sealed(t *testing.T, db *store.DB, k *tasks.LastingSeal, table store.Table, key any) (ok bool) {
	t.Helper()
	if err := db.Read(t.Context(), func(rx *store.Rx) (err error) {
		ok, err = k.Sealed(&rx.View, table, key)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return ok
}

// The seal of a row covers each of its columns, also those that a later schema adds and that hold a value; the row of
// another key, of another table or without a seal has no valid one.
func TestLasting_coversEveryColumn(t *testing.T) {
	db, k := opened(t), tasks.LoadLastingSeal(t.TempDir())
	changed := 0
	for table, key := range keys {
		if sealed(t, db, k, table, key) {
			t.Errorf("%s: sealed by nobody", table)
		}
		if err := db.Write(t.Context(), "test", func(tx *store.Tx) error { return k.Seal(tx, table, key) }); err != nil {
			t.Fatal(err)
		}
		if !sealed(t, db, k, table, key) || sealed(t, db, tasks.LoadLastingSeal(t.TempDir()), table, key) || sealed(t, db, nil, table, key) {
			t.Errorf("%s: its own seal does not hold, or that of another key or of none does", table)
		}
		var columns []string
		if err := db.Read(t.Context(), func(rx *store.Rx) error {
			rows, err := rx.Query(columnNames, string(table))
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var name string
				if err := rows.Scan(&name); err != nil {
					return err
				}
				columns = append(columns, name)
			}
			return rows.Err()
		}); err != nil {
			t.Fatal(err)
		}
		for _, c := range columns {
			if table == store.Schedules && c == "state" { // checked together with when it is due
				continue
			}
			set := fmt.Sprintf(`%[1]s = CASE typeof(%[1]s) WHEN 'text' THEN %[1]s || 'x' ELSE ifnull(%[1]s, 0) + 1 END`, c)
			if c == "sandbox" {
				set = `sandbox = 'off'`
			}
			if err := db.Write(t.Context(), "test", func(tx *store.Tx) error {
				if _, err := tx.Exec(`UPDATE ` + string(table) + ` SET ` + set); err != nil {
					return err
				}
				at := key
				named := columns[0]
				if table == store.Dispatchers {
					named = `agent || ' ' || vendor`
				}
				if err := tx.QueryRow(`SELECT ` + named + ` FROM ` + string(table)).Scan(&at); err != nil { // it may be that one
					return err
				}
				if ok, err := k.Sealed(&tx.View, table, at); err != nil || ok {
					t.Errorf("%s: another %s is sealed: %v, %v", table, c, ok, err)
				}
				changed++
				return errUndone
			}); !errors.Is(err, errUndone) {
				t.Errorf("%s.%s: %v", table, c, err)
			}
		}
	}
	write(t, db, `UPDATE `+string(store.Schedules)+` SET state = 'paused', due_at = NULL`)
	if sealed(t, db, k, store.Schedules, int64(1)) {
		t.Error("another state is sealed")
	}
	if changed < 38 {
		t.Errorf("%d columns were changed", changed)
	}
	t.Logf("%d columns changed one by one", changed+1)
}

var errUndone = errors.New("undone")

// A seal belongs to one row: it is not valid for a copy, or in another table.
func TestLasting_copied(t *testing.T) {
	db, k := opened(t), tasks.LoadLastingSeal(t.TempDir())
	for table, key := range keys {
		if err := db.Write(t.Context(), "test", func(tx *store.Tx) error { return k.Seal(tx, table, key) }); err != nil {
			t.Fatal(err)
		}
	}
	for statement := range strings.Lines(copies) {
		write(t, db, statement)
	}
	for n, r := range []struct {
		store.Table
		key any
	}{{store.Schedules, int64(2)}, {store.GrantedRules, "bash(*)"}, {store.KeptChecks, "c2"}, {store.Settings, "k2"}, {store.Settings, "c"}, {store.Settings, "none"}, {store.Dispatchers, "2 claude"}} {
		if sealed(t, db, k, r.Table, r.key) {
			t.Errorf("%d: %v of %s is sealed", n, r.key, r.Table)
		}
	}
}

// Another process finds the same key, and only its owner can read the file.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	db, k := opened(t), tasks.LoadLastingSeal(dir)
	if err := db.Write(t.Context(), "test", func(tx *store.Tx) error { return k.Seal(tx, store.Settings, "k") }); err != nil {
		t.Fatal(err)
	}
	if again := tasks.LoadLastingSeal(dir); again.Err() != nil || !sealed(t, db, again, store.Settings, "k") {
		t.Errorf("the next start knows no seal: %v", again.Err())
	}
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != 1 || all[0].Name() != tasks.KeyFile {
		t.Fatalf("%v, %v", all, err)
	}
	if i, err := all[0].Info(); err != nil || i.Mode() != 0o600 || i.Size() != 32 {
		t.Errorf("%v, %v", i, err)
	}
}

// Processes that start together in a new workspace have one key: what one seals is valid for all.
func TestLoad_together(t *testing.T) {
	dir, db := t.TempDir(), opened(t)
	keys := make([]*tasks.LastingSeal, 16)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() { keys[i] = tasks.LoadLastingSeal(dir) })
	}
	wg.Wait()
	if err := db.Write(t.Context(), "test", func(tx *store.Tx) error { return keys[0].Seal(tx, store.Settings, "k") }); err != nil {
		t.Fatal(err)
	}
	for i, k := range keys {
		if k.Err() != nil || !sealed(t, db, k, store.Settings, "k") {
			t.Errorf("%d has another key: %v", i, k.Err())
		}
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}

// With a key that can't be used nothing is sealed and nothing counts as sealed, the error names the cause, and the
// file stays as it is; once it can be used the seals are valid as before. A new key accepts none of the old seals.
func TestLoad_broken(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(path string) error
		says  string
	}{
		"short":             {func(p string) error { return os.WriteFile(p, []byte("x"), 0o600) }, "1 bytes, not 32"},
		"empty":             {func(p string) error { return os.WriteFile(p, nil, 0o600) }, "0 bytes, not 32"},
		"long":              {func(p string) error { return os.WriteFile(p, make([]byte, 33), 0o600) }, "33 bytes"},
		"others read it":    {func(p string) error { return os.Chmod(p, 0o644) }, "0644, not 0600"},
		"its group has it":  {func(p string) error { return os.Chmod(p, 0o660) }, "0660, not 0600"},
		"unreadable":        {func(p string) error { return os.Chmod(p, 0) }, "permission denied"},
		"a link":            {func(p string) error { return errors.Join(os.Rename(p, p+".old"), os.Symlink(p+".old", p)) }, "no regular file"},
		"a link to nothing": {func(p string) error { return errors.Join(os.Rename(p, p+".old"), os.Symlink(p+".none", p)) }, "no regular file"},
		"a directory":       {func(p string) error { return errors.Join(os.Rename(p, p+".old"), os.Mkdir(p, 0o700)) }, "no regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, tasks.KeyFile)
			db, k := opened(t), tasks.LoadLastingSeal(dir)
			if err := db.Write(t.Context(), "test", func(tx *store.Tx) error { return k.Seal(tx, store.Settings, "k") }); err != nil {
				t.Fatal(err)
			}
			right, err := os.ReadFile(path)
			if err == nil {
				err = c.spoil(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.ReadFile(path); name == "unreadable" && err == nil {
				t.Skip("this user reads files that nobody may read")
			}
			bad := tasks.LoadLastingSeal(dir)
			if bad.Err() == nil || !strings.Contains(bad.Err().Error(), c.says) || !strings.Contains(bad.Err().Error(), path) || !strings.Contains(bad.Err().Error(), "/confirm") {
				t.Fatalf("it says %v", bad.Err())
			}
			err = db.Write(t.Context(), "test", func(tx *store.Tx) error {
				if ok, err := bad.Sealed(&tx.View, store.Settings, "k"); ok || err == nil {
					t.Errorf("sealed: %v, %v", ok, err)
				}
				return bad.Seal(tx, store.Settings, "k")
			})
			if err == nil {
				t.Error("it seals")
			}
			rows := &tasks.SealedRows{DB: db, Key: bad}
			if said := rows.Brief(t.Context()); !strings.Contains(said, c.says) {
				t.Errorf("at the start it says %q", said)
			}
			if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, right, 0o600)); err != nil {
				t.Fatal(err)
			}
			if again := tasks.LoadLastingSeal(dir); again.Err() != nil || !sealed(t, db, again, store.Settings, "k") {
				t.Errorf("repaired, the seal does not hold: %v", again.Err())
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if other := tasks.LoadLastingSeal(dir); other.Err() != nil || sealed(t, db, other, store.Settings, "k") {
				t.Errorf("with a new key: %v", other.Err())
			}
		})
	}
}

// If no file can be made there is no key, and the error names the cause.
func TestLoad_nowhere(t *testing.T) {
	if k := tasks.LoadLastingSeal(filepath.Join(t.TempDir(), "none")); k.Err() == nil || !strings.Contains(k.Err().Error(), "no such file") {
		t.Errorf("%v", k.Err())
	}
	if err := (*tasks.LastingSeal)(nil).Err(); err != nil {
		t.Errorf("without seals: %v", err)
	}
}

// settings keeps the rows of the table of settings.
type settings struct {
	*tasks.LastingSeal
	confirmed []string
}

func (s *settings) Unsealed(v *store.View) (rows []tasks.SealedRow, err error) {
	for _, key := range []string{"k", "k2"} {
		value, there, err := v.Setting(key)
		if err != nil || !there || value == "" {
			continue
		}
		if ok, err := s.Sealed(v, store.Settings, key); err != nil || ok {
			continue
		}
		rows = append(rows, tasks.SealedRow{Kind: "setting", Name: key, Says: value, Table: store.Settings, Key: key})
	}
	return rows, err
}

func (s *settings) Confirm(_ *store.Tx, r tasks.SealedRow) error {
	s.confirmed = append(s.confirmed, r.Name)
	return nil
}

func (s *settings) Drop(tx *store.Tx, r tasks.SealedRow) error {
	return tx.SetSetting(r.Name, "")
}

// TestRows: a yes seals exactly what was shown, a no deletes it, and a row that changed since then is left as it is.
func TestRows(t *testing.T) {
	db, k := opened(t), tasks.LoadLastingSeal(t.TempDir())
	keeper := &settings{LastingSeal: k}
	var noted []string
	rows := &tasks.SealedRows{DB: db, Key: k, Keepers: []tasks.SealKeeper{keeper}, Note: func(_ context.Context, _ *store.Tx, r tasks.SealedRow, answer string) error {
		noted = append(noted, r.Name+" "+answer)
		return nil
	}}
	set(t, db, "k2", "v")
	if said := rows.Brief(t.Context()); !strings.HasPrefix(said, "2 settings: ") || !strings.Contains(said, "/confirm") {
		t.Errorf("it says %q", said)
	}
	all, err := rows.Waiting(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	set(t, db, "k", "evil")
	if err := rows.Confirm(t.Context(), all...); err == nil || !strings.Contains(err.Error(), "changed since") {
		t.Errorf("a yes to what is another by now: %v", err)
	}
	if sealed(t, db, k, store.Settings, "k") || sealed(t, db, k, store.Settings, "k2") {
		t.Error("it is sealed all the same")
	}
	if err := rows.Drop(t.Context(), all[0]); err == nil {
		t.Error("a no to what is another by now")
	}
	if all, err = rows.Waiting(t.Context()); err != nil || len(all) != 2 || all[0].Says != "evil" {
		t.Fatalf("%v, %v", all, err)
	}
	if err := errors.Join(rows.Drop(t.Context(), all[0]), rows.Confirm(t.Context(), all[1])); err != nil {
		t.Fatal(err)
	}
	if !sealed(t, db, k, store.Settings, "k2") || rows.Brief(t.Context()) != "" || strings.Join(noted[len(noted)-2:], ", ") != "k deleted, k2 confirmed" {
		t.Errorf("%q, %v", rows.Brief(t.Context()), noted)
	}
	if err := rows.Confirm(t.Context(), all[1]); err == nil {
		t.Error("a yes counts twice")
	}
	shut := &tasks.SealedRows{DB: db, Keepers: []tasks.SealKeeper{keeper}}
	if all, err := shut.Waiting(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("where nothing can be written: %v, %v", all, err)
	}
}
