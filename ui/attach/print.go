package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"fantail/ui/screen"
	"fantail/ui/screen/wire"
	"fantail/ui/shell"
)

// RefusedError is why a host does not carry out a prompt: the process must do it without one.
type RefusedError struct {
	Why  string
	ends bool // that host ends; the next one may carry it out
}

func (e *RefusedError) Error() string { return e.Why }

// Asking is a process without a screen that has a host carry out a prompt.
type Asking struct {
	Args  []string // of its command line
	Dir   string   // where it was started
	Log   string   // the host's log file
	Plain bool
	Out   io.Writer
	Err   io.Writer // written to by two goroutines
	// Stopped returns the exit code for the signal that ended ctx; false if there was none.
	Stopped func() (code int, signalled bool)
}

// Print has the workspace's host, which it starts if there is none, carry out a prompt, and prints the output, until
// ctx ends: then it tells the host, which sends what it has. The error is a [*RefusedError] if nothing was done.
func (a Asking) Print(ctx context.Context, prompt string) (code int, err error) {
	for range maxEnding {
		code, err = a.print(ctx, prompt)
		refused := (*RefusedError)(nil)
		if !errors.As(err, &refused) || !refused.ends || ctx.Err() != nil {
			break
		}
	}
	return code, err
}

func (a Asking) print(ctx context.Context, prompt string) (code int, err error) {
	conn, err := hostOf(a.Dir)
	if err != nil {
		var said screen.Refusal
		if errors.As(err, &said) {
			_, _ = io.WriteString(a.Err, string(said))
			return shell.ExitFailed, nil
		}
		return 0, &RefusedError{Why: err.Error()}
	}
	defer conn.Close()
	return a.prints(ctx, conn, livesEvery, prompt)
}

// prints has the host at the other end carry out the prompt, and checks at that interval whether the host lives.
func (a Asking) prints(ctx context.Context, conn *net.UnixConn, every time.Duration, prompt string) (code int, err error) {
	f := screen.Shell(a.Args, a.Dir)
	f.Add(wire.Do, wire.Print)
	if a.Plain {
		f.Add(wire.Plain, "yes")
	}
	stop := context.AfterFunc(ctx, func() {
		code, _ := a.Stopped()
		_, _ = conn.Write(wire.Append(nil, wire.Leave, wire.Fields{wire.Signal + "=" + strconv.Itoa(max(0, code-128))}.Bytes()))
	})
	defer stop()
	over := sync.OnceValue(watched(ctx, conn)) // until it has taken the prompt
	defer over()
	_, _ = conn.Write(withPrompt(question(f), prompt)) // a host that refuses does not read all of it, and says why
	watches, done := context.WithCancel(ctx)
	defer done()
	var buf []byte
	for taken := false; ; taken = true {
		k, body, grown, err := wire.Read(conn, wire.MaxFrame, buf)
		if hung := over(); err != nil && hung != nil {
			return shell.ExitFailed, hung
		}
		if !taken && err == nil {
			looks := time.AfterFunc(every, func() {
				watchEvery(watches, every, conn.RemoteAddr().String(), func(text string) { shell.Warn(a.Err, "%s", text) })
			})
			defer looks.Stop()
		}
		if _, signalled := a.Stopped(); err != nil && !taken && !signalled {
			return 0, &RefusedError{"the host ended as it was asked", true} // before it does anything it says so
		}
		if err != nil {
			return a.lost(err)
		}
		buf = grown
		switch k {
		case wire.Paint:
			if _, err := a.Out.Write(body); err != nil {
				return shell.ExitFailed, fmt.Errorf("write the answer: %w", err)
			}
		case wire.Note:
			_, _ = a.Err.Write(body)
		case wire.Answer:
			f := wire.FieldsOf(body)
			if why := f.Get(wire.Refused) + f.Get(wire.Say); why != "" {
				return 0, &RefusedError{why, f.Get(wire.Again) != ""}
			}
		case wire.Bye:
			n, err := strconv.Atoi(wire.FieldsOf(body).Get(wire.Code))
			if err != nil {
				n = shell.ExitFailed
			}
			return n, nil
		}
	}
}

// lost returns the error of a prompt whose host is gone.
func (a Asking) lost(err error) (int, error) {
	if code, signalled := a.Stopped(); signalled {
		return code, nil
	}
	return shell.ExitFailed, fmt.Errorf("the host ended before the answer was there (%w); %s may tell why, and fantail -p --continue goes on with it", err, a.Log)
}

// withPrompt appends the prompt to a question, in pieces; an empty one ends it.
func withPrompt(question []byte, prompt string) []byte {
	for n := 0; n < len(prompt); n += wire.MaxFrame {
		question = wire.Append(question, wire.Keys, []byte(prompt[n:min(len(prompt), n+wire.MaxFrame)]))
	}
	return wire.Append(question, wire.Keys, nil)
}
