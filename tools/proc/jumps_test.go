package proc_test

import (
	"context"
	"testing"

	"fantail/tools/proc"
)

// TestJumps: a clock that runs on tells nothing, and the watch ends when it is told to.
func TestJumps(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- proc.Jumps(ctx, func() { t.Log("the clock was set") }) }()
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
