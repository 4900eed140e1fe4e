package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"fantail/store"
	"fantail/store/storetest"
)

// Spec: O-27, N-16.
func TestDeposit_keepsEveryField(t *testing.T) {
	w := fresh(t)
	first := w.deposit(Message{Body: "first"})
	var task int64
	w.write(func(tx *store.Tx) (err error) {
		task, err = tx.AddTask(store.Task{Queue: w.main, Name: "tests", Prompt: "p", Model: "m", Deliver: "hold"})
		return err
	})
	odd := "nul \x00 not UTF-8 \xff\xfe \r\n 🐦 </message>"
	m := Message{
		Recipient: w.main, Sender: w.lint, From: "somebody else", Kind: Failure, Deliver: Wake, Priority: High,
		Tags: []string{"a", "b\n"}, Subject: odd, Body: odd, Outcome: "failed", Error: odd, Partial: odd, Task: task, InReplyTo: first, Key: "k" + odd, Hops: 2, ByFork: true,
		ID: 99, Taken: time.Now(), TakenBy: "x", Entry: 9,
	}
	id := w.deposit(m)
	got, ok, err := w.box.Get(context.Background(), id)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if since := time.Since(got.Created); since < 0 || since > time.Minute {
		t.Errorf("created %v", got.Created)
	}
	want := m
	want.ID, want.From, want.Thread, want.Taken, want.TakenBy, want.Entry, want.Created, want.Size = id, "lint", first, time.Time{}, "", 0, got.Created, 4*len(odd)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}

	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var back Message
	err = json.Unmarshal(b, &back)
	if back.Size, back.ByFork = got.Size, got.ByFork; err != nil || !reflect.DeepEqual(back, got) { // the JSON has neither
		t.Errorf("%v: JSON\ngave %+v\nof   %+v", err, back, got)
	}
	if _, ok, err := w.box.Get(context.Background(), 12345); ok || err != nil {
		t.Errorf("no message: %v, %v", ok, err)
	}
	plain := w.deposit(Message{Body: "x"})
	got, _, err = w.box.Get(context.Background(), plain)
	if err != nil || got.Kind != Mail || got.Deliver != Next || got.Priority != Normal || got.From != "outside" {
		t.Errorf("%v: defaults %+v", err, got)
	}
	w.sound()
}

func TestDeposit_refuses(t *testing.T) {
	w := fresh(t)
	for name, c := range map[string]struct {
		m    Message
		want error
		text string
	}{
		"empty":             {Message{Recipient: w.main}, ErrEmpty, "empty"},
		"too large":         {Message{Recipient: w.main, Body: strings.Repeat("x", MaxBody+1)}, ErrTooLarge, "1048577 bytes"},
		"long output":       {Message{Recipient: w.main, Kind: Failure, Partial: strings.Repeat("x", MaxBody+1)}, ErrTooLarge, "output so far has 1048577 bytes"},
		"long error":        {Message{Recipient: w.main, Kind: Failure, Error: strings.Repeat("x", MaxBody+1)}, ErrTooLarge, "error"},
		"long subject":      {Message{Recipient: w.main, Body: "x", Subject: strings.Repeat("x", MaxBody+1)}, ErrTooLarge, "subject"},
		"long sender":       {Message{Recipient: w.main, Body: "x", From: strings.Repeat("x", MaxBody+1)}, ErrTooLarge, "sender"},
		"long key":          {Message{Recipient: w.main, Body: "x", Key: strings.Repeat("x", MaxBody+1)}, ErrTooLarge, "key"},
		"many tags":         {Message{Recipient: w.main, Body: "x", Tags: []string{"x", strings.Repeat("x", MaxBody)}}, ErrTooLarge, "tags"},
		"no recipient":      {Message{Recipient: 99, Body: "x"}, ErrNobody, "recipient 99"},
		"no sender":         {Message{Recipient: w.main, Sender: 98, Body: "x"}, ErrNobody, "sender 98"},
		"unknown kind":      {Message{Recipient: w.main, Body: "x", Kind: "letter"}, nil, `"letter"`},
		"unknown deliver":   {Message{Recipient: w.main, Body: "x", Deliver: "now"}, nil, `"now"`},
		"unknown priority":  {Message{Recipient: w.main, Body: "x", Priority: "huge"}, nil, `"huge"`},
		"reply to nothing":  {Message{Recipient: w.main, Body: "x", InReplyTo: 77}, nil, "there is no message 77"},
		"result of no task": {Message{Recipient: w.main, Body: "x", Kind: Result, Task: 77}, nil, "FOREIGN KEY"},
	} {
		_, err := w.box.Deposit(context.Background(), c.m)
		if err == nil || (c.want != nil && !errors.Is(err, c.want)) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
		err = w.db.Write(context.Background(), name, func(tx *store.Tx) error { _, err := w.box.Add(tx, c.m); return err })
		if err == nil || (c.want != nil && !errors.Is(err, c.want)) {
			t.Errorf("%s in a transaction: %v", name, err)
		}
	}
	if changes := w.bells.take(); len(changes) != 0 {
		t.Errorf("rang %+v", changes)
	}
	w.deposit(Message{Body: strings.Repeat("x", MaxBody)})
	w.deposit(Message{Kind: Failure})
	w.sound()
}

