package inbox

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fantail/store"
)

// forget makes the words of all messages not found.
func (w *world) forget() {
	w.t.Helper()
	w.write(func(tx *store.Tx) error {
		if _, err := tx.Exec(`INSERT INTO words (words) VALUES ('delete-all')`); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE words_upto SET message = 0`)
		return err
	})
}

// upTo is the last message that is found by its words.
func (w *world) upTo() int64 {
	w.t.Helper()
	n, _, err := indexed(w.t.Context(), w.db)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// What was left out is indexed in slices, and a search in the middle of it finds all.
func TestIndex_inSlices(t *testing.T) {
	w := fresh(t)
	w.fill(3*slice + 7)
	w.forget()
	w.write(func(tx *store.Tx) error { return index(tx, 3*slice+7) })
	if n := w.upTo(); n != slice {
		t.Errorf("one transaction indexes %d messages", n)
	}
	if n := len(w.shelf(Shelf{Search: "0/0", Limit: 10_000})); n != 3*slice+7 || w.upTo() != 3*slice+7 {
		t.Errorf("%d are found, %d are indexed", n, w.upTo())
	}
}

// TestIndex_inAQuietMoment: what comes is indexed when no more comes, or far too much is not, and nothing happens where
// nobody deposits.
func TestIndex_inAQuietMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fresh(t)
		w.fill(2*slice - 1)
		w.forget()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.box.Words.Index(ctx) }()
		is := func(want int64, why string) {
			t.Helper()
			synctest.Wait()
			if got := w.upTo(); got != want {
				t.Errorf("%d are indexed, want %d: %s", got, want, why)
			}
		}
		all := 2*slice - 1
		fill := func(n int) {
			w.fill(n)
			all += n
		}
		is(2*slice-1, "it has begun")
		fill(slice - 1)
		time.Sleep(time.Hour)
		is(2*slice-1, "less than a slice is left out, but for what was when nobody told")
		for all < 2*slice-1+farBehind {
			fill(slice / 2)
			time.Sleep(lull / 2)
		}
		is(2*slice-1, "others go on to deposit")
		fill(slice)
		time.Sleep(lull)
		is(int64(all), "far too much is not")
		fill(slice + 1)
		is(int64(all-slice-1), "others may go on")
		time.Sleep(2 * lull)
		is(int64(all), "nobody does")
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
