package inbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fantail/store"
)

// BenchmarkDeposit measures durable deposits: each returns after its fsync. BenchmarkBareDriver in package store
// measures the driver alone.
func BenchmarkDeposit(b *testing.B) {
	body := strings.Repeat("an answer ", 50)
	b.Run("1", func(b *testing.B) {
		w := fresh(b)
		for b.Loop() {
			w.deposit(Message{Sender: w.lint, Body: body})
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
	})
	b.Run("50", func(b *testing.B) {
		w := fresh(b)
		b.SetParallelism(25) // times GOMAXPROCS
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				w.deposit(Message{Sender: w.lint, Body: body})
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
	})
}

// BenchmarkSteady measures one durable deposit while eight goroutines deposit all the time; -benchtime 60s measures for
// a minute.
func BenchmarkSteady(b *testing.B) {
	const depositors = 8
	w := fresh(b)
	body := strings.Repeat("an answer ", 50)
	took := make(chan []time.Duration, depositors)
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	for range depositors {
		go func() {
			var ds []time.Duration
			for left.Add(-1) >= 0 {
				began := time.Now()
				if _, err := w.box.Deposit(context.Background(), Message{Recipient: w.main, Sender: w.lint, Body: body}); err != nil {
					b.Error(err)
					break
				}
				ds = append(ds, time.Since(began))
			}
			took <- ds
		}()
	}
	var all []time.Duration
	for range depositors {
		all = append(all, <-took...)
	}
	slices.Sort(all)
	for _, p := range []struct {
		name string
		at   int
	}{{"p50-us", len(all) / 2}, {"p99-us", len(all) * 99 / 100}} {
		b.ReportMetric(float64(all[p.at].Microseconds()), p.name)
	}
	b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "msgs/s")
}

func BenchmarkTake1000(b *testing.B) {
	w := fresh(b)
	for b.Loop() {
		b.StopTimer()
		w.fill(1000)
		b.StartTimer()
		if ms, left := w.take(Query{}); len(ms) != 1000 || left != 0 {
			b.Fatal(len(ms), left)
		}
	}
}

// Queries cost the same however much else waits in the inbox.
func BenchmarkPending(b *testing.B) {
	for _, n := range []int{10, 100_000} {
		w := fresh(b)
		w.fill(n)
		last := w.deposit(Message{Body: "due", Deliver: Wake, Priority: Urgent, Sender: w.lint})
		size := fmt.Sprint(n)
		b.Run("count/"+size, func(b *testing.B) {
			for b.Loop() {
				if got, err := w.box.Count(context.Background(), w.main); err != nil || got.Pending != n+1 {
					b.Fatal(got, err)
				}
			}
		})
		for name, q := range map[string]Query{
			"due": {Deliver: []Deliver{Wake}}, "urgent": {ByUrgency: true}, "from": {From: "lint"}, "newest": {LIFO: true}, "id": {ID: last},
		} {
			q.Recipient, q.Limit = w.main, 1
			b.Run(name+"/"+size, func(b *testing.B) {
				for b.Loop() {
					if ms, err := w.box.List(context.Background(), q); err != nil || len(ms) != 1 || ms[0].ID != last {
						b.Fatal(ms, err)
					}
				}
			})
		}
		for name, q := range map[string]Query{
			"take200": {}, "take200-from": {From: "lint"}, "take200-normal": {Priority: Normal}, "take200-due": {Deliver: []Deliver{Next}},
		} {
			q.Recipient, q.Limit = w.main, 200
			b.Run(name+"/"+size, func(b *testing.B) {
				for b.Loop() {
					err := w.db.Write(context.Background(), "take", func(tx *store.Tx) error {
						ms, _, err := w.box.Take(tx, q, "check", into(tx, w.main))
						if err == nil && q.From == "" && len(ms) < min(n, 200) {
							err = fmt.Errorf("took %d", len(ms))
						}
						return fmt.Errorf("undone: %w", err)
					})
					if !strings.HasSuffix(err.Error(), "%!w(<nil>)") {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run("glance/"+size, func(b *testing.B) {
			for b.Loop() {
				err := w.db.Read(context.Background(), func(rx *store.Rx) error {
					l, err := Glance(rx)
					if err == nil && len(l.Wrong) > 0 {
						b.Error(l.Wrong)
					}
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
