package inbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"fantail/store"
	"fantail/store/storetest"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		os.Exit(child(job))
	}
	goleak.VerifyTestMain(m)
}

// bells collects changes.
type bells struct {
	mu   sync.Mutex
	rung []Change
}

func (b *bells) ring(r Change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rung = append(b.rung, r)
}

func (b *bells) take() []Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() { b.rung = nil }()
	return b.rung
}

type world struct {
	t          testing.TB
	db         *store.DB
	box        *Inbox
	bells      bells
	main, lint int64
}

// fresh is a new workspace with the agents main and lint.
func fresh(t testing.TB) *world {
	t.Helper()
	return at(t, filepath.Join(storetest.Dir(t), "fantail.db"))
}

func at(t testing.TB, path string) *world {
	t.Helper()
	w := &world{t: t}
	var err error
	if w.db, err = storetest.Open(t.Context(), path, store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.db.Close(); err != nil {
			t.Error(err)
		}
	})
	w.box = New(w.db, w.bells.ring)
	w.main, w.lint = w.agent("main"), w.agent("lint")
	return w
}

// agent returns the id of an agent of that name, adding it if there is none.
func (w *world) agent(name string) (id int64) {
	w.t.Helper()
	w.write(func(tx *store.Tx) error {
		a, ok, err := tx.AgentByName(name)
		if id = a.ID; ok || err != nil {
			return err
		}
		id, err = tx.AddAgent(store.Agent{Name: name, Kind: "helper", Model: "builtin", State: "idle"})
		return err
	})
	return id
}

func (w *world) write(f func(tx *store.Tx) error) {
	w.t.Helper()
	if err := w.db.Write(context.Background(), "test", f); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) deposit(m Message) int64 {
	w.t.Helper()
	if m.Recipient == 0 {
		m.Recipient = w.main
	}
	id, err := w.box.Deposit(context.Background(), m)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// into appends to the transcript of agent.
func into(tx *store.Tx, agent int64) Into {
	return func(ms []Message) (int64, error) {
		ids := ""
		for _, m := range ms {
			ids += fmt.Sprint(m.ID, " ")
		}
		return tx.Append(agent, 0, "message", ids)
	}
}

func (w *world) take(q Query) (ms []Message, left int) {
	w.t.Helper()
	if q.Recipient == 0 {
		q.Recipient = w.main
	}
	w.write(func(tx *store.Tx) (err error) {
		ms, left, err = w.box.Take(tx, q, "check", into(tx, q.Recipient))
		return err
	})
	return ms, left
}

func bodies(ms []Message) (s string) {
	for _, m := range ms {
		s += m.Body + " "
	}
	return s
}

// counted brings the table counts up to date, so that a test can damage it.
func (w *world) counted() {
	w.t.Helper()
	w.write(func(tx *store.Tx) error {
		_, err := w.box.change(tx, w.main)
		return err
	})
}

// sound fails the test if the stored counts differ from the rows, a taken message has no entry, or the file is damaged.
func (w *world) sound() {
	w.t.Helper()
	err := w.db.Read(context.Background(), func(rx *store.Rx) error {
		// integrity_check trusts its connection's copy of a word index; a search checks whether others changed it.
		if err := rx.QueryRow(`SELECT count(*) FROM words WHERE words MATCH 'nothing'`).Scan(new(int)); err != nil {
			return err
		}
		for what, query := range map[string]string{
			"wrong counts": `SELECT count(*) FROM agents a LEFT JOIN ` + counts + ` c ON c.recipient = a.id
				WHERE ifnull(c.pending, 0) <> (SELECT count(*) FROM messages m WHERE m.recipient = a.id AND taken_at IS NULL)
				OR ifnull(c.urgent, 0) <> (SELECT count(*) FROM messages m WHERE m.recipient = a.id AND taken_at IS NULL AND priority = 'urgent' AND muted = 0)
				OR ifnull(c.taken, 0) <> (SELECT count(*) FROM messages m WHERE m.recipient = a.id AND taken_at IS NOT NULL AND taken_by NOT IN ('archive', 'snooze'))
				OR ifnull(c.aside, 0) <> (SELECT count(*) FROM messages m WHERE m.recipient = a.id AND taken_by IN ('archive', 'snooze'))
				OR ifnull(c.needs, 0) <> (SELECT count(*) FROM messages m WHERE m.recipient = a.id AND taken_at IS NULL AND lane = 'needs')
				OR ifnull(c.failed, 0) <> (SELECT count(*) FROM messages m WHERE m.recipient = a.id AND taken_at IS NULL AND lane = 'failed')
				OR ifnull(c.done, 0) <> (SELECT count(*) FROM messages m WHERE m.recipient = a.id AND taken_at IS NULL AND lane = 'done')
				OR ifnull(c.asks, 0) <> (SELECT count(*) FROM messages m WHERE m.recipient = a.id AND taken_at IS NULL AND kind IN ('question', 'approval'))`,
			"taken without entry": `SELECT count(*) FROM messages WHERE (taken_at IS NULL OR taken_by IN ('archive', 'snooze', 'answer', 'settled')) <> (entry IS NULL)`,
			"snoozed without end": `SELECT count(*) FROM messages WHERE (taken_by = 'snooze') <> (snoozed_until IS NOT NULL)`,
			"damage":              `SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
			"dangling references": `SELECT count(*) FROM pragma_foreign_key_check`,
		} {
			var n int
			if err := rx.QueryRow(query).Scan(&n); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			if n != 0 {
				w.t.Errorf("%s: %d", what, n)
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}
