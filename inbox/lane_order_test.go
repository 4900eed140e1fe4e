package inbox

import (
	"fmt"
	"testing"
)

// TestSelect_lanes: waiting messages are sorted by lanes, those that need the human first, and the newest first in each
// lane, in whatever order they arrived and however large a page is.
func TestSelect_lanes(t *testing.T) {
	w := fresh(t)
	var want [4][]int64
	for i := range 40 {
		m, lane := Message{Body: fmt.Sprint(i)}, 3
		switch i % 5 {
		case 0:
			m.Kind, lane = Result, 2
		case 1:
			m.Kind, m.Error, lane = Failure, "e", 1
		case 2:
			m.Priority, lane = Urgent, 0
		}
		want[lane] = append([]int64{w.deposit(m)}, want[lane]...)
	}
	all := fmt.Sprint(append(append(append(want[0], want[1]...), want[2]...), want[3]...))
	for _, limit := range []int{1, 3, 7, 8, 100} {
		for _, back := range []bool{false, true} {
			var seen []int64
			for s := (Selection{Limit: limit, Back: back, Folded: true}); ; {
				ms := w.selected(s)
				if len(ms) == 0 {
					break
				}
				if back {
					seen, s.Before = append(numbers(ms), seen...), ms[0].ID
				} else {
					seen, s.Before = append(seen, numbers(ms)...), ms[len(ms)-1].ID
				}
			}
			if fmt.Sprint(seen) != all {
				t.Errorf("pages of %d, back %v: %v, want %s", limit, back, seen, all)
			}
		}
	}
}
