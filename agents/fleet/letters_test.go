package fleet

import (
	"context"
	"testing"
	"testing/synctest"
)

// TestLetters: the agent of a task begins once the letters to it have come, however often their writers call sent, and
// others are forgotten.
func TestLetters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ls Letters
		ls.Sent(t.Context(), 0)
		one, two := ls.Writes(7), ls.Writes(7)
		ls.Sent(t.Context(), 8)
		began := make(chan struct{})
		go func() {
			ls.Sent(t.Context(), 7)
			close(began)
		}()
		one()
		one()
		synctest.Wait()
		select {
		case <-began:
			t.Fatal("it began before the second letter came")
		default:
		}
		two()
		<-began
		ls.Sent(t.Context(), 7)
		if len(ls.to) != 0 {
			t.Errorf("kept: %v", ls.to)
		}

		ls.Writes(7)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		ls.Sent(ctx, 7) // the program closes
	})
}
