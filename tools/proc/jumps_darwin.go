package proc

import "context"

// Jumps waits for the end of ctx: nothing here tells when the clock leaps.
func Jumps(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return nil
}
