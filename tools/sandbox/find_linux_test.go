package sandbox_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/tools/sandbox"
)

// TestFind_cutOff: a cancelled try leaves no process, wherever it was.
func TestFind_cutOff(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for range long.Times(15, 600) {
		ctx, cancel := context.WithTimeout(t.Context(), rand.N(12*time.Millisecond))
		sandbox.Find(ctx, sandbox.Bubblewrap)
		cancel()
		until(t, "a process of a try is left", func() bool { return len(running(t, dir)) == 0 })
	}
}
