package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// lastWords is how many bytes at the end of a served program's standard error are kept.
const lastWords = 8 << 10

// How long a served program may take to end: by itself once its standard input is closed, and after TERM. The caller of
// End waits for it.
const (
	leaves  = 500 * time.Millisecond
	resists = 700 * time.Millisecond
)

// Served is a program that runs next to this one and communicates over its standard input and output.
type Served struct {
	Group Group
	In    *os.File // its standard input
	Out   *os.File // its standard output

	c       *child
	errs    *os.File
	heard   chan struct{} // closed when errs is at its end
	release func()        // result of Keep; nil: none

	mu   sync.Mutex
	said []byte // the end of its standard error
	line []byte // its unfinished line, up to the length of an error line
	why  string // the first error line
	lost bool   // why is no longer in said

	once   sync.Once
	exit   int
	signal string
	fault  error
}

// Serve starts a program in a group of its own. It uses Argv, whose first is a path, Dir, Env, Box, Keep and Keys of s.
// The caller ends it with End, even if it has exited.
func Serve(s Spec) (_ *Served, err error) {
	var ours, theirs [3]*os.File
	defer func() {
		closes(theirs[:])
		if err != nil {
			closes(ours[:])
		}
	}()
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("open pipe: %w", err)
		}
		if ours[i], theirs[i] = r, w; i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	if len(s.Argv) == 0 {
		return nil, errors.New("start a program: none is named")
	}
	c := &child{exited: make(chan struct{}), cmd: exec.Command(s.Argv[0], s.Argv[1:]...)}
	c.cmd.Dir, c.cmd.Env = s.Dir, forShell(s.Env, s.Dir)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithUs(c.cmd.SysProcAttr)
	if s.Box != nil {
		if c.box, err = s.Box.Enclose(c.cmd); err != nil {
			return nil, fmt.Errorf("make the sandbox of %s: %w", s.Argv[0], err)
		}
	}
	if err := c.launch(); err != nil {
		c.box.End()
		return nil, fmt.Errorf("start %s in %s: %w", s.Argv[0], s.Dir, err)
	}
	pid := c.cmd.Process.Pid
	p := &Served{Group: Group{PGID: pid, Start: started(pid)}, In: ours[0], Out: ours[1], errs: ours[2], c: c, heard: make(chan struct{})}
	if s.Keep != nil {
		p.release = s.Keep(p.Group)
	}
	go p.hear()
	return p, nil
}

func closes(fs []*os.File) {
	for _, f := range fs {
		if f != nil {
			_ = f.Close()
		}
	}
}

// hear keeps the end of the program's standard error.
func (p *Served) hear() {
	defer close(p.heard)
	b := make([]byte, 4<<10)
	for {
		n, err := p.errs.Read(b)
		p.mu.Lock()
		p.looks(b[:n])
		p.said = append(p.said, b[:n]...)
		if over := len(p.said) - lastWords; over > 0 {
			p.said = append(p.said[:0], p.said[over:]...)
			p.lost = p.lost || p.why != "" && !bytes.Contains(p.said, []byte(p.why))
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// looks looks for the first error line. The caller holds the mutex.
func (p *Served) looks(b []byte) {
	for len(b) > 0 && p.why == "" {
		part, rest, ended := bytes.Cut(b, []byte("\n"))
		p.line = append(p.line, part[:min(len(part), longLine+1-len(p.line))]...)
		if b = rest; ended {
			if says(string(p.line)) {
				p.why = string(p.line)
			}
			p.line = p.line[:0]
		}
	}
}

// Said is the end of the program's standard error, at most 8 KiB. If it holds no error line, the first one comes before
// it.
func (p *Served) Said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost && !slices.ContainsFunc(strings.Split(string(p.said), "\n"), says) {
		return p.why + "\n…\n" + string(p.said)
	}
	return string(p.said)
}

// Exited is closed once the program has ended. Other processes of its group may live.
func (p *Served) Exited() <-chan struct{} { return p.c.exited }

// End ends the program and its group, and returns how the program ended: its exit code, or -1 and a signal's name. The
// error says why it could not start in its sandbox. End closes its input, which ends most programs; those that live a
// moment later get TERM, then KILL. It may be called more than once.
func (p *Served) End() (exit int, signal string, err error) {
	p.once.Do(func() {
		_ = p.In.Close()
		late := time.NewTimer(leaves)
		select {
		case <-p.c.exited:
		case <-late.C:
		}
		late.Stop()
		if alive(p.Group.PGID) {
			end(p.Group.PGID, resists, nil, p.c.box.Quit)
		}
		<-p.c.exited
		err := p.c.cmd.Wait()
		_ = p.Out.Close()
		_ = p.errs.SetReadDeadline(time.Now().Add(lingers)) // remaining processes may hold it open for ever
		<-p.heard
		_ = p.errs.Close()
		r := Result{Text: p.Said()}
		r.Exit, r.Signal = outcome(p.c.cmd, err)
		r, p.fault = p.c.told(r, nil)
		p.exit, p.signal = r.Exit, r.Signal
		if p.release != nil {
			p.release()
		}
	})
	return p.exit, p.signal, p.fault
}
