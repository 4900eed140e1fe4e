package pattern

import (
	"sync"
	"testing"
)

// TestPattern: a wrong expression is noticed at its first use and not before; a right one is there for many at once.
func TestPattern(t *testing.T) {
	wrong, right := Of("("), Of("^(a+)b$")
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
