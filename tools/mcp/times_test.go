package mcp

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A sign of life gives a call its time anew, up to a bound of the whole; while the human is asked, its time stands still.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		name    string
		timeout time.Duration // what the server's configuration says
		signs   []time.Duration
		asks    bool
		lives   time.Duration // it goes on until then, and ends within a second after
		quiet   bool
	}{
		{"no sign", 0, nil, false, defaultTimeout, true},
		{"one sign", 0, []time.Duration{time.Minute}, false, time.Minute + defaultTimeout, true},
		{"signs just in time", 0, []time.Duration{119 * time.Second, 238 * time.Second}, false, 238*time.Second + defaultTimeout, true},
		{"its own time", time.Minute, []time.Duration{50 * time.Second}, false, 110 * time.Second, true},
		{"signs for ever", time.Second, every(900*time.Millisecond, 20), false, maxTimeoutFactor * time.Second, false},
		{"the human is asked", time.Second, nil, true, 5*time.Minute + 3*time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &runningServer{managed: &managedServer{server: Server{Timeout: c.timeout}}, done: make(chan struct{}), calls: activeCalls{byToken: map[string]*activeCall{}}}
				one := &activeCall{}
				sign := &mcp.ProgressNotificationClientRequest{Params: &mcp.ProgressNotificationParams{ProgressToken: v.calls.add(one)}}
				if c.asks {
					v.calls.beginQuestion()
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				over := make(chan struct{})
				go v.watchTimeout(one, over, cancel)
				begin := time.Now()
				go func() {
					for _, at := range c.signs {
						select {
						case <-time.After(at - time.Since(begin)):
							v.calls.onProgress(ctx, sign)
						case <-ctx.Done():
							return
						}
					}
				}()
				<-time.After(c.lives - time.Millisecond)
				synctest.Wait()
				if ctx.Err() != nil {
					t.Fatalf("ended after %v: %v", time.Since(begin), context.Cause(ctx))
				}
				if c.asks {
					v.calls.endQuestion()
				}
				<-time.After(time.Second + 2*time.Millisecond)
				synctest.Wait()
				if err := context.Cause(ctx); err == nil || errors.Is(err, errNoProgress) != c.quiet {
					t.Errorf("after %v: %v", time.Since(begin), err)
				}
				close(over)
			})
		})
	}
}

// every is n times, that far from each other.
func every(d time.Duration, n int) (all []time.Duration) {
	for i := range n {
		all = append(all, time.Duration(i+1)*d)
	}
	return all
}
