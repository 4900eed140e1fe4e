package turn

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

// What begins in order does so whatever each does before, one that never begins blocks nobody, and the first error in
// their order is returned.
func TestRun(t *testing.T) {
	var mu sync.Mutex
	var began []int
	late := make(chan struct{})
	second := errors.New("the second")
	err := runParallel(4, func(_ int, f func()) { go f() }, func(i int, line func(func())) error {
		switch i {
		case 0:
			<-late // the last one waits for it all the same
		case 3:
			close(late)
		case 1:
			return second
		}
		line(func() {
			mu.Lock()
			defer mu.Unlock()
			began = append(began, i)
		})
		if i == 2 {
			return errors.New("the third")
		}
		return nil
	})
	if !slices.Equal(began, []int{0, 2, 3}) || err != second {
		t.Errorf("began %v, %v", began, err)
	}
}
