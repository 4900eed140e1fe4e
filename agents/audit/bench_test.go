package audit_test

import (
	"path/filepath"
	"testing"

	"fantail/agents/audit"
	"fantail/agents/history"
	"fantail/store"
	"fantail/store/storetest"
)

// BenchmarkEntry records the result of a call, with a row and without.
func BenchmarkEntry(b *testing.B) {
	dir := b.TempDir()
	db, err := storetest.Open(b.Context(), filepath.Join(dir, "fantail.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	log, err := audit.Open(b.Context(), audit.Options{DB: db, Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	var agent int64
	if err := db.Write(b.Context(), "make an agent", func(tx *store.Tx) (err error) {
		agent, err = tx.AddAgent(store.Agent{Name: "lint", Kind: "sub", Model: "m", State: "idle"})
		return err
	}); err != nil {
		b.Fatal(err)
	}
	for name, auditor := range map[string]history.Auditor{"with": log.Entry, "without": nil} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := db.Write(b.Context(), "bench", func(tx *store.Tx) error {
					_, err := history.Writer{Agent: agent, Audit: auditor}.Batch(tx).Add(0, history.Entry{
						Kind: history.EntryResult, Result: &history.Result{ID: "a", Name: "read_file", Text: "four"},
					})
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
