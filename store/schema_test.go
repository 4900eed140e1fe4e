package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fantail/store/sqlite"
)

func closed(t *testing.T, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// number is the one number that query returns.
func number(rx *Rx, query string) (n int, err error) {
	err = rx.QueryRow(query).Scan(&n)
	return n, err
}

// ours is how many migrations there are.
func ours(t *testing.T) int {
	t.Helper()
	all, err := fs.Glob(ground, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// only returns the first n migrations.
func only(t *testing.T, n int) fstest.MapFS {
	t.Helper()
	names, err := fs.Glob(ground, "migrations/*.sql")
	if err != nil || len(names) < n {
		t.Fatal(names, err)
	}
	some := fstest.MapFS{}
	for _, name := range names[:n] {
		b, err := fs.ReadFile(ground, name)
		if err != nil {
			t.Fatal(err)
		}
		some[name] = &fstest.MapFile{Data: b}
	}
	return some
}

// earlier makes a file of the n-th schema and runs those statements in it.
func earlier(t *testing.T, n int, statements ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "fantail.db")
	old, err := open(t.Context(), path, Options{}, only(t, n))
	if err != nil {
		t.Fatal(err)
	}
	write(t, old, func(tx *Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(s); err != nil {
				return err
			}
		}
		return nil
	})
	closed(t, old)
	return path
}

func TestOpen_keepsWhatTheFirstSchemaHeld(t *testing.T) {
	path := earlier(t, 1,
		`INSERT INTO agents (name, kind, model, state, created_at) VALUES ('main', 'main', 'm', 'idle', 1)`,
		`INSERT INTO turns (agent, conversation, kind, started_at) VALUES (1, 1, 'agent', 1)`,
		`INSERT INTO tasks (queue, name, prompt, model, deliver, created_at) VALUES (1, 'typed', 'x', 'm', 'hold', 1)`,
		`INSERT INTO tasks (queue, name, prompt, model, deliver, spawned_by, created_at) VALUES (1, 'dispatched', 'x', 'm', 'next', 1, 1)`,
	)
	read(t, reopen(t, path), func(rx *Rx) error {
		ts, err := rx.QueuedTasks()
		if err != nil || len(ts) != 2 || ts[0].Kind != "prompt" || ts[0].Origin != "human" || ts[1].Origin != "agent" || ts[1].Resumes != 0 {
			t.Errorf("%+v, %v", ts, err)
		}
		a, ok, err := rx.AgentByName("main")
		if !ok || err != nil || a.Branch != 0 {
			t.Errorf("%+v, %v, %v", a, ok, err)
		}
		return nil
	})
}

// Mail of the second schema is counted by lanes, is in its threads and can be searched once the file is open.
func TestOpen_keepsTheMailOfTheSecondSchema(t *testing.T) {
	path := earlier(t, 2,
		`INSERT INTO agents (name, kind, model, state, created_at) VALUES ('main', 'main', 'm', 'idle', 1)`,
		`INSERT INTO messages (recipient, sender_name, kind, deliver, priority, tags, body, in_reply_to, created_at) VALUES
			(1, 'ci', 'mail', 'hold', 'urgent', '["red","build"]', CAST('the build is on fire' AS BLOB), NULL, 1),
			(1, 'ci', 'mail', 'hold', 'normal', 'spoilt', x'ff00fe41', 1, 1), (1, 'lint', 'failure', 'hold', 'normal', '[]', x'', 2, 1),
			(1, 'lint', 'result', 'hold', 'normal', '[]', CAST('fine' AS BLOB), NULL, 1)`,
		`INSERT INTO counts (recipient, pending, urgent) VALUES (1, 4, 1)`,
	)
	db := reopen(t, path)
	write(t, db, func(tx *Tx) error { // as package inbox does
		_, err := tx.Exec(`INSERT INTO words (rowid, place, sender, subject, tags, body, error)
			SELECT id, place, sender, subject, tags, body, error FROM message_words`)
		return err
	})
	read(t, db, func(rx *Rx) error {
		for query, want := range map[string]string{
			`SELECT group_concat(lane, ' ') FROM (SELECT lane FROM messages ORDER BY id)`:                         "needs fyi failed done",
			`SELECT group_concat(ifnull(thread, 0), ' ') FROM (SELECT thread FROM messages ORDER BY id)`:          "0 1 1 0",
			`SELECT concat_ws(' ', pending, urgent, needs, failed, done, asks) FROM counts`:                       "4 1 1 1 1 0",
			`SELECT group_concat(rowid, ' ') FROM (SELECT rowid FROM words WHERE words MATCH 'fire OR build')`:    "1",
			`SELECT group_concat(rowid, ' ') FROM (SELECT rowid FROM words WHERE words MATCH 'lint')`:             "3 4",
			`SELECT group_concat(rowid, ' ') FROM (SELECT rowid FROM words WHERE words MATCH 'place : r1failed')`: "3",
			`SELECT message FROM words_upto`:                                            "0",
			`SELECT message FROM counts_upto`:                                           "4",
			`SELECT concat_ws(' ', taken, aside, messages) FROM counts, unused_numbers`: "0 0 0",
		} {
			var got string
			if err := rx.QueryRow(query).Scan(&got); err != nil || got != want {
				t.Errorf("%s: %q, %v; want %q", query, got, err, want)
			}
		}
		return nil
	})
}

// Every message of many long threads finds its thread.
func TestOpen_threadsOfALargeInboxOfTheSecondSchema(t *testing.T) {
	const messages, threads = 6_000, 300
	path := earlier(t, 2,
		`INSERT INTO agents (name, kind, model, state, created_at) VALUES ('main', 'main', 'm', 'idle', 1)`,
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			INSERT INTO messages (id, recipient, sender_name, kind, deliver, body, in_reply_to, created_at)
			SELECT i, 1, 'ci', 'mail', 'hold', CAST('x' AS BLOB), iif(i > %d, i - %[2]d, NULL), 1 FROM n`, messages, threads),
	)
	db := reopen(t, path)
	read(t, db, func(rx *Rx) error {
		var astray int
		err := rx.QueryRow(fmt.Sprintf(`SELECT count(*) FROM messages WHERE ifnull(thread, id) <> (id - 1) %% %d + 1`, threads)).Scan(&astray)
		if err != nil || astray > 0 {
			t.Errorf("%d messages stand in another thread, %v", astray, err)
		}
		return nil
	})
}

// TestOpen_sealsNothingOfTheEighteenthSchema: rows there that start or allow something have no seal, and due schedules
// are held with all their columns.
func TestOpen_sealsNothingOfTheEighteenthSchema(t *testing.T) {
	path := earlier(t, 18,
		`INSERT INTO agents (name, kind, model, state, created_at) VALUES ('main', 'main', 'm', 'idle', 1)`,
		`INSERT INTO schedules (name, owner, origin, kind, text, deliver, priority, said, every_ms, state, due_at, runs, created_at) VALUES
			('on', 1, 'human', 'command', 'make', 'next', 'normal', 'every 5m', 300000, 'active', 7, 3, 1),
			('off', 1, 'human', 'command', 'make', 'next', 'normal', 'every 5m', 300000, 'paused', NULL, 3, 1),
			('gone', 1, 'human', 'command', 'make', 'next', 'normal', 'every 5m', 300000, 'ended', NULL, 3, 1)`,
		`INSERT INTO grants (rule, created_at) VALUES ('bash(make)', 1)`, `INSERT INTO checks (name, argv, created_at) VALUES ('c', '["make"]', 1)`,
		`INSERT INTO settings (key, value) VALUES ('k', 'v')`, `INSERT INTO dispatchers (agent, vendor) VALUES (1, 'claude')`,
	)
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, db)
	if err := db.Read(t.Context(), func(rx *Rx) error {
		for query, want := range map[string]int{
			`SELECT count(*) FROM schedules WHERE name = 'on' AND state = 'held' AND due_at IS NULL AND runs = 3 AND text = 'make' AND every_ms = 300000 AND seal = ''`: 1,
			`SELECT count(*) FROM schedules WHERE state = 'active'`:                                                       0,
			`SELECT count(*) FROM schedules WHERE name = 'off' AND state = 'paused' OR name = 'gone' AND state = 'ended'`: 2,
			`SELECT count(*) FROM grants WHERE seal = ''`:                                                                 1,
			`SELECT count(*) FROM checks WHERE seal = ''`:                                                                 1,
			`SELECT count(*) FROM settings WHERE seal = ''`:                                                               1,
			`SELECT count(*) FROM dispatchers WHERE seal = ''`:                                                            1,
		} {
			if n, err := number(rx, query); err != nil || n != want {
				t.Errorf("%s: %d, %v", query, n, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A file of an older schema is unchanged if it may not be migrated; one of this schema, and a new one, are opened
// without the question.
func TestOpen_asksBeforeItMigrates(t *testing.T) {
	path := earlier(t, 2)
	no := errors.New("no")
	refuses := Options{Upgrade: func() error { return no }}
	if _, err := Open(t.Context(), path, refuses); !errors.Is(err, no) {
		t.Errorf("refused: %v", err)
	}
	old, err := open(t.Context(), path, Options{}, only(t, 2))
	if err != nil {
		t.Fatalf("the older program beside it: %v", err)
	}
	closed(t, old)
	closed(t, reopen(t, path))
	for _, path := range []string{path, filepath.Join(t.TempDir(), "fantail.db")} {
		db, err := Open(t.Context(), path, refuses)
		if err != nil {
			t.Fatal(err)
		}
		closed(t, db)
	}
}

// migrations are ours and then the scripts.
func migrations(t *testing.T, scripts ...string) fs.FS {
	t.Helper()
	all := only(t, ours(t))
	for i, s := range scripts {
		all[fmt.Sprintf("migrations/%04d_more.sql", ours(t)+i+1)] = &fstest.MapFile{Data: []byte(s)}
	}
	return all
}

func backups(t *testing.T, path string) []string {
	t.Helper()
	names, err := filepath.Glob(path + ".*.bak")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestOpen_migrates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fantail.db")
	db := reopen(t, path)
	agent(t, db, "main")
	closed(t, db)
	if got := backups(t, path); len(got) != 0 {
		t.Errorf("a new database was backed up: %q", got)
	}

	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	steps := migrations(t, `ALTER TABLE agents ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'`, `CREATE TABLE more (x INTEGER) STRICT`)
	db, err := open(t.Context(), path, Options{Now: func() time.Time { return at }}, steps)
	if err != nil {
		t.Fatal(err)
	}
	read(t, db, func(rx *Rx) error {
		var name, colour string
		if err := rx.QueryRow(`SELECT name, colour FROM agents`).Scan(&name, &colour); err != nil || name != "main" || colour != "red" {
			t.Errorf("%s %s %v", name, colour, err)
		}
		if n, err := number(rx, "PRAGMA user_version"); n != ours(t)+2 || err != nil {
			t.Errorf("schema %d, %v", n, err)
		}
		return nil
	})
	closed(t, db)

	names := backups(t, path)
	if len(names) != 1 || !strings.Contains(names[0], fmt.Sprintf(".schema%d-20260304T050607", ours(t))) {
		t.Fatalf("backups %q", names)
	}
	if info, err := os.Stat(names[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("backup: %v, %v", info.Mode(), err)
	}
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, sqlite.ErrNewer) {
		t.Errorf("the older program opens it: %v", err)
	}
	read(t, reopen(t, names[0]), func(rx *Rx) error {
		if as, err := rx.Agents(); err != nil || len(as) != 1 {
			t.Errorf("backup holds %v, %v", as, err)
		}
		return nil
	})
}

func TestOpen_whenAMigrationFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fantail.db")
	db := reopen(t, path)
	agent(t, db, "main")
	closed(t, db)
	_, err := open(t.Context(), path, Options{}, migrations(t, `CREATE TABLE good (x)`, `CREATE TABLE half (x); CREATE TABLE broken (`))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("migrate to schema %d", ours(t)+2)) {
		t.Errorf("%v", err)
	}
	db, err = open(t.Context(), path, Options{}, migrations(t, `CREATE TABLE good (x)`))
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, db)
	read(t, db, func(rx *Rx) error {
		if n, err := number(rx, `SELECT count(*) FROM sqlite_schema WHERE name IN ('good', 'half')`); n != 1 || err != nil {
			t.Errorf("%d tables, %v: the good step stays, the broken one leaves nothing", n, err)
		}
		return nil
	})
	if len(backups(t, path)) != 1 {
		t.Error("no backup")
	}
}
