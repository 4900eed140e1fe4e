package agents

import (
	"testing"

	"fantail/inbox"
)

// TestWait_awaits: a message is left to a wait only if that wait takes it. What
// another task ended with is none of the business of a call that waits for its own.
func TestWait_awaits(t *testing.T) {
	mail, first, second := inbox.Message{From: "ci"}, inbox.Message{From: "a", Task: 1}, inbox.Message{From: "b", Task: 2}
	for _, c := range []struct {
		name string
		w    wait
		want [3]bool // mail, first, second
	}{
		{"any", wait{}, [3]bool{true, true, true}},
		{"one sender", wait{from: "b"}, [3]bool{false, false, true}},
		{"what it dispatched", wait{children: true}, [3]bool{false, true, true}},
		{"one task", wait{task: 1}, [3]bool{false, true, false}},
	} {
		for i, m := range []inbox.Message{mail, first, second} {
			if got := c.w.awaits(m); got != c.want[i] {
				t.Errorf("a wait for %s awaits a message of %s, task %d: %t", c.name, m.From, m.Task, got)
			}
		}
	}
}
