package acptest

import (
	"io"
	"sync"
)

// Process is a program that is none: what serves runs in this process.
type Process struct {
	Words string // what it has written to its standard error

	in     io.WriteCloser
	out    io.ReadCloser
	exited chan struct{}
	end    func()
}

// Run has serve run as a process would. start starts its goroutine.
func Run(start func(name string, f func()), serve func(in io.Reader, out io.WriteCloser)) *Process {
	theirs, in := io.Pipe()
	out, ours := io.Pipe()
	p := &Process{in: in, out: out, exited: make(chan struct{})}
	p.end = sync.OnceFunc(func() { _, _, _ = in.Close(), ours.Close(), theirs.Close() })
	start("fake agent", func() {
		defer close(p.exited)
		serve(theirs, ours)
		_, _ = ours.Close(), theirs.Close()
	})
	return p
}

func (p *Process) Streams() (in io.Writer, out io.Reader) { return p.in, p.out }
func (p *Process) Exited() <-chan struct{}                { return p.exited }
func (p *Process) Said() string                           { return p.Words }

// End ends it, as if it had left by itself.
func (p *Process) End() (how string) {
	p.end()
	<-p.exited
	return "exit code 0"
}
