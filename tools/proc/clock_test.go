package proc_test

import (
	"context"
	"testing"

	"fantail/tools/proc"
)

// TestClock: a clock that runs on reports nothing, and the watch ends with its context.
func TestClock(t *testing.T) {
	var c proc.Clock
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Jumps(ctx, func() { t.Log("the clock was set") }) }()
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
