package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// RetryOptions bounds [Retry]. The zero value is what a program wants.
type RetryOptions struct {
	Tries int            // tries of one request, the first included; 10 if zero
	Limit time.Duration  // from the first failure to the last try's start; 15 minutes if zero
	Rand  func() float64 // jitter in [0,1); math/rand/v2 if nil
}

// The waits between tries. A server's own wish is honoured up to longestWish,
// so that a wild number does not become an endless wait.
const (
	minWait       = time.Second
	maxWait       = time.Minute
	maxRetryAfter = 5 * time.Minute
)

// Retry returns a provider that retries temporary failures of p. Before each wait it yields a
// [Retrying]: everything the stream yielded since the last one is void. That is safe because no
// caller acts on a reply before its [Stop].
//
// It yields the last failure with the number of tries in its message, and a permanent failure at
// once. Cancelling ctx ends a wait with [Cancelled]. A stream of p that ends with neither Stop nor
// error counts as [Cut]. A reply that is [Incomplete] is requested once more, if two tries are
// allowed; the second reply counts.
func Retry(p Provider, o RetryOptions) Provider {
	if o.Tries <= 0 {
		o.Tries = 10
	}
	if o.Limit <= 0 {
		o.Limit = 15 * time.Minute
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	return &retryProvider{p, o}
}

type retryProvider struct {
	p Provider
	o RetryOptions
}

func (r *retryProvider) Stream(ctx context.Context, req *Request) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		var first time.Time // of the failures
		alike := 0          // failures in a row that bound their own number
		again := r.o.Tries > 1
		for attempt := 1; ; attempt++ {
			failed, goesOn := r.attempt(ctx, req, yield, &again)
			if !goesOn {
				return
			}
			if ctx.Err() != nil {
				failed = cancelledError(ctx, failed.Provider)
			}
			if !failed.Temporary() {
				yield(nil, failed)
				return
			}
			if first.IsZero() {
				first = time.Now()
			}
			wait, most := r.wait(attempt, failed.RetryAfter), r.o.Tries
			if alike++; failed.Tries == 0 {
				alike = 0
			} else {
				most = min(most, attempt-alike+failed.Tries)
			}
			if attempt >= most || time.Since(first)+wait > r.o.Limit {
				yield(nil, gaveUp(failed, attempt))
				return
			}
			if !yield(Retrying{Attempt: attempt, Of: most, Wait: wait.Milliseconds(), Err: failed}, nil) {
				return
			}
			if !pause(ctx, wait) {
				yield(nil, cancelledError(ctx, failed.Provider))
				return
			}
		}
	}
}

// attempt streams once. It returns the failure of this try, or false if the stream
// is over: it ended in order or its reader left. again says that an incomplete reply
// is still worth another try.
func (r *retryProvider) attempt(ctx context.Context, req *Request, yield func(Part, error) bool, again *bool) (*Error, bool) {
	for part, err := range r.p.Stream(ctx, req) {
		if err != nil {
			return asError(ctx, err), true
		}
		stop, ends := part.(Stop)
		if ends && stop.Reason == Incomplete && *again {
			*again = false
			return &Error{Kind: Cut, Message: "The server ended the reply without saying that it is complete."}, true
		}
		if !yield(part, nil) || ends {
			return nil, false
		}
	}
	return &Error{Kind: Cut, Message: "The reply ended without saying that it is complete."}, true
}

// wait returns the time before the try after the given one: what the server
// asked for, else a growing time of which the upper half is left to chance, so
// that agents that failed together do not come back together.
func (r *retryProvider) wait(attempt int, wish time.Duration) time.Duration {
	if wish > 0 {
		return min(wish, maxRetryAfter)
	}
	full := maxWait
	if shift := attempt; shift < 6 {
		full = min(minWait<<shift, maxWait)
	}
	half := full / 2
	return half + time.Duration(r.o.Rand()*float64(half))
}

// pause waits for d. It returns false as soon as ctx ends.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}

// asError returns err as the *Error every provider promises. Any other error is
// a fault of the provider and final.
func asError(ctx context.Context, err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if ctx.Err() != nil {
		return cancelledError(ctx, "")
	}
	return &Error{Kind: Protocol, Message: err.Error(), Err: err}
}

func cancelledError(ctx context.Context, provider string) *Error {
	return &Error{Kind: Cancelled, Provider: provider, Message: "The request was stopped.", Err: ctx.Err()}
}

// gaveUp is the last failure, saying that it was not the only one.
func gaveUp(e *Error, tries int) *Error {
	if tries == 1 {
		return e
	}
	last := *e
	more := fmt.Sprintf(" (gave up after %d tries)", tries)
	last.Message = Clip(last.Message, MessageLimit-len(more)) + more
	return &last
}
