package agents

import (
	"errors"
	"testing"

	"fantail/agents/tasks"
)

func TestFirstFree_asksFewTimes(t *testing.T) {
	for _, taken := range []int{0, 1, 2, 3, 4, 7, 8, 37, 38, 100, 12_345} {
		asked := 0
		n, err := tasks.FirstFree(func(n int) (bool, error) {
			asked++
			return n <= taken, nil
		})
		if err != nil || n != taken+1 || asked > 30 {
			t.Errorf("after %d used ones: %d, %v, asked %d times", taken, n, err, asked)
		}
	}
	broken := errors.New("broken")
	for fails := range 4 {
		asked := 0
		if _, err := tasks.FirstFree(func(n int) (bool, error) {
			if asked++; asked > fails {
				return false, broken
			}
			return n < 4, nil
		}); !errors.Is(err, broken) {
			t.Errorf("after %d answers: %v", fails, err)
		}
	}
}
