package store

import (
	"testing"
	"time"
)

// TestFirstAt: it finds the first row of a time or later, for any number of rows and also where ids are missing.
func TestFirstAt(t *testing.T) {
	db := fresh(t)
	const query = `SELECT id, at FROM audit WHERE id >= ? ORDER BY id LIMIT 1`
	at := func(second int) time.Time { return time.Unix(1_000_000+int64(second), 0) }
	find := func(second int) (id int64) {
		read(t, db, func(rx *Rx) (err error) {
			id, err = rx.FirstAt(query, at(second))
			return err
		})
		return id
	}
	if got := find(0); got != 1 {
		t.Errorf("without rows it is %d", got)
	}
	write(t, db, func(tx *Tx) error {
		for i := range 100 {
			if err := AddAudit(tx, Audit{ID: int64(3*i + 5), At: at(10 * i), What: "call"}); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range []struct {
		second      int
		above, upTo int64 // the id is above the first and at most the second
	}{
		{-5, 0, 5}, {0, 0, 5}, {1, 5, 8}, {10, 5, 8}, {495, 152, 155}, {990, 299, 302}, {991, 302, 303},
	} {
		if got := find(c.second); got <= c.above || got > c.upTo {
			t.Errorf("at %d s it is %d, want one above %d and at most %d", c.second, got, c.above, c.upTo)
		}
	}
}
