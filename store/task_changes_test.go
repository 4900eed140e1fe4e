package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// TestQueueChanges: a caller gets each task that changed after its last change number once. It gets all queued tasks if
// some of those changes are no longer recorded.
func TestQueueChanges(t *testing.T) {
	db := reopen(t, filepath.Join(t.TempDir(), "fantail.db"))
	queue, other := agent(t, db, "main"), agent(t, db, "other")
	var seen int64
	changed := func(what, want string) {
		t.Helper()
		write(t, db, func(tx *Tx) error {
			c, err := tx.QueueChanges(seen)
			slices.SortFunc(c.Tasks, func(a, b QueuePlace) int { return int(a.Task - b.Task) })
			got := fmt.Sprint(c.Whole)
			for _, p := range c.Tasks {
				if got += fmt.Sprintf(" %d", p.Task); p.Queued {
					got += fmt.Sprintf("@%d.%d", p.Queue, p.Place)
				}
			}
			if got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
			seen = c.Newest
			return err
		})
	}
	do := func(statements ...string) {
		t.Helper()
		write(t, db, func(tx *Tx) error {
			for _, s := range statements {
				if _, err := tx.Exec(s); err != nil {
					return err
				}
			}
			return nil
		})
	}
	changed("nothing", "false")
	write(t, db, func(tx *Tx) (err error) {
		for n := range 4 {
			if _, err = tx.AddTask(Task{Queue: queue, Name: fmt.Sprint("t", n), Prompt: "x", Deliver: "hold"}); err != nil {
				return err
			}
		}
		return nil
	})
	changed("added", "false 1@1.1 2@1.2 3@1.3 4@1.4")
	changed("nothing since", "false")
	do(`UPDATE tasks SET prompt = 'y', seal = 's'`)
	changed("no change of the queue", "false")
	do(`UPDATE tasks SET place = 9 WHERE id = 1`, fmt.Sprintf(`UPDATE tasks SET queue = %d WHERE id = 2`, other), `UPDATE tasks SET state = 'running' WHERE id = 3`, `DELETE FROM tasks WHERE id = 4`)
	changed("all kinds", "false 1@1.9 2@2.2 3 4")
	do(slices.Repeat([]string{`UPDATE tasks SET place = place + 1 WHERE id = 1`}, 1000)...)
	changed("as many as are known", "false 1@1.1009")
	do(slices.Repeat([]string{`UPDATE tasks SET place = place + 1 WHERE id < 3`}, 501)...)
	changed("more than are known", "true 1@1.1510 2@2.503")
	do(`DELETE FROM task_changes`, `UPDATE tasks SET place = 1 WHERE id = 1`)
	changed("numbers that begin anew", "true 1@1.1 2@2.503")
	changed("nothing since that", "false")
}
