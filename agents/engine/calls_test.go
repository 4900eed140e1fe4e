package engine

import (
	"slices"
	"testing"

	"fantail/agents/history"
)

// What an engine has by its calls is not told again, until its program is lost or it is written down. An entry of
// messages that a call took, and that it may or may not have, is in doubt.
func TestHad(t *testing.T) {
	es := []history.Entry{
		{Seq: 1, Kind: history.EntryText}, {Seq: 2, Kind: history.EntryMessage, By: byCall}, {Seq: 3, Kind: history.EntryMessage, By: "check"},
	}
	for _, c := range []struct {
		name  string
		do    func(h *had)
		rest  []int64
		doubt bool
		some  bool
	}{
		{"nothing", func(*had) {}, []int64{1, 2, 3}, true, false},
		{"one", func(h *had) { h.by(2) }, []int64{1, 3}, false, true},
		{"another", func(h *had) { h.by(3) }, []int64{1, 2}, true, true},
		{"two", func(h *had) { h.by(2); h.by(3) }, []int64{1}, false, true},
		{"lost", func(h *had) { h.by(2); h.lost() }, []int64{1, 2, 3}, true, false},
		{"lost, then one", func(h *had) { h.by(3); h.lost(); h.by(2) }, []int64{1, 3}, false, true},
		{"written down before it", func(h *had) { h.by(2); h.upTo(1) }, []int64{1, 3}, false, true},
		{"written down with it", func(h *had) { h.by(2); h.upTo(2) }, []int64{1, 2, 3}, true, false},
		{"written down in part", func(h *had) { h.by(2); h.by(3); h.upTo(2) }, []int64{1, 2}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h had
			c.do(&h)
			got, doubt := h.without(es)
			var rest []int64
			for _, e := range got {
				rest = append(rest, e.Seq)
			}
			if !slices.Equal(rest, c.rest) || doubt != c.doubt || h.some() != c.some {
				t.Errorf("%v is left, in doubt %v, some %v", rest, doubt, h.some())
			}
		})
	}
}
