package inbox

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fantail/store"
)

// TestLook lists waiting and taken messages, with who took them, newest first, a page at a time; a text of any length
// costs only its beginning.
//
// Spec: Q-31, M-35, R-22.
func TestLook(t *testing.T) {
	w := fresh(t)
	w.deposit(Message{Sender: w.lint, Body: strings.Repeat("long ", 1000), Priority: High})
	w.deposit(Message{Sender: w.lint, Kind: Failure, Error: "x"})
	w.deposit(Message{From: "ci", Body: "mail"})
	w.take(Query{Limit: 1})
	ids := func(q Query, taken bool) string {
		t.Helper()
		q.Recipient = w.main
		ms, err := w.box.Look(context.Background(), q, taken)
		if err != nil {
			t.Fatal(err)
		}
		s := ""
		for _, m := range ms {
			s += fmt.Sprint(m.ID, " ")
			if len(m.Body) > 600 {
				t.Errorf("message %d has %d bytes", m.ID, len(m.Body))
			}
		}
		return s
	}
	for _, c := range []struct {
		q     Query
		taken bool
		want  string
	}{
		{Query{}, false, "2 3 "},
		{Query{LIFO: true}, false, "3 2 "},
		{Query{}, true, "3 2 1 "},
		{Query{Limit: 2}, true, "3 2 "},
		{Query{Before: 2}, true, "1 "},
		{Query{From: "lint"}, true, "2 1 "},
		{Query{From: "ci"}, false, "3 "},
		{Query{Priority: High}, true, "1 "},
		{Query{Priority: High}, false, ""},
	} {
		if got := ids(c.q, c.taken); got != c.want {
			t.Errorf("%+v, taken %v: %q, want %q", c.q, c.taken, got, c.want)
		}
	}
	w.sound()
}

// TestPutBack: messages go back with their counts, and the change hook is called.
//
// Spec: Q-42.
func TestPutBack(t *testing.T) {
	w := fresh(t)
	w.deposit(Message{Body: "a", Priority: Urgent, Deliver: Wake})
	w.deposit(Message{Body: "b"})
	w.deposit(Message{Body: "c"})
	w.take(Query{Limit: 2})
	w.bells.take()
	w.write(func(tx *store.Tx) error {
		ms, err := w.box.LastTaken(tx, w.main)
		if err != nil || len(ms) != 2 || ms[0].TakenBy != "check" {
			t.Errorf("the last batch is %+v, %v", ms, err)
		}
		n, err := w.box.PutBack(tx, w.main, ms[0].Entry)
		if n != 2 {
			t.Errorf("%d went back", n)
		}
		return err
	})
	if rung := w.bells.take(); len(rung) != 1 || rung[0] != (Change{Recipient: w.main, Pending: 3, Urgent: 1, Deposited: true}) {
		t.Errorf("it rang %+v", rung) // no Wake: a human put them back
	}
	w.sound()
	if ms, _ := w.take(Query{}); bodies(ms) != "a b c " {
		t.Errorf("taken again: %s", bodies(ms))
	}
}

// TestFrom_isWhoHasTheName: a name means the agent that has it now.
//
// Spec.
func TestFrom_isWhoHasTheName(t *testing.T) {
	w := fresh(t)
	w.deposit(Message{Sender: w.lint, Body: "old"})
	w.write(func(tx *store.Tx) error { return tx.RenameAgent(w.lint, "lint·1") })
	anew := w.agent("lint")
	w.deposit(Message{Sender: anew, Body: "new"})
	for from, want := range map[string]string{"lint": "new ", "lint·1": "old ", "nobody": ""} {
		if ms, err := w.box.List(context.Background(), Query{Recipient: w.main, From: from}); err != nil || bodies(ms) != want {
			t.Errorf("from %s: %q, %v; want %q", from, bodies(ms), err, want)
		}
	}
}
