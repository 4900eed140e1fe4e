package history

import (
	"fmt"
	"testing"

	"fantail/agents/llm"
	"fantail/tools/files"
)

// drawn returns a call and its result with that many pictures of that size.
func drawn(n, pictures, bytes int, failed bool) []Entry {
	id := fmt.Sprint("c", n)
	r := &Result{ID: id, Name: "draw", Text: "drawn", Error: failed}
	for i := range pictures {
		r.Shows = append(r.Shows, files.Picture{Type: "image/png", File: fmt.Sprint(n, ".", i), Bytes: bytes, Width: 750, Height: 10})
	}
	return []Entry{{Seq: int64(2 * n), Kind: EntryCall, Call: &Call{ID: id, Name: "draw"}}, {Seq: int64(2*n + 1), Kind: EntryResult, Result: r}}
}

// sent counts the pictures of a request.
func sent(all []llm.Message) (n int) {
	for _, m := range all {
		for _, p := range m.Parts {
			if r, is := p.(llm.ToolResult); is {
				n += len(r.Images)
			}
		}
	}
	return n
}

// A request carries the newest pictures, up to a limit; its beginning seldom changes, and is the same for a talk that
// grew as for one that was read.
func TestShown(t *testing.T) {
	for _, c := range []struct {
		name            string
		each, bytes     int
		most, least     int // pictures of a request, once there are more
		results, change int // and how often already sent pictures change
	}{
		{"small", 1, 1000, 20, 10, 60, 5},
		{"several", 3, 1000, 20, 10, 20, 5},
		{"large", 1, 3_700_000, 4, 2, 60, 20},
	} {
		var talk Talk
		changes, hidden := 0, 0
		for n := range c.results {
			for _, e := range drawn(n, c.each, c.bytes, false) {
				talk.Add(e)
			}
			all := talk.Request("m")
			if got := sent(all); got > c.most || (n+1)*c.each > c.most && got < c.least {
				t.Errorf("%s: %d pictures are sent after %d results", c.name, got, n+1)
			}
			if talk.shown.hide != hidden {
				hidden = talk.shown.hide
				changes++
			}
			if again := Request(talk.Entries, "m"); sent(again) != sent(all) {
				t.Errorf("%s: %d pictures of a talk that was read, %d of one that grew", c.name, sent(again), sent(all))
			}
		}
		if changes > c.change {
			t.Errorf("%s: what was sent changed %d times", c.name, changes)
		}
	}
	if n := sent(Request(drawn(1, 2, 10, true), "m")); n != 0 {
		t.Errorf("a failure shows %d pictures", n)
	}
	if w := Weight(drawn(1, 2, 10, false)[1]); w != Tokens("drawn")+2*30 {
		t.Errorf("it weighs %d", w)
	}
}
