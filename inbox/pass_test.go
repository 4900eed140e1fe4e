package inbox

import (
	"fmt"
	"testing"

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
