package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"fantail/ui/cli/shell"
	"fantail/ui/screen"
	"fantail/ui/screen/wire"
)

// RefusedError is why a host does not carry out a prompt: it is to be done without one.
type RefusedError struct {
	Why  string
	ends bool // that host does; the next one may carry it out
}

func (e *RefusedError) Error() string { return e.Why }

// Asking is a process without a screen that has a host carry out a prompt.
type Asking struct {
	Args  []string // of its command line
	Dir   string   // where it was started
	Log   string   // what the host writes where nobody reads
	Plain bool
	Out   io.Writer
	Err   io.Writer
	// Stopped is the exit code a signal asks for, once ctx has ended; false if none came.
	Stopped func() (code int, signalled bool)
}

// Print has the workspace's host, which it starts if there is none, carry out a prompt, and prints what it prints, until
// ctx ends: then the host is told, and says what there is. The error is a [*RefusedError] if nothing was done.
func (a Asking) Print(ctx context.Context, prompt string) (code int, err error) {
	for range mostEnding {
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
			return shell.Failed, nil
		}
		return 0, &RefusedError{Why: err.Error()}
	}
	defer conn.Close()
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
	_, _ = conn.Write(withPrompt(question(f), prompt)) // a host that refuses does not read all of it, and says why
	var buf []byte
	for taken := false; ; taken = true {
		k, body, grown, err := wire.Read(conn, wire.MaxFrame, buf)
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
				return shell.Failed, fmt.Errorf("write the answer: %w", err)
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
				n = shell.Failed
			}
			return n, nil
		}
	}
}

// lost is how it ends when the host is gone.
func (a Asking) lost(err error) (int, error) {
	if code, signalled := a.Stopped(); signalled {
		return code, nil
	}
	return shell.Failed, fmt.Errorf("the host ended before the answer was there (%w); %s may tell why, and fantail -p --continue goes on with it", err, a.Log)
}

// withPrompt is a question with the prompt behind it, in pieces; an empty one ends it.
func withPrompt(question []byte, prompt string) []byte {
	for n := 0; n < len(prompt); n += wire.MaxFrame {
		question = wire.Append(question, wire.Keys, []byte(prompt[n:min(len(prompt), n+wire.MaxFrame)]))
	}
	return wire.Append(question, wire.Keys, nil)
}
