package inbox

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fantail/store"
)

// forget removes the words of all messages from the index.
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

// Missing messages are indexed in slices, and a search meanwhile finds all.
func TestIndex_inSlices(t *testing.T) {
	w := fresh(t)
	w.fill(3*slice + 7)
	w.forget()
	w.write(func(tx *store.Tx) error {
		_, err := index(tx, 3*slice+7)
		return err
	})
	if n := w.upTo(); n != slice {
		t.Errorf("one transaction indexes %d messages", n)
	}
	if n := len(w.selected(Selection{Search: "0/0", Limit: 10_000})); n != 3*slice+7 || w.upTo() != 3*slice+7 {
		t.Errorf("%d are found, %d are indexed", n, w.upTo())
	}
}

// TestIndex_inAQuietMoment: messages are indexed when no more arrive, or when far too many are missing; without
// deposits nothing happens.
func TestIndex_inAQuietMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fresh(t)
		w.fill(2*slice - 1)
		w.forget()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.box.Words.Index(ctx, func(err error) { t.Error(err) })
		}()
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
			time.Sleep(lull * 3 / 10) // the last of them between two ticks
		}
		is(2*slice-1, "others go on to deposit")
		fill(slice)
		time.Sleep(lull)
		is(int64(all), "far too much is not")
		fill(slice + 1)
		is(int64(all-slice-1), "others may go on")
		time.Sleep(2 * lull)
		is(int64(all), "nobody does")
		fill(slice - 1)
		time.Sleep(time.Hour)
		is(int64(all-slice+1), "less than a slice is left out")
		if _, err := New(w.db, nil).Deposit(ctx, Message{Recipient: w.main, Sender: w.lint, Body: "through another inbox"}); err != nil {
			t.Error(err)
		}
		all++
		w.box.Words.LeftOut()
		time.Sleep(2 * lull)
		is(int64(all-slice), "less than a slice is left out, and one")
		fill(2)
		w.box.Words.LeftOut()
		time.Sleep(2 * lull)
		is(int64(all), "who saw others deposit says so")
		cancel()
		<-ended
	})
}

// TestIndex_whenItFails: the error is reported, and indexing is tried again when more messages arrive.
func TestIndex_whenItFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fresh(t)
		w.fill(slice + 1)
		w.forget()
		w.write(func(tx *store.Tx) error {
			_, err := tx.Exec(`ALTER TABLE words_upto RENAME TO words_gone`)
			return err
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended, told := make(chan struct{}), make(chan error, 1)
		go func() {
			defer close(ended)
			w.box.Words.Index(ctx, func(err error) { told <- err })
		}()
		if err := <-told; !strings.Contains(err.Error(), "words_upto") {
			t.Error(err)
		}
		w.write(func(tx *store.Tx) error {
			_, err := tx.Exec(`ALTER TABLE words_gone RENAME TO words_upto`)
			return err
		})
		w.box.Words.LeftOut()
		time.Sleep(2 * lull)
		synctest.Wait()
		if n := w.upTo(); n != slice+1 {
			t.Errorf("%d are indexed", n)
		}
		cancel()
		<-ended
	})
}

// TestIndex_whileOthersDeposit: earlier messages are indexed, and a search returns, though more arrive all the time.
func TestIndex_whileOthersDeposit(t *testing.T) {
	w := fresh(t)
	w.fill(4 * slice)
	w.forget()
	over := make(chan struct{})
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if _, err := w.box.Deposit(t.Context(), Message{Recipient: w.main, Sender: w.lint, Body: "more"}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	if n := len(w.selected(Selection{Search: "0/0", Limit: 10_000})); n != 4*slice {
		t.Errorf("%d are found", n)
	}
	close(over)
	others.Wait()
}
