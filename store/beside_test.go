package store_test

import (
	"cmp"
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

// BenchmarkBeside deposits in rounds, in turn through an inbox and with the bare driver: the same rows by one goroutine
// that waits for no other, with as many in one commit as the inbox had in the round before, and then the same rows for
// as many callers, who are answered after the commit. Each of the three writes its own file, and nothing else writes to
// it: on a shared file each would find the others' pages in memory, and leave them some of its checkpoints. A round is
// long enough to include its checkpoints. The benchmark reports the medians of rows per second, and the inbox's ratio
// to both; and also the time to index a thousand messages by their words, which a host does in a quiet moment.
func BenchmarkBeside(b *testing.B) {
	for _, writers := range []int{1, 8, 50} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			var commits atomic.Int64
			count := func(statement string) {
				if statement == "COMMIT" {
					commits.Add(1)
				}
			}
			box := inbox.New(workspace(b, filepath.Join(b.TempDir(), "fantail.db"), store.Options{Trace: count}), func(inbox.Change) {})
			bare, server := newBareDriver(b), newBareDriver(b)
			m := inbox.Message{Recipient: 1, Sender: 2, Body: strings.Repeat("an answer ", 50)}
			each := 2000 / writers
			all := each * writers
			callers := func(deposit func() error) {
				var g sync.WaitGroup
				for range writers {
					g.Go(func() {
						for range each {
							if err := deposit(); err != nil {
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
			var inboxes, drivers, servers, sizes, served []float64
			for b.Loop() {
				commits.Store(0)
				inboxes = append(inboxes, perSecond(func() {
					callers(func() error {
						_, err := box.Deposit(context.Background(), m)
						return err
					})
				}))
				n := int(commits.Load())
				drivers = append(drivers, perSecond(func() {
					if err := bare.write(m, all, n); err != nil {
						b.Error(err)
					}
				}))
				sizes = append(sizes, float64(all)/float64(n))
				servers = append(servers, perSecond(func() {
					deposit, end := server.serve()
					callers(func() error { return deposit(m) })
					served = append(served, float64(all)/float64(end()))
				}))
			}
			for name, fs := range map[string][]float64{
				"inbox/s": inboxes, "bare/s": drivers, "served/s": servers,
				"msgs/commit": sizes, "served/commit": served,
			} {
				slices.Sort(fs)
				b.ReportMetric(fs[len(fs)/2], name)
			}
			b.ReportMetric(100*inboxes[len(inboxes)/2]/drivers[len(drivers)/2], "%bare")
			b.ReportMetric(100*inboxes[len(inboxes)/2]/servers[len(servers)/2], "%served")
			began := time.Now()
			if _, err := box.Select(context.Background(), inbox.Selection{Recipient: 1, Search: "nowhere"}); err != nil {
				b.Error(err)
			}
			b.ReportMetric(1000*float64(time.Since(began))/float64(time.Millisecond)/float64(all*len(inboxes)), "words-ms/1000")
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

// bareDriver writes messages' rows to a file of its own, with only the driver.
type bareDriver struct {
	begin, commit func() error
	insert        func(m inbox.Message) error
}

func newBareDriver(b *testing.B) *bareDriver {
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
	prepared := func(query string) *sql.Stmt {
		s, err := conn.PrepareContext(b.Context(), query)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close() })
		return s
	}
	plain := func(query string) func() error {
		s := prepared(query)
		return func() error {
			_, err := s.Exec()
			return err
		}
	}
	insert := prepared(`INSERT INTO messages (recipient, sender, sender_name, kind, deliver, priority, tags, subject, body,
			outcome, error, partial_output, task, turn, in_reply_to, thread, muted, key, created_at, by_fork, hops)
		VALUES (?, ?, 'lint', 'mail', 'next', 'normal', '[]', '', ?, '', '', x'', NULL, NULL, NULL, NULL, 0, NULL, ?, 0, 0)`)
	return &bareDriver{begin: plain("BEGIN IMMEDIATE"), commit: plain("COMMIT"), insert: func(m inbox.Message) error {
		_, err := insert.Exec(m.Recipient, m.Sender, []byte(m.Body), time.Now().UnixMilli())
		return err
	}}
}

// write writes m's row so many times in so many commits.
func (d *bareDriver) write(m inbox.Message, rows, commits int) error {
	for i := range commits {
		if err := d.begin(); err != nil {
			return err
		}
		for range rows*(i+1)/commits - rows*i/commits {
			if err := d.insert(m); err != nil {
				return err
			}
		}
		if err := d.commit(); err != nil {
			return err
		}
	}
	return nil
}

// serve writes the messages of all callers of deposit that wait, in one commit, until end is called, which returns the
// number of commits.
func (d *bareDriver) serve() (deposit func(m inbox.Message) error, end func() (commits int)) {
	type row struct {
		m    inbox.Message
		done chan error
	}
	rows, ended, commits := make(chan row), make(chan struct{}), 0
	next := func() (row, bool) {
		select {
		case r, ok := <-rows:
			return r, ok
		default:
			return row{}, false
		}
	}
	go func() {
		defer close(ended)
		for first := range rows {
			var waiting []row
			err := d.begin()
			for r, ok := first, true; ok; r, ok = next() {
				err = cmp.Or(err, d.insert(r.m))
				waiting = append(waiting, r)
			}
			err = cmp.Or(err, d.commit())
			commits++
			for _, r := range waiting {
				r.done <- err
			}
		}
	}()
	return func(m inbox.Message) error {
			done := make(chan error, 1)
			rows <- row{m, done}
			return <-done
		}, func() int {
			close(rows)
			<-ended
			return commits
		}
}