// A message gets its sender's current name when it is stored, whichever process renamed the sender, if the rename was
// committed.
func TestDeposit_namesItsSender(t *testing.T) {
	path := filepath.Join(storetest.Dir(t), "fantail.db")
	w, other := at(t, path), at(t, path)
	renamed := func(name string) func(tx *store.Tx) error {
		return func(tx *store.Tx) error { return tx.RenameAgent(w.lint, name) }
	}
	says := func(want string) {
		t.Helper()
		id := w.deposit(Message{Sender: w.lint, From: "claims to be main", Body: "x"})
		if m, ok, err := w.box.Get(t.Context(), id); m.From != want || !ok || err != nil {
			t.Errorf("from %q, want %q; %v", m.From, want, err)
		}
	}
	says("lint")
	w.write(renamed("lint-2"))
	says("lint-2")
	undone := errors.New("undone")
	err := w.db.Write(t.Context(), "test", func(tx *store.Tx) error {
		if err := renamed("lint-3")(tx); err != nil {
			return err
		}
		if _, err := w.box.Add(tx, Message{Recipient: w.main, Sender: w.lint, Body: "x"}); err != nil {
			return err
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	says("lint-2")
	w.write(func(tx *store.Tx) error {
		if _, err := w.box.Add(tx, Message{Recipient: w.main, Sender: w.lint, Body: "x"}); err != nil {
			return err
		}
		return renamed("lint-4")(tx)
	})
	says("lint-4")
	other.write(renamed("lint-5"))
	says("lint-5")
}

func TestDeposit_withAKey(t *testing.T) {
	w := fresh(t)
	m := Message{Recipient: w.main, Sender: w.lint, Body: "x", Key: "k"}
	id := w.deposit(m)
	w.bells.take()
	for range 3 {
		if again := w.deposit(m); again != id {
			t.Errorf("id %d, then %d", id, again)
		}
	}
	w.write(func(tx *store.Tx) error { return tx.RenameAgent(w.lint, "linter") })
	if again := w.deposit(m); again != id {
		t.Errorf("after its sender was renamed: id %d, then %d", id, again)
	}
	w.take(Query{})
	if again := w.deposit(m); again != id {
		t.Errorf("after it was taken: id %d, then %d", id, again)
	}
	if changes := w.bells.take(); len(changes) != 1 || changes[0].Deposited {
		t.Errorf("rang %+v: only the take rings", changes)
	}
	m.Body = "y"
	if _, err := w.box.Deposit(context.Background(), m); !errors.Is(err, ErrKeyUsed) || !strings.Contains(err.Error(), "new key") {
		t.Errorf("other body: %v", err)
	}
	ids := map[int64]bool{id: true}
	for _, other := range []Message{
		{Recipient: w.lint, Sender: w.lint, Body: "y", Key: "k"},
		{Recipient: w.main, Body: "y", Key: "k", From: "linter"},
		{Recipient: w.main, Body: "z", Key: "k", From: "ci"},
		{Recipient: w.main, Sender: w.lint, Body: "x"},
		{Recipient: w.main, Sender: w.lint, Body: "x"},
	} {
		got := w.deposit(other)
		if ids[got] {
			t.Errorf("%+v is taken for another message", other)
		}
		ids[got] = true
	}
	w.sound()
}

func TestAdd_oneEndPerTask(t *testing.T) {
	w := fresh(t)
	var task int64
	var ids []int64
	w.write(func(tx *store.Tx) (err error) {
		if task, err = tx.AddTask(store.Task{Queue: w.main, Name: "t", Prompt: "p", Model: "m", Deliver: "hold"}); err != nil {
			return err
		}
		for _, m := range []Message{{Kind: Result, Body: "done"}, {Kind: Failure, Error: "killed"}, {Kind: Result, Body: "again"}, {Kind: Notice, Body: "n"}} {
			m.Recipient, m.Sender, m.Task = w.main, w.lint, task
			id, err := w.box.Add(tx, m)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	if ids[1] != ids[0] || ids[2] != ids[0] || ids[3] == ids[0] {
		t.Errorf("ids %v: a task ends once", ids)
	}
	if changes := w.bells.take(); len(changes) != 1 || changes[0].Pending != 2 {
		t.Errorf("rang %+v", changes)
	}
	w.sound()
}

func TestBell(t *testing.T) {
	w := fresh(t)
	rang := func(what string, want ...Change) {
		t.Helper()
		if got := w.bells.take(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: rang %+v, want %+v", what, got, want)
		}
	}
	w.deposit(Message{Body: "a", Priority: Urgent, Deliver: Hold})
	rang("deposit", Change{w.main, 1, 0, 1, true, false, 1, 1, 0})
	w.deposit(Message{Body: "b", Deliver: Wake})
	rang("wake", Change{w.main, 2, 0, 1, true, true, 2, 1, 2})
	w.write(func(tx *store.Tx) error {
		for _, m := range []Message{{Recipient: w.lint, Body: "c"}, {Recipient: w.main, Body: "d", Deliver: Wake}, {Recipient: w.main, Body: "e"}} {
			if _, err := w.box.Add(tx, m); err != nil {
				return err
			}
		}
		_, _, err := w.box.Take(tx, Query{Recipient: w.main, Limit: 1}, "check", into(tx, w.main))
		return err
	})
	rang("one transaction", Change{w.lint, 1, 0, 0, true, false, 3, 1, 0}, Change{w.main, 3, 0, 0, true, true, 4, 2, 4})
	w.take(Query{})
	rang("take", Change{w.main, 0, 0, 0, false, false, 0, 0, 0})
	w.take(Query{})
	rang("nothing to take")
	_ = w.db.Write(context.Background(), "undone", func(tx *store.Tx) error {
		_, err := w.box.Add(tx, Message{Recipient: w.main, Body: "f"})
		return errors.Join(err, errors.New("undone"))
	})
	rang("rollback")
	if _, err := New(w.db, nil).Deposit(context.Background(), Message{Recipient: w.main, Body: "no bell"}); err != nil {
		t.Error(err)
	}
	w.sound()
}

func TestCount(t *testing.T) {
	w := fresh(t)
	w.deposit(Message{Body: "a", Priority: Urgent})
	w.deposit(Message{Body: "b"})
	w.deposit(Message{Body: "c", Recipient: w.lint})
	w.take(Query{Recipient: w.lint})
	w.deposit(Message{Body: "d", Kind: Question})
	w.deposit(Message{Body: "e", Kind: Approval})
	w.deposit(Message{Body: "f", Kind: Question, Recipient: w.lint})
	main, lint := Change{Recipient: w.main, Pending: 2, Asks: 2, Urgent: 1}, Change{Recipient: w.lint, Asks: 1}
	for id, want := range map[int64]Change{w.main: main, w.lint: lint, 99: {Recipient: 99}} {
		if c, err := w.box.Count(context.Background(), id); c != want || err != nil {
			t.Errorf("%+v %v, want %+v", c, err, want)
		}
	}
	counts, err := w.box.Counts(context.Background())
	if want := (map[int64]Change{w.main: main, w.lint: lint}); err != nil || !reflect.DeepEqual(counts, want) {
		t.Errorf("%v %v", counts, err)
	}
}

// Spec.
func TestTake(t *testing.T) {
	long := func(m Message) bool { return m.Body != "d" }
	for name, c := range map[string]struct {
		q    Query
		want string
		left int
	}{
		"all":                   {Query{}, "a b c d e f g ", 0},
		"newest first":          {Query{LIFO: true}, "g f e d c b a ", 0},
		"one":                   {Query{Limit: 1}, "a ", 6},
		"newest":                {Query{Limit: 1, LIFO: true}, "g ", 6},
		"more than there is":    {Query{Limit: 100}, "a b c d e f g ", 0},
		"from":                  {Query{From: "lint"}, "b d f ", 0},
		"last from":             {Query{From: "lint", LIFO: true, Limit: 1}, "f ", 2},
		"from nobody":           {Query{From: "lin"}, "", 0},
		"by urgency":            {Query{ByUrgency: true}, "c g b a e f d ", 0},
		"most urgent":           {Query{ByUrgency: true, LIFO: true, Limit: 2}, "c g ", 5},
		"most urgent from":      {Query{ByUrgency: true, From: "lint", Limit: 1}, "b ", 2},
		"due":                   {Query{Deliver: []Deliver{Next, Wake}}, "b c d f ", 0},
		"due, newest two":       {Query{Deliver: []Deliver{Wake, Next, Wake}, LIFO: true, Limit: 2}, "f d ", 2},
		"waking":                {Query{Deliver: []Deliver{Wake}}, "c f ", 0},
		"what fits":             {Query{Fit: long}, "a b c ", 4},
		"what fits, last first": {Query{Fit: long, LIFO: true}, "g f e ", 4},
		"what fits from":        {Query{Fit: long, From: "lint"}, "b ", 2},
		"what fits of the due":  {Query{Fit: long, Deliver: []Deliver{Next, Wake}}, "b c ", 2},
		"nothing fits":          {Query{Fit: func(Message) bool { return false }}, "", 7},
		"by id":                 {Query{ID: 5, From: "nobody", LIFO: true, ByUrgency: true}, "e ", 0},
		"by id, does not fit":   {Query{ID: 4, Fit: long}, "", 1},
		"id of another's":       {Query{ID: 8}, "", 0},
		"no such id":            {Query{ID: 999}, "", 0},
		"someone without mail":  {Query{Recipient: 77}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := fresh(t)
			for i, m := range []Message{
				{Body: "a", Deliver: Hold},
				{Body: "b", Sender: w.lint, Priority: High},
				{Body: "c", Deliver: Wake, Priority: Urgent},
				{Body: "d", Sender: w.lint, Priority: Low},
				{Body: "e", Deliver: Hold},
				{Body: "f", Sender: w.lint, Deliver: Wake},
				{Body: "g", Deliver: Hold, Priority: Urgent},
				{Body: "other", Recipient: w.lint},
			} {
				if id := w.deposit(m); id != int64(i+1) {
					t.Fatalf("id %d", id)
				}
			}
			listed, err := w.box.List(context.Background(), func() Query {
				q := c.q
				if q.Recipient == 0 {
					q.Recipient = w.main
				}
				return q
			}())
			if err != nil {
				t.Fatal(err)
			}
			if c.q.Fit == nil && bodies(listed) != c.want {
				t.Errorf("listed %s, want %s", bodies(listed), c.want)
			}
			var any bool
			w.write(func(tx *store.Tx) (err error) {
				q := c.q
				if q.Recipient == 0 {
					q.Recipient = w.main
				}
				any, err = w.box.Any(tx, q)
				return err
			})
			if any != (c.want != "" || c.left > 0) {
				t.Errorf("any: %v", any)
			}
			ms, left := w.take(c.q)
			if bodies(ms) != c.want || left != c.left {
				t.Errorf("took %s, left %d; want %s, %d", bodies(ms), left, c.want, c.left)
			}
			entry := int64(0)
			for _, m := range ms {
				kept, _, err := w.box.Get(context.Background(), m.ID)
				if err != nil || !reflect.DeepEqual(kept, m) {
					t.Errorf("%v: returned %+v\nkept %+v", err, m, kept)
				}
				if m.Taken.IsZero() || m.TakenBy != "check" || m.Entry == 0 || (entry != 0 && m.Entry != entry) {
					t.Errorf("%+v is not taken into one entry", m)
				}
				entry = m.Entry
			}
			again, _ := w.take(Query{Limit: 100})
			if len(ms)+len(again) != 7 {
				t.Errorf("took %d and then %d of 7", len(ms), len(again))
			}
			w.sound()
		})
	}
}

// Spec: E-6, R-63.
func TestTake_manyInOrder(t *testing.T) {
	w := fresh(t)
	const n = 5*chunk + 3
	w.write(func(tx *store.Tx) error {
		for i := range n {
			if _, err := w.box.Add(tx, Message{Recipient: w.main, Body: fmt.Sprint(i), Deliver: []Deliver{Next, Wake, Hold}[i%3], Priority: []Priority{Low, Normal}[i%2]}); err != nil {
				return err
			}
		}
		return nil
	})
	some, left := w.take(Query{Limit: 2*chunk + 1})
	due, none := w.take(Query{Deliver: []Deliver{Next, Wake}, LIFO: true})
	rest, zero := w.take(Query{})
	if len(some) != 2*chunk+1 || left != n-len(some) || none != 0 || zero != 0 || len(some)+len(due)+len(rest) != n {
		t.Errorf("%d (left %d), %d (left %d), %d (left %d) of %d", len(some), left, len(due), none, len(rest), zero, n)
	}
	for i, m := range some {
		if m.Body != fmt.Sprint(i) {
			t.Fatalf("%d: %s", i, m.Body)
		}
	}
	for i, m := range due[1:] {
		if m.ID >= due[i].ID || m.Deliver == Hold {
			t.Fatalf("%d: %+v", i, m)
		}
	}
	w.sound()
}

func TestTake_undoneByIntosError(t *testing.T) {
	w := fresh(t)
	w.deposit(Message{Body: "a"})
	w.bells.take()
	bad := errors.New("bad")
	err := w.db.Write(context.Background(), "take", func(tx *store.Tx) error {
		_, _, err := w.box.Take(tx, Query{Recipient: w.main}, "check", func([]Message) (int64, error) { return 0, bad })
		return err
	})
	if !errors.Is(err, bad) || len(w.bells.take()) != 0 {
		t.Errorf("%v", err)
	}
	if ms, _ := w.take(Query{}); bodies(ms) != "a " {
		t.Errorf("took %s", bodies(ms))
	}
	w.write(func(tx *store.Tx) error {
		_, _, err := w.box.Take(tx, Query{Recipient: w.main}, "check", func([]Message) (int64, error) { panic("called for nothing") })
		return err
	})
}

// A row that another program damaged must not block later mail.
func TestTake_aSpoiltRow(t *testing.T) {
	w := fresh(t)
	w.deposit(Message{Body: "a", Tags: []string{"x"}})
	w.deposit(Message{Body: "b", Tags: []string{"y"}})
	w.write(func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE messages SET tags = '{"not": a list', kind = 'letter' WHERE body = CAST('a' AS BLOB)`)
		return err
	})
	if ms, _ := w.take(Query{}); bodies(ms) != "a b " || ms[0].Tags != nil || len(ms[1].Tags) != 1 {
		t.Errorf("%+v", ms)
	}
}

// All reads of pending mail walk an index, so 100,000 other messages cost nothing.
func TestQuery_walksIndexes(t *testing.T) {
	w := fresh(t)
	due := []Deliver{Next, Wake}
	err := w.db.Read(context.Background(), func(rx *store.Rx) error {
		for name, c := range map[string]struct {
			q     Query
			index string
		}{
			"all": {Query{}, "messages_pending "}, "newest": {Query{LIFO: true}, "messages_pending "},
			"from": {Query{From: "x"}, "messages_pending_from "}, "newest from": {Query{From: "x", LIFO: true}, "messages_pending_from "},
			"by urgency": {Query{ByUrgency: true}, "messages_pending_priority "},
			"due":        {Query{Deliver: due}, "messages_pending_deliver "}, "waking": {Query{Deliver: due[:1], LIFO: true}, "messages_pending_deliver "},
			"by id": {Query{ID: 1}, "PRIMARY KEY"}, "by ids": {Query{IDs: []int64{1, 2}}, "messages_pending (recipient=? AND id=?"},
			"due of some": {Query{IDs: []int64{1, 2}, Deliver: due}, "recipient=? AND"},
		} {
			c.q.Recipient = 1
			p := c.q.passes()[0]
			for _, p := range []pass{p, p.behind(3)} {
				query, args := p.walks(columns)
				order := " ORDER BY id LIMIT 5"
				if p.desc {
					order = " ORDER BY id DESC LIMIT 5"
				}
				rows, err := rx.Query("EXPLAIN QUERY PLAN "+query+order, args...)
				if err != nil {
					return err
				}
				var n int
				var step, plan string
				for rows.Next() {
					if err := rows.Scan(&n, &n, &n, &step); err != nil {
						return err
					}
					plan += strings.TrimPrefix(step, "SCAN json_each") + "\n" // the requested ids
				}
				if err := rows.Err(); err != nil {
					return err
				}
				if !strings.Contains(plan, c.index) && !(name == "by id" && strings.Contains(plan, "rowid=?")) ||
					strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "SCAN") {
					t.Errorf("%s: %s\n%s", name, query, plan)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTake_ofMany: a take works for any number of waiting messages.
func TestTake_ofMany(t *testing.T) {
	const many = 1100 * chunk // SQLite takes a thousand conditions
	w := fresh(t)
	w.write(func(tx *store.Tx) error {
		_, err := tx.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO messages (kind, deliver, recipient, sender_name, body, created_at) SELECT 'mail', 'hold', ?, 'x', x'62', i FROM n`, many, w.main)
		return err
	})
	w.write(func(tx *store.Tx) error {
		for _, q := range []Query{{}, {LIFO: true}} {
			q.Recipient = w.main
			if ms, err := match(tx, q); err != nil || len(ms) != many {
				t.Errorf("%+v: %d messages, %v", q, len(ms), err)
			}
		}
		return nil
	})
}

// TestDeposit_againWithASecret: a retry is recognized by its key though its stored text was redacted.
func TestDeposit_againWithASecret(t *testing.T) {
	db, err := storetest.Open(t.Context(), filepath.Join(storetest.Dir(t), "fantail.db"), store.Options{
		Withhold: func(s string) string { return strings.ReplaceAll(s, "sk-secret", "[withheld]") },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	box, m := New(db, nil), Message{From: "outside", Body: "the key is sk-secret", Key: "k"}
	err = db.Write(t.Context(), "add an agent", func(tx *store.Tx) (err error) {
		m.Recipient, err = tx.AddAgent(store.Agent{Name: "main", Kind: "main", Model: "m", State: "idle"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	first, err := box.Deposit(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := box.Deposit(t.Context(), m); err != nil || again != first {
		t.Errorf("a retry is %d, %v, want %d", again, err, first)
	}
	m.Body = "another"
	if _, err := box.Deposit(t.Context(), m); !errors.Is(err, ErrKeyUsed) {
		t.Errorf("another body: %v", err)
	}
}
