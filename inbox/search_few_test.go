package inbox

import (
	"slices"
	"testing"
	"time"

	"fantail/store"
)

// TestSelect_fewOfMany: a search finds the few messages that wait, whether few or many others between them have the words.
func TestSelect_fewOfMany(t *testing.T) {
	for _, others := range []int{0, 3, 2 * walked, 3*walked + 5} {
		w := fresh(t)
		has := func(body string) int64 {
			return w.deposit(Message{From: "ci", Kind: Mail, Deliver: Hold, Body: body})
		}
		want := []int64{has("token one")}
		var ids []int64
		w.write(func(tx *store.Tx) error {
			for range others {
				id, err := w.box.Add(tx, Message{Recipient: w.main, From: "ci", Kind: Mail, Deliver: Hold, Body: "token"})
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
			return nil
		})
		has("another word")
		want = append(want, has("token two"))
		w.aside(time.Time{}, ids...)
		slices.Reverse(want)
		if got := numbers(w.selected(Selection{Search: "token"})); !slices.Equal(got, want) {
			t.Errorf("%d others: found %d, want %d", others, got, want)
		}
		if got := numbers(w.selected(Selection{Search: "token", Before: want[0]})); !slices.Equal(got, want[1:]) {
			t.Errorf("%d others: the next page is %d, want %d", others, got, want[1:])
		}
		if got := w.selected(Selection{Search: "nowhere"}); len(got) > 0 {
			t.Errorf("%d others: found %d", others, numbers(got))
		}
	}
}
