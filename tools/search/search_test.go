package search

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// The slowest patterns on the longest lines: a search, which would take half a minute
// and more, ends when it is told to.
func TestFile_whenThePatternIsSlow_stops(t *testing.T) {
	q := Query{Pattern: `(\pL?\pL?\pL?){300}x`, Limit: 10}
	if err := q.Compile(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"one long line": strings.Repeat("a", 1<<20), "short lines": strings.Repeat(strings.Repeat("a", 4000)+"\n", 300),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		began := time.Now()
		_, err := q.File(ctx, strings.NewReader(text), "a.txt", nil)
		cancel()
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 20*time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		}
	}
}
