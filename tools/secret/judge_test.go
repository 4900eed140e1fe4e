package secret

import (
	"fmt"
	"testing"
)

// TestJudge: each value is judged once, nil judges each time, and what is remembered has a bound.
func TestJudge(t *testing.T) {
	calls := 0
	short := func(s string) bool { calls++; return len(s) < 3 }
	k := &Keys{}
	for range 3 {
		if !k.Judge("ab", short) || k.Judge("abc", short) {
			t.Fatal("a value is judged differently")
		}
	}
	if calls != 2 {
		t.Errorf("%d calls for two values", calls)
	}
	if none := (*Keys)(nil); !none.Judge("ab", short) || none.Judge("abc", short) || calls != 4 {
		t.Errorf("nil: %d calls", calls-2)
	}
	for i := range 3 * maxJudged {
		k.Judge(fmt.Sprint("value ", i), short)
	}
	if len(k.judged) > maxJudged {
		t.Errorf("%d values are remembered", len(k.judged))
	}
}
