package inbox

import (
	"context"
	"fmt"
	"testing"

	"fantail/store"
)

// crowd is an inbox with n waiting, n archived and n taken messages, of all lanes, some pinned, each with some words of
// its own. It writes the rows without Add, which takes minutes for so many.
func (w *world) crowd(n int) {
	w.t.Helper()
	w.write(func(tx *store.Tx) error {
		entry, err := tx.Append(w.main, 0, "message", "[]")
		if err != nil {
			return err
		}
		for part, state := range []string{`1, 'check', ` + fmt.Sprint(entry), `1, 'archive', NULL`, `NULL, '', NULL`} {
			_, err := tx.Exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
				INSERT INTO messages (recipient, sender, sender_name, kind, deliver, priority, body, pinned, created_at, taken_at, taken_by, entry)
				SELECT ?, ?, 'lint', json_extract('["mail","result","failure","notice","question"]', '$[' || (i % 5) || ']'), 'hold',
					iif(i % 50 = 0, 'urgent', 'normal'),
					CAST('result ' || i || ' of part ' || ? || ': the token refresh of file' || (i % 997) || '.go works' AS BLOB),
					? = 2 AND i % ? = 7, 1, `+state+` FROM n`, n, w.main, w.lint, part, part, n/20)
			if err != nil {
				return err
			}
		}
		if _, err := tx.Exec(`UPDATE counts_upto SET message = ?`, 3*n); err != nil {
			return err
		}
		t, err := sum(&tx.View, `recipient = ? AND taken_at IS NULL`, w.main)
		var c *change
		if err == nil {
			c, err = w.box.change(tx, w.main)
		}
		if err == nil {
			w.box.keep(tx, c, t, Change{})
		}
		if err == nil {
			for range 3*n/slice + 1 {
				if err == nil {
					_, err = index(tx, 3*int64(n))
				}
			}
		}
		return err
	})
}

// The first page of a list and any other cost the same, however long the list is.
func BenchmarkSelect(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		w := fresh(b)
		w.crowd(n)
		all := w.selected(Selection{Limit: 1 << 20})
		if len(all) != n {
			b.Fatal(len(all), "wait")
		}
		middle := all[n/2].ID
		archived := w.selected(Selection{Of: Archived, Limit: n/2 + 1})[n/2].ID
		for name, s := range map[string]Selection{
			"first": {}, "middle": {Before: middle}, "last": {Before: all[n-20].ID}, "back": {Before: middle, Back: true},
			"lane": {Lane: Failed}, "lane-middle": {Lane: Failed, Before: middle}, "folded": {Folded: true, Before: middle},
			"archived": {Of: Archived}, "archived-middle": {Of: Archived, Before: archived}, "archived-lane": {Of: Archived, Lane: Done, Before: archived},
			"snoozed": {Of: Snoozed}, "everything": {Of: Everything, Before: archived},
			"search-many": {Search: "token ref"}, "search-middle": {Search: "token", Before: middle},
			"search-few": {Search: "file99.go", Of: Everything}, "search-none": {Search: "nowhere"}, "search-lane": {Search: "refresh", Lane: Needs},
			"search-snoozed": {Search: "refresh", Of: Snoozed}, "search-archived": {Search: "refresh", Of: Archived},
		} {
			s.Recipient, s.Limit = w.main, 100
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := w.box.Select(context.Background(), s); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("lanes/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := w.box.Lanes(context.Background(), w.main); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A search of few waiting messages costs the same in a large database: of an inbox that never had more, and of one where
// most were archived.
func BenchmarkSearchFew(b *testing.B) {
	for _, n := range []int{10_000, 50_000} {
		w := fresh(b)
		few := func() {
			for range 75 {
				w.deposit(Message{Recipient: w.lint, Kind: Failure, Deliver: Hold, Subject: "the token refresh", Error: "failed"})
			}
		}
		few()
		w.crowd(n)
		few()
		w.write(func(tx *store.Tx) error {
			_, err := tx.Exec(`UPDATE messages SET taken_at = 1, taken_by = 'archive' WHERE taken_at IS NULL AND recipient = ? AND lane = 'failed' AND id / 5 % ? <> 0`, w.main, n/5/150)
			return err
		})
		for name, s := range map[string]Selection{"thin": {Recipient: w.lint}, "thinned": {Recipient: w.main, Lane: Failed}} {
			for _, words := range []string{"token", "tok", "nowhere"} {
				s.Search, s.Limit = words, 100
				b.Run(fmt.Sprintf("%s/%s/%d", name, words, n), func(b *testing.B) {
					for b.Loop() {
						ms, err := w.box.Select(context.Background(), s)
						if err != nil || (len(ms) == 0) != (words == "nowhere") {
							b.Fatal(len(ms), err)
						}
					}
				})
			}
		}
	}
}
