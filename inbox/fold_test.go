package inbox

import (
	"reflect"
	"testing"

	"fantail/store"
)

// A folded shelf has of each thread the newest that waits, with how many stand
// before it; a pinned one stands for itself.
//
// Spec: M-36.
func TestShelf_folds(t *testing.T) {
	w := fresh(t)
	write := func(to, reply int64, pr Priority) int64 {
		return w.deposit(Message{Recipient: to, Sender: w.lint, Kind: Mail, Body: "b", InReplyTo: reply, Priority: pr})
	}
	a1 := write(w.main, 0, Normal)
	b1 := write(w.main, 0, Normal)
	a2 := write(w.lint, a1, Normal) // an answer, in another inbox
	a3 := write(w.main, a2, Urgent)
	a4 := write(w.main, a3, Normal)
	shown := func(s Shelf) (ids []int64, folded []int) {
		s.Folded = true
		for _, m := range w.shelf(s) {
			ids, folded = append(ids, m.ID), append(folded, m.Folded)
		}
		return ids, folded
	}
	check := func(what string, s Shelf, ids []int64, folded []int) {
		t.Helper()
		if i, f := shown(s); !reflect.DeepEqual(i, ids) || !reflect.DeepEqual(f, folded) {
			t.Errorf("%s: %v %v, want %v %v", what, i, f, ids, folded)
		}
	}
	check("all", Shelf{}, []int64{a4, b1}, []int{3, 0})
	check("a lane", Shelf{Lane: Needs}, []int64{a3}, []int{2})
	check("another", Shelf{Lane: FYI}, []int64{a4, b1}, []int{3, 0})
	check("searched", Shelf{Search: "b"}, []int64{a4, a3, b1, a1}, []int{0, 0, 0, 0})
	w.write(func(tx *store.Tx) error { return w.box.Pin(tx, w.main, a1, true) })
	check("pinned", Shelf{}, []int64{a1, a4, b1}, []int{0, 3, 0})
	check("from the end", Shelf{Back: true, Limit: 2}, []int64{a4, b1}, []int{3, 0})
}
