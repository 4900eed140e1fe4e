package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// Opening a current database is part of the program's start.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "fantail.db")
	db, err := Open(b.Context(), path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	agent(b, db, "main")
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		db, err := Open(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// The first read of a program: the reader's connection is opened by it.
func BenchmarkOpenAndRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "fantail.db")
	db, err := Open(b.Context(), path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	agent(b, db, "main")
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		db, err := Open(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		read(b, db, func(rx *Rx) error {
			_, err := rx.Agents()
			return err
		})
		b.StopTimer()
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 50} {
		b.Run(map[int]string{1: "one", 50: "fifty"}[n], func(b *testing.B) {
			db := fresh(b)
			id := agent(b, db, "main")
			b.SetParallelism(max(n/2, 1))
			if n == 1 {
				for b.Loop() {
					write(b, db, func(tx *Tx) error {
						_, err := tx.Append(id, 0, "text", `{"text":"a line of an answer"}`)
						return err
					})
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						write(b, db, func(tx *Tx) error {
							_, err := tx.Append(id, 0, "text", `{"text":"a line of an answer"}`)
							return err
						})
					}
				})
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}

// BenchmarkBareDriver writes the same rows with the bare driver, one commit each: an entry, and a message as
// BenchmarkDeposit in package inbox deposits it, without its count.
func BenchmarkBareDriver(b *testing.B) {
	for name, c := range map[string]struct {
		query string
		args  []any
	}{
		"entry": {
			`INSERT INTO entries (agent, turn, kind, data, created_at) VALUES (1, NULL, 'text', ?, 0)`,
			[]any{`{"text":"a line of an answer"}`},
		},
		"message": {
			`INSERT INTO messages (recipient, sender, sender_name, kind, deliver, body, created_at) VALUES (1, 1, 'main', 'mail', 'next', ?, 0)`,
			[]any{[]byte(strings.Repeat("an answer ", 50))},
		},
	} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "bare.db")
			agent(b, reopen(b, path), "main")
			bare, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)")
			if err != nil {
				b.Fatal(err)
			}
			defer bare.Close()
			bare.SetMaxOpenConns(1)
			stmt, err := bare.Prepare(c.query)
			if err != nil {
				b.Fatal(err)
			}
			defer stmt.Close()
			for b.Loop() {
				if _, err := stmt.Exec(c.args...); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}

func BenchmarkRead(b *testing.B) {
	db := fresh(b)
	agent(b, db, "main")
	for b.Loop() {
		read(b, db, func(rx *Rx) error {
			_, _, err := rx.Setting("x")
			return err
		})
	}
}

// A page of a transcript costs the same at any length.
func BenchmarkPage(b *testing.B) {
	for _, length := range []int{1_000, 100_000} {
		b.Run(map[int]string{1_000: "1k", 100_000: "100k"}[length], func(b *testing.B) {
			db := fresh(b)
			id := agent(b, db, "main")
			var middle atomic.Int64
			write(b, db, func(tx *Tx) error {
				for i := range length {
					seq, err := tx.Append(id, 0, "text", `{"text":"x"}`)
					if err != nil {
						return err
					}
					if i == length/2 {
						middle.Store(seq)
					}
				}
				return nil
			})
			for b.Loop() {
				err := db.Read(context.Background(), func(rx *Rx) error {
					if _, err := rx.EntriesBefore(id, middle.Load(), 50); err != nil {
						return err
					}
					_, _, err := rx.LastEntry(id, "cleared")
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
