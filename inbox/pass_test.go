package inbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fantail/store"
)

// TestPass: results and failures that nobody read go to the heir with their counts,
// mail stays, and a message is found by the task it ended.
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
	if rung := w.bells.take(); len(rung) != 2 || rung[1] != (Rung{Recipient: heir, Pending: 2, Urgent: 1, Deposited: true, Wake: true, Came: 2}) {
		t.Errorf("it rang %+v", rung)
	}
	for id, want := range map[int64][2]int{heir: {2, 1}, w.lint: {1, 0}} {
		if n, u, err := w.box.Count(t.Context(), id); err != nil || n != want[0] || u != want[1] {
			t.Errorf("agent %d has %d, %d urgent (%v), want %v", id, n, u, err, want)
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

// TestPass_ofKeys: of two messages that had one key, one for each recipient, both are there once one agent reads for both.
// What has a key that the heir does not know keeps it.
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
