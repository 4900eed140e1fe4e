package inbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fantail/store"
)

// TestPass: unread results and failures go to the heir with their counts, mail stays, and a message is found by the
// task it ended.
//
// Spec: R-56, N-35.
func TestPass(t *testing.T) {
	w := fresh(t)
	heir := w.main
	var tasks []int64
	for i, m := range []Message{
		{Kind: Result, Body: "one", Deliver: Wake},
		{Kind: Mail, Body: "mail"},
		{Kind: Failure, Error: "two", Priority: Urgent},
	} {
		m.Recipient, m.Sender = w.lint, w.main
		if m.Kind != Mail {
			w.write(func(tx *store.Tx) error {
				task, err := tx.AddTask(store.Task{Queue: w.lint, Name: fmt.Sprint("t", i), Prompt: "p", Model: "m", Deliver: "next"})
				m.Task, tasks = task, append(tasks, task)
				return err
			})
		}
		if _, err := w.box.Deposit(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	w.bells.take()
	if err := w.db.Write(t.Context(), "pass", func(tx *store.Tx) error { return w.box.Pass(tx, w.lint, heir) }); err != nil {
		t.Fatal(err)
	}
	if changes := w.bells.take(); len(changes) != 2 || changes[1] != (Change{Recipient: heir, Pending: 2, Urgent: 1, Deposited: true, Wake: true, Came: 2}) {
		t.Errorf("it rang %+v", changes)
	}
	for id, want := range map[int64][2]int{heir: {2, 1}, w.lint: {1, 0}} {
		if c, err := w.box.Count(t.Context(), id); err != nil || c.Pending+c.Asks != want[0] || c.Urgent != want[1] {
			t.Errorf("agent %d has %+v (%v), want %v", id, c, err, want)
		}
	}
	ms, err := w.box.List(t.Context(), Query{Recipient: heir, Task: tasks[1]})
	if err != nil || len(ms) != 1 || ms[0].Error != "two" {
		t.Errorf("the end of the last task is %+v, %v", ms, err)
	}
	if err := w.db.Write(t.Context(), "pass", func(tx *store.Tx) error { return w.box.Pass(tx, w.lint, heir) }); err != nil || w.bells.take() != nil {
		t.Errorf("a pass of nothing: %v", err)
	}
}

// TestPass_muted: a thread that the human muted neither rings for the heir nor wakes it.
func TestPass_muted(t *testing.T) {
	for _, c := range []struct {
		name   string
		others []Message
		want   Change
	}{
		{"alone", nil, Change{Pending: 1, Deposited: true}},
		{"beside one that waits", []Message{{Kind: Result, Body: "b", Deliver: Next}}, Change{Pending: 2, Deposited: true, Came: 1}},
		{"beside one that wakes", []Message{{Kind: Result, Body: "b", Deliver: Wake}}, Change{Pending: 2, Deposited: true, Wake: true, Came: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := fresh(t)
			quiet := w.deposit(Message{Recipient: w.lint, Kind: Result, Body: "a", Deliver: Wake})
			w.write(func(tx *store.Tx) error {
				_, err := w.box.Mute(tx, w.lint, quiet, true)
				return err
			})
			for _, m := range c.others {
				m.Recipient = w.lint
				w.deposit(m)
			}
			w.bells.take()
			w.write(func(tx *store.Tx) error { return w.box.Pass(tx, w.lint, w.main) })
			c.want.Recipient = w.main
			if changes := w.bells.take(); len(changes) != 2 || changes[1] != c.want {
				t.Errorf("it rang %+v, want %+v", changes, c.want)
			}
		})
	}
}

// TestPass_ofKeys: two messages with the same key, one for each recipient, both exist once one agent reads for both. A
// message whose key the heir does not have keeps it.
func TestPass_ofKeys(t *testing.T) {
	w := fresh(t)
	for _, to := range []int64{w.main, w.lint} {
		for _, key := range []string{"taken", "snoozed", "pending"} {
			w.deposit(Message{Recipient: to, From: "outside", Body: key, Key: key})
		}
	}
	w.deposit(Message{Recipient: w.lint, From: "outside", Body: "alone", Key: "alone"})
	w.deposit(Message{Recipient: w.lint, From: "another", Body: "pending", Key: "pending"})
	w.write(func(tx *store.Tx) error {
		if _, _, err := w.box.Take(tx, Query{Recipient: w.main, Limit: 1}, "test", func([]Message) (int64, error) { return 0, nil }); err != nil {
			return err
		}
		_, err := w.box.SetAside(tx, w.lint, []int64{5}, tx.Now().Add(time.Hour))
		return err
	})
	w.write(func(tx *store.Tx) error { return w.box.PassAll(tx, w.lint, w.main) })
	ms, err := w.box.Since(t.Context(), w.main, 0)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, m := range ms {
		keys = append(keys, m.Body+"="+m.Key)
	}
	if want := "taken=taken snoozed=snoozed pending=pending taken= snoozed= pending= alone=alone pending=pending"; strings.Join(keys, " ") != want {
		t.Errorf("it has %q, want %q", keys, want)
	}
	again, err := w.box.Deposit(t.Context(), Message{Recipient: w.main, From: "outside", Body: "alone", Key: "alone"})
	if err != nil || again != ms[6].ID {
		t.Errorf("a retry is %d, %v", again, err)
	}
}
