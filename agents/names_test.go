package agents

import (
	"errors"
	"testing"
)

func TestFirstFree_asksFewTimes(t *testing.T) {
	for _, taken := range []int{0, 1, 2, 3, 4, 7, 8, 37, 38, 100, 12_345} {
		QuestionRow := 0
		n, err := firstFree(func(n int) (bool, error) {
			QuestionRow++
			return n <= taken, nil
		})
		if err != nil || n != taken+1 || QuestionRow > 30 {
			t.Errorf("after %d used ones: %d, %v, asked %d times", taken, n, err, QuestionRow)
		}
	}
	broken := errors.New("broken")
	for fails := range 4 {
		QuestionRow := 0
		if _, err := firstFree(func(n int) (bool, error) {
			if QuestionRow++; QuestionRow > fails {
				return false, broken
			}
			return n < 4, nil
		}); !errors.Is(err, broken) {
			t.Errorf("after %d answers: %v", fails, err)
		}
	}
}
