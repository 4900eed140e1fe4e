package agents_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"fantail/agents/llm/builtin"
	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools"
)

// BenchmarkNested drains a queue of tasks that each dispatch another and wait for
// it, beside the tabs of those that ended.
func BenchmarkNested(b *testing.B) {
	const tasks = 400
	for b.Loop() {
		w := open(b, builtin.New(), setting{Dir: b.TempDir()})
		for n := range tasks {
			_, err := w.Pool.Tasks.Push(b.Context(), w.Main(), tools.Task{Prompt: fmt.Sprintf("delegate kid%d: say deep then say asked", n), Deliver: "hold"})
			check(b, err)
		}
		w.Run(0)
		check(b, w.Pool.Settled(b.Context()))
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(2*tasks*b.N), "ms/task")
}

// BenchmarkOutside takes in one task, or one message, from another process beside many queued tasks.
func BenchmarkOutside(b *testing.B) {
	for _, queued := range []int{0, 1000, 10000} {
		w := open(b, builtin.New(), setting{Dir: b.TempDir()})
		w.Main()
		db, err := store.Open(b.Context(), filepath.Join(w.Dir, "fantail.db"), store.Options{})
		check(b, err)
		check(b, db.Write(b.Context(), "fill the queue", func(tx *store.Tx) error {
			for n := range queued {
				_, err := tx.AddTask(store.Task{Queue: w.Main(), Name: fmt.Sprintf("job%d", n), Prompt: "x", Origin: tasks.OriginCLI, Deliver: "hold"})
				if err != nil {
					return err
				}
			}
			return nil
		}))
		w.Pool.Refresh(b.Context())
		d := &mail.Client{DB: db, Origin: tasks.OriginCLI, Model: "test/one", Ring: func() {}}
		for what, do := range map[string]func() error{
			"push": func() error { _, err := d.Push(b.Context(), mail.OutsideOrder{Prompt: "x"}); return err },
			"send": func() error {
				_, err := d.Mail(b.Context(), mail.OutsideDeposit{To: []string{"main"}, Body: "x"})
				return err
			},
		} {
			b.Run(fmt.Sprintf("%s/queued=%d", what, queued), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					check(b, do())
					b.StartTimer()
					w.Pool.Refresh(b.Context())
				}
				w.Feed.Take()
			})
		}
		check(b, db.Close())
		w.Close()
	}
}
