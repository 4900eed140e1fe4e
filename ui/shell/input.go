package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// MaxInput is how much is read from standard input at most, in bytes.
const MaxInput = 8 << 20

// ReadAll reads standard input to its end. It waits until ctx ends for input that does not end. start starts a
// goroutine.
func ReadAll(ctx context.Context, start func(name string, f func()), in io.Reader, errs io.Writer) ([]byte, error) {
	type read struct {
		text []byte
		err  error
	}
	done := make(chan read, 1)
	start("standard input", func() {
		text, err := io.ReadAll(io.LimitReader(in, MaxInput+1))
		done <- read{text, err}
	})
	note := time.NewTimer(3 * time.Second)
	defer note.Stop()
	for {
		select {
		case r := <-done:
			if r.err != nil && !errors.Is(r.err, os.ErrClosed) {
				return nil, fmt.Errorf("read standard input: %w", r.err)
			}
			if len(r.text) > MaxInput {
				return nil, Misused("standard input is larger than %d MiB: write it to a file and name that", MaxInput>>20)
			}
			return r.text, nil
		case <-note.C:
			Warn(errs, "waiting for the end of standard input (without any: < /dev/null)")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
