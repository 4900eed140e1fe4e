package inbox

import (
	"reflect"
	"testing"

	"fantail/store"
)

// A folded list has the newest waiting message of each thread and lane, with the number of older ones; a pinned one is
// listed by itself.
//
// Spec: M-36.
func TestSelect_folds(t *testing.T) {
	w := fresh(t)
	write := func(to, reply int64, pr Priority) int64 {
		return w.deposit(Message{Recipient: to, Sender: w.lint, Kind: Mail, Body: "b", InReplyTo: reply, Priority: pr})
	}
	a1 := write(w.main, 0, Normal)
	b1 := write(w.main, 0, Normal)
	a2 := write(w.lint, a1, Normal) // an answer, in another inbox
	a3 := write(w.main, a2, Urgent)
	a4 := write(w.main, a3, Normal)
	shown := func(s Selection) (ids []int64, folded []int) {
		s.Folded = true
		for _, m := range w.selected(s) {
			ids, folded = append(ids, m.ID), append(folded, m.Folded)
		}
		return ids, folded
	}
	check := func(what string, s Selection, ids []int64, folded []int) {
		t.Helper()
		if i, f := shown(s); !reflect.DeepEqual(i, ids) || !reflect.DeepEqual(f, folded) {
			t.Errorf("%s: %v %v, want %v %v", what, i, f, ids, folded)
		}
	}
	check("all", Selection{}, []int64{a3, a4, b1}, []int{2, 3, 0})
	check("a lane", Selection{Lane: Needs}, []int64{a3}, []int{2})
	check("another", Selection{Lane: FYI}, []int64{a4, b1}, []int{3, 0})
	check("searched", Selection{Search: "b"}, []int64{a4, a3, b1, a1}, []int{0, 0, 0, 0})
	w.write(func(tx *store.Tx) error { return w.box.Pin(tx, w.main, a1, true) })
	check("pinned", Selection{}, []int64{a1, a3, a4, b1}, []int{0, 2, 3, 0})
	check("from the end", Selection{Back: true, Limit: 2}, []int64{a4, b1}, []int{3, 0})
}

// BenchmarkSelect_folded reads a page of 200 from the beginning, the middle and the end of 100,000 messages, a tenth of
// them in one of many threads.
func BenchmarkSelect_folded(b *testing.B) {
	w := fresh(b)
	const n = 100_000
	w.write(func(tx *store.Tx) error {
		for i := range n {
			m := Message{Recipient: w.main, Sender: w.lint, Kind: Mail, Body: "a word or two", Tags: []string{"ci"}}
			if i%10 == 9 {
				m.InReplyTo = int64(i - 1 - i/1000)
			}
			if _, err := w.box.Add(tx, m); err != nil {
				return err
			}
		}
		return nil
	})
	for _, s := range []struct {
		name string
		s    Selection
	}{
		{"first", Selection{}}, {"middle", Selection{Before: n / 2}}, {"last", Selection{Back: true}}, {"lane", Selection{Lane: FYI, Before: n / 2}}, {"search", Selection{Search: "word tw"}},
	} {
		b.Run(s.name, func(b *testing.B) {
			s.s.Recipient, s.s.Folded, s.s.Limit = w.main, true, 200
			for b.Loop() {
				if ms, err := w.box.Select(b.Context(), s.s); err != nil || len(ms) != 200 {
					b.Fatal(len(ms), err)
				}
			}
		})
	}
}
