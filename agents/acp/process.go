package acp

import (
	"fmt"
	"io"

	"fantail/tools/proc"
)

// Start starts an agent's program with the environment and sandbox of s.
func Start(s proc.Spec) (Process, error) {
	p, err := proc.Serve(s)
	if err != nil {
		return nil, err
	}
	return program{p}, nil
}

// program is a served program as a [Process].
type program struct{ *proc.Served }

func (p program) Streams() (in io.Writer, out io.Reader) { return p.In, p.Out }

// End implements [Process].
func (p program) End() (how string) {
	switch exit, signal, err := p.Served.End(); {
	case err != nil:
		return err.Error()
	case signal != "":
		return "ended by " + signal
	default:
		return fmt.Sprintf("exit code %d", exit)
	}
}
