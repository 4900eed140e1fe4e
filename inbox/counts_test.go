package inbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"fantail/.ci/long"
	"fantail/store"
	"fantail/store/storetest"
)

// behind returns how many messages the table counts lacks.
func (w *world) behind() (n int) {
	w.t.Helper()
	err := w.db.Read(w.t.Context(), func(rx *store.Rx) error {
		return rx.QueryRow(`SELECT count(*) FROM messages WHERE id > (SELECT message FROM counts_upto)`).Scan(&n)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// rang fails the test if the last change of an inbox has other numbers than its rows.
func (w *world) rang() {
	w.t.Helper()
	last := map[int64]Change{}
	for _, r := range w.bells.take() {
		last[r.Recipient] = r
	}
	for _, r := range last {
		c, err := w.box.Count(w.t.Context(), r.Recipient)
		if err != nil || c.Pending != r.Pending || c.Asks != r.Asks || c.Urgent != r.Urgent {
			w.t.Errorf("rang %+v, but %+v wait (%v)", r, c, err)
		}
	}
}

// A deposit to a known inbox writes only its message, and reads nothing.
func TestDeposit_writesItsMessageOnly(t *testing.T) {
	var mu sync.Mutex
	var ran []string
	db, err := storetest.Open(t.Context(), filepath.Join(storetest.Dir(t), "fantail.db"), store.Options{Trace: func(s string) {
		mu.Lock()
		defer mu.Unlock()
		words := strings.Fields(s)
		ran = append(ran, strings.Join(words[:min(3, len(words))], " "))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w := &world{t: t, db: db}
	w.box, w.main = New(db, w.bells.ring), w.agent("main")
	w.deposit(Message{Body: "one"})
	mu.Lock()
	ran = nil
	mu.Unlock()
	w.deposit(Message{Body: "two", Priority: Urgent})
	mu.Lock()
	if want := []string{"BEGIN IMMEDIATE", "INSERT INTO messages", "COMMIT"}; !slices.Equal(ran, want) {
		t.Errorf("it ran %q, want %q", ran, want)
	}
	mu.Unlock()
	w.rang()
}

// However many messages arrive, few are uncounted, and the reported numbers are right: for single deposits, in large
// transactions, by another program, for more inboxes than are remembered, and after the file was reopened.
func TestCounts_ofWhatCame(t *testing.T) {
	path := filepath.Join(storetest.Dir(t), "fantail.db")
	w, other := at(t, path), at(t, path)
	most := func(what string, n int) {
		t.Helper()
		if got := w.behind(); got > n {
			t.Errorf("%s: %d messages are not counted", what, got)
		}
		w.rang()
		w.sound()
	}
	for i := range long.Times(2, 3) * uncounted {
		w.deposit(Message{Body: fmt.Sprint(i), Recipient: []int64{w.main, w.lint}[i%2], Priority: []Priority{Normal, Urgent, Low}[i%3]})
	}
	most("alone", uncounted)
	many := func(of *world, recipients ...int64) {
		t.Helper()
		of.write(func(tx *store.Tx) error {
			for _, to := range recipients {
				if _, err := of.box.Add(tx, Message{Recipient: to, Body: "of many", Kind: Failure}); err != nil {
					return err
				}
			}
			return nil
		})
		of.rang()
	}
	many(w, slices.Repeat([]int64{w.main}, 5*uncounted)...)
	most("in a large transaction", 0)
	for range long.Times(1, 2)*uncounted + 5 {
		many(other, w.lint)
		many(w, w.lint, w.main)
	}
	most("in turn with another program", uncounted)
	var all []int64
	w.write(func(tx *store.Tx) error {
		for i := range remembered + 50 {
			id, err := tx.AddAgent(store.Agent{Name: fmt.Sprint("a", i), Kind: "helper", Model: "builtin", State: "idle"})
			if err != nil {
				return err
			}
			all = append(all, id)
		}
		return nil
	})
	for range 2 {
		for some := range slices.Chunk(all, 40) {
			many(w, some...)
		}
		many(w, all...)
	}
	most("for many", 0)
	many(w, all[:uncounted-1]...)
	if n := w.behind(); n != uncounted-1 {
		t.Fatal(n, "are not counted")
	}
	again := at(t, path)
	again.take(Query{Recipient: all[0]})
	again.rang()
	again.deposit(Message{Recipient: all[1], Body: "one more"})
	again.rang()
	most("opened again", 1)
}
