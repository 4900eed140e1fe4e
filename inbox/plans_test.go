package inbox

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fantail/store"
	"fantail/store/storetest"
)

// statements collects each statement once.
type statements struct {
	mu  sync.Mutex
	all []string
}

func (s *statements) add(statement string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.all, statement) {
		s.all = append(s.all, statement)
	}
}

// TestIndexes_areNeeded: each index on messages keeps a rule or serves a statement of the package, as each costs a part
// of every deposit; and no statement reads the whole of a table that grows. The program never runs ANALYZE, so that
// SQLite plans the same for an empty file and a large one. Totals is left out: it reads all rows, and is told to.
func TestIndexes_areNeeded(t *testing.T) {
	var ran statements
	o := store.Options{Trace: ran.add, TraceReads: ran.add}
	db, err := storetest.Open(t.Context(), filepath.Join(storetest.Dir(t), "fantail.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, db: db}
	w.box = New(db, w.bells.ring)
	w.main, w.lint = w.agent("main"), w.agent("lint")
	w.everything()
	used := map[string]bool{}
	whole := regexp.MustCompile(`^SCAN (\w+)( USING .*INDEX (\w+).*)?$`)
	few := []string{"messages_asking", "messages_broken", "messages_snoozed", "tasks_open_name"} // their rows are few at any time
	const newest = `FROM tasks t WHERE state = 'finished' ORDER BY id DESC LIMIT ?`              // it ends at the limit
	for _, s := range slices.Clone(ran.all) {
		verb, _, _ := strings.Cut(strings.TrimSpace(s), " ")
		if !slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}, strings.TrimSpace(verb)) {
			continue
		}
		for _, step := range w.plan(s) {
			for _, m := range regexp.MustCompile(`INDEX (\w+)`).FindAllStringSubmatch(step, -1) {
				used[m[1]] = true
			}
			if m := whole.FindStringSubmatch(step); m != nil && grows(s, m[1]) && !slices.Contains(few, m[3]) &&
				!strings.Contains(strings.Join(strings.Fields(s), " "), newest) {
				t.Errorf("%s: reads all rows\n%s", step, s)
			}
		}
	}
	err = db.Read(t.Context(), func(rx *store.Rx) error {
		rows, err := rx.Query(`SELECT name FROM pragma_index_list('messages') WHERE "unique" = 0`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			if !used[name] {
				t.Errorf("no statement uses the index %s", name)
			}
		}
		return rows.Err()
	})
	if err != nil || len(used) < 10 {
		t.Error(len(used), err)
	}
}

// grows reports whether a name in a statement is a table that grows, or another name of one.
func grows(statement, name string) bool {
	tables := []string{"messages", "entries", "tasks", "turns"}
	return slices.Contains(tables, name) || regexp.MustCompile(`\b(`+strings.Join(tables, "|")+`) (AS )?`+name+`\b`).MatchString(statement)
}

// plan is how SQLite carries out a statement.
func (w *world) plan(statement string) (steps []string) {
	w.t.Helper()
	err := w.db.Read(w.t.Context(), func(rx *store.Rx) error {
		rows, err := rx.Query("EXPLAIN QUERY PLAN "+statement, make([]any, 40)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n int
			var step string
			if err := rows.Scan(&n, &n, &n, &step); err != nil {
				return err
			}
			steps = append(steps, step)
		}
		return rows.Err()
	})
	if err != nil {
		w.t.Errorf("%s: %v", statement, err)
	}
	return steps
}

// everything runs what the program asks of an inbox; what becomes of the messages is not looked at.
func (w *world) everything() {
	w.t.Helper()
	ctx := w.t.Context()
	must := func(_ any, err error) {
		w.t.Helper()
		if err != nil {
			w.t.Error(err)
		}
	}
	ids := make([]int64, 6)
	for i := range ids {
		ids[i] = w.deposit(Message{Sender: w.lint, Body: fmt.Sprint("body ", i), Key: fmt.Sprint(i)})
	}
	question := w.deposit(Message{Sender: w.lint, Kind: Question, Body: "may I?"})
	w.deposit(Message{Sender: w.lint, Body: "reply", InReplyTo: ids[0]})
	due := []Deliver{Next, Wake}
	for _, q := range []Query{
		{},
		{LIFO: true},
		{From: "lint"},
		{From: "stranger"},
		{ByUrgency: true},
		{Priority: Urgent},
		{Deliver: due},
		{Deliver: due[:1]},
		{ID: ids[0]},
		{IDs: ids[:2]},
		{Task: 1},
		{Asks: true},
		{After: 1},
	} {
		q.Recipient, q.Limit = w.main, 1
		must(w.box.List(ctx, q))
		must(w.box.Matching(ctx, q))
		must(w.box.Look(ctx, q, true))
		w.take(q)
	}
	must(w.box.Since(ctx, w.main, 0))
	must(w.box.Thread(ctx, ids[0]))
	must(w.box.Questions(ctx, w.main))
	must(w.box.Pressing(ctx, w.main, 5))
	must(w.box.Calling(ctx, w.main, 0, 5, 5))
	must(w.box.Heads(ctx, w.main, 0, 5, due...))
	must(w.box.NextSnoozed(ctx))
	must(w.box.Counts(ctx))
	must(w.box.Lanes(ctx, w.main))
	for _, of := range []string{Waiting, Archived, Snoozed, Everything} {
		for _, lane := range []Lane{"", Needs, Done} {
			for _, search := range []string{"", "body"} {
				must(w.box.Select(ctx, Selection{Recipient: w.main, Of: of, Lane: lane, Search: search, Folded: true, Limit: 2}))
				must(w.box.Select(ctx, Selection{Recipient: w.main, Of: of, Lane: lane, Search: search, Limit: 2, Back: true, Before: ids[3]}))
			}
		}
	}
	w.write(func(tx *store.Tx) error {
		v := &tx.View
		must(w.box.SetAside(tx, w.main, ids, time.Time{}))
		must(w.box.Restore(tx, w.main, ids))
		must(w.box.SetAside(tx, w.main, ids, tx.Now().Add(-time.Second)))
		must(w.box.Unsnooze(tx))
		must(nil, w.box.Pin(tx, w.main, ids[4], true))
		must(nil, w.box.Dismiss(tx, w.main, ids[4]))
		must(w.box.Mute(tx, w.main, ids[4], true))
		must(w.box.Any(tx, Query{Recipient: w.main, Deliver: due}))
		_, _, err := w.box.End(v, 1)
		must(nil, err)
		must(Ended(v, 0))
		must(After(v, 0, 5))
		must(Needing(v, w.main, 5))
		must(Lately(v, w.main, 5))
		_, _, err = Arrived(v, 0)
		must(nil, err)
		must(CameSince(v, 0))
		_, _, err = w.box.Waiting(tx, w.main, 5)
		must(nil, err)
		must(w.box.LastTaken(tx, w.main))
		must(w.box.PutBack(tx, w.main, 1))
		must(w.box.Unread(tx, w.main))
		must(Wrote(v, w.main, "lint"))
		must(nil, w.box.Answer(tx, question, ByAnswer))
		must(Passages(v, tx.Now().Add(-time.Hour), tx.Now(), 5))
		return nil
	})
	w.write(func(tx *store.Tx) error { return w.box.Pass(tx, w.main, w.lint) })
	w.write(func(tx *store.Tx) error { return w.box.PassAll(tx, w.lint, w.main) })
	must(nil, w.db.Read(ctx, func(rx *store.Rx) error {
		_, err := Glance(rx)
		return err
	}))
}
