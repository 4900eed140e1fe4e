package figures

import (
	"fmt"
	"math/rand/v2"
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
	base := serve(b, 0, 0).base
	s := newSite(b, base)
	s.env = append(s.env, "FANTAIL_MODEL=builtin", fmt.Sprint("FANTAIL_MAX_RUNNING=", fleet))
	open(b, s, programEnv).stop() // makes the workspace
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
	f := measure(b)
	t, empty := open(b, s, programEnv), open(b, newSite(b, base), emptyEnv)
	defer t.stop()
	defer empty.stop()
	pid := t.cmd.Process.Pid
	before, _ := resident(b, pid)
	began := time.Now()
	t.send("/run\r")
	all := t.see(fmt.Sprintf("%d running", fleet)).Sub(began)
	for range sizes().keys / 3 {
		for name, t := range map[string]*terminal{"": t, "empty-": empty} {
			typed := time.Now()
			t.send("Q")
			f.ms(name+"key-ms", t.see(prompt+"Q").Sub(typed))
			t.send("\x7f")
			t.lose(prompt + "Q")
			pause(rand.N(20 * time.Millisecond))
		}
	}
	used := cpu(b, pid)
	pause(5 * time.Second)
	used = cpu(b, pid) - used
	running, own := resident(b, pid)
	t.see(fmt.Sprintf("%d pending]", fleet))
	over := time.Since(began)
	ended, _ := resident(b, pid)
	t.stop()

	results := map[string]bool{}
	s.write(b, func(db *store.DB) error {
		ms, err := inbox.New(db, nil).List(b.Context(), inbox.Query{Recipient: 1})
		for _, m := range ms {
			results[m.From] = m.Kind == inbox.Result && m.Outcome == string(history.Completed)
		}
		if len(ms) != fleet || len(results) != fleet {
			b.Errorf("%d messages from %d agents, want %d", len(ms), len(results), fleet)
		}
		return err
	})
	for name, ok := range results {
		if !ok {
			b.Errorf("%s did not complete", name)
		}
	}
	for _, name := range []string{"", "empty-"} {
		f.report(name+"key-p50-ms", f.at(name+"key-ms", 0.5))
		f.report(name+"key-p99-ms", f.at(name+"key-ms", 0.99))
	}
	b.Logf("%d agents, load %s", fleet, load())
	b.Logf("all run after %.2f s, all results are there after %.1f s (each waits 40 s)", all.Seconds(), over.Seconds())
	f.row("key to echo, p50", "ms", f.at("key-ms", 0.5), f.at("empty-key-ms", 0.5), "-")
	f.row("key to echo, p99", "ms", f.at("key-ms", 0.99), f.at("empty-key-ms", 0.99), "-")
	f.alone("processor in 5 s while all wait", "s", used.Seconds(), "-")
	f.alone("memory before", "MB", before, "-")
	f.alone("memory with all", "MB", running, "-")
	f.alone("  of it not the binary's pages", "MB", own, "-")
	f.alone("memory when all have ended", "MB", ended, "-")
}
