package shell

import (
	"sync"
	"testing"
)

// TestPattern: an invalid expression panics at its first use and not before; a valid one can be used concurrently.
func TestPattern(t *testing.T) {
	wrong, right := lazy("("), lazy("^(a+)b$")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !right.MatchString("aab") || right.Match([]byte("ba")) || right.FindStringIndex("xab") != nil || right.ReplaceAllString("aab", "<$1>") != "<aa>" {
				t.Error("it is another one")
			}
		})
	}
	all.Wait()
	defer func() {
		if recover() == nil {
			t.Error("a wrong one was used")
		}
	}()
	wrong.MatchString("")
}
