package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fantail/inbox"
	"fantail/store"
	"fantail/store/storetest"
)

// BenchmarkBeside deposits in rounds, in turn through an inbox and with the bare driver: the same rows, and as many in
// one commit as the inbox had in the round before. It reports what both do in a second, the medians, and their ratio;
// and, beside that, what it takes to have a thousand of them found by their words, which a host does in a quiet moment.
func BenchmarkBeside(b *testing.B) {
	for _, writers := range []int{1, 8, 50} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			var commits atomic.Int64
			count := func(statement string) {
				if statement == "COMMIT" {
					commits.Add(1)
				}
			}
			box := inbox.New(workspace(b, filepath.Join(b.TempDir(), "fantail.db"), store.Options{Trace: count}), func(inbox.Rung) {})
			bare := bareDriver(b)
			m := inbox.Message{Recipient: 1, Sender: 2, Body: strings.Repeat("an answer ", 50)}
			each := 400 / writers
			all := each * writers
			deposit := func() {
				var g sync.WaitGroup
				for range writers {
					g.Go(func() {
						for range each {
							if _, err := box.Deposit(context.Background(), m); err != nil {
								b.Error(err)
							}
						}
					})
				}
				g.Wait()
			}
			perSecond := func(f func()) float64 {
				began := time.Now()
				f()
				return float64(all) / time.Since(began).Seconds()
			}
			words := func() (ms float64) {
				began := time.Now()
				if _, err := box.Shelf(context.Background(), inbox.Shelf{Recipient: 1, Search: "nowhere"}); err != nil {
					b.Error(err)
				}
				return 1000 * float64(time.Since(began)) / float64(time.Millisecond) / float64(all)
			}
			var inboxes, drivers, sizes, later []float64
			for b.Loop() {
				commits.Store(0)
				inboxes = append(inboxes, perSecond(deposit))
				n := int(commits.Load())
				later = append(later, words())
				drivers = append(drivers, perSecond(func() { bare(m, all, n) }))
				sizes = append(sizes, float64(all)/float64(n))
			}
			for name, fs := range map[string][]float64{"inbox/s": inboxes, "bare/s": drivers, "msgs/commit": sizes, "words-ms/1000": later} {
				slices.Sort(fs)
				b.ReportMetric(fs[len(fs)/2], name)
			}
			b.ReportMetric(100*inboxes[len(inboxes)/2]/drivers[len(drivers)/2], "%")
		})
	}
}

// workspace is a new one with two agents.
func workspace(b *testing.B, path string, o store.Options) *store.DB {
	db, err := storetest.Open(b.Context(), path, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	for _, name := range []string{"main", "lint"} {
		err := db.Write(b.Context(), "agent", func(tx *store.Tx) error {
			_, err := tx.AddAgent(store.Agent{Name: name, Kind: "helper", Model: "builtin", State: "idle"})
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return db
}

// bareDriver returns what writes m's row so many times in so many commits to a file of its own.
func bareDriver(b *testing.B) func(m inbox.Message, rows, commits int) {
	path := filepath.Join(b.TempDir(), "bare.db")
	if err := workspace(b, path, store.Options{}).Close(); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	prepared := func(query string) func(args ...any) {
		s, err := conn.PrepareContext(b.Context(), query)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close() })
		return func(args ...any) {
			if _, err := s.Exec(args...); err != nil {
				b.Fatal(err)
			}
		}
	}
	begin, commit := prepared("BEGIN IMMEDIATE"), prepared("COMMIT")
	insert := prepared(`INSERT INTO messages (recipient, sender, sender_name, kind, deliver, priority, tags, subject, body,
			outcome, error, partial_output, task, turn, in_reply_to, thread, muted, key, created_at, by_fork, hops)
		VALUES (?, ?, 'lint', 'mail', 'next', 'normal', '[]', '', ?, '', '', x'', NULL, NULL, NULL, NULL, 0, NULL, ?, 0, 0)`)
	return func(m inbox.Message, rows, commits int) {
		for i := range commits {
			begin()
			for range rows*(i+1)/commits - rows*i/commits {
				insert(m.Recipient, m.Sender, []byte(m.Body), time.Now().UnixMilli())
			}
			commit()
		}
	}
}
