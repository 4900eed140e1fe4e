package figures

import (
	"fmt"
	"testing"
	"time"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

const fleet = 1000 // agents at once

// BenchmarkFleet measures the program with 1,000 agents of the built-in engine
// that run at once: what a key takes to its echo, and the memory; and whether
// the results of all are there in the end, each once.
func BenchmarkFleet(b *testing.B) {
	t := newTable(b)
	for _, s := range sites(b, []program{ours}, model{}) { // another build may have another schema
		s.env = append(s.env, "FANTAIL_MODEL=builtin", fmt.Sprint("FANTAIL_MAX_RUNNING=", fleet))
		s.open().stop() // makes the workspace
		s.ends()
		s.write(b, func(db *store.DB) error {
			return db.Write(b.Context(), "queue", func(tx *store.Tx) error {
				main, _, err := tx.AgentByName("main")
				for i := 0; i < fleet && err == nil; i++ {
					_, err = tx.AddTask(store.Task{
						Queue: main.ID, Name: fmt.Sprint("a", i), Prompt: fmt.Sprintf("wait 40s then say result %d", i), Model: "builtin", Deliver: string(inbox.Hold),
					})
				}
				return err
			})
		})
		m, p := s.open(), s.program
		before, _ := resident(b, m.processes()...)
		t.row("fleet: memory before", "MB", "").add(p, before)
		for _, last := range []string{"a499", "a999"} { // what it did not write itself it shows, and starts when asked again
			m.enter("/run")
			m.see(last + ": wait")
		}
		began := time.Now()
		m.enter("/run")
		m.see(fmt.Sprintf("%d running", fleet))
		echo := t.row("fleet: key to echo", "ms", "")
		for range 50 {
			echo.ms(p, m.echo())
		}
		used := cpu(b, m.processes()...)
		pause(5 * time.Second)
		t.row("fleet: processor in 5 s while all wait", "ms", "").ms(p, cpu(b, m.processes()...)-used)
		running, _ := resident(b, m.processes()...)
		t.row("fleet: memory with all", "MB", "").add(p, running)
		m.see(fmt.Sprintf("%d pending]", fleet))
		t.row("fleet: until all have ended, each waits 40 s", "s", "").add(p, time.Since(began).Seconds())
		ended, _ := resident(b, m.processes()...)
		t.row("fleet: memory after", "MB", "").add(p, ended)
		m.stop()
		s.ends()
		s.write(b, func(db *store.DB) error {
			results := map[string]bool{}
			ms, err := inbox.New(db, nil).List(b.Context(), inbox.Query{Recipient: 1})
			for _, m := range ms {
				results[m.From] = m.Kind == inbox.Result && m.Outcome == string(history.Completed)
			}
			if len(ms) != fleet || len(results) != fleet {
				b.Errorf("%d messages from %d agents, want %d", len(ms), len(results), fleet)
			}
			for name, ok := range results {
				if !ok {
					b.Errorf("%s did not complete", name)
				}
			}
			return err
		})
	}
}
