// Package proc runs child processes that always end.
//
// Does: start a command in a process group and session of its own without a controlling terminal, hold it until its
// group is recorded, bound its time and its output, keep the whole output in a file, end the group (TERM, then KILL),
// end the command with this program where the kernel can, start one ahead of its text ([Ahead]), tell whether a
// recorded group still lives, and report what the system knows about any process.
//
// Does not: judge a command, know a workspace. A process that leaves its session (a daemon that forks twice) is not in
// its group: only the command's sandbox ends it.
package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"fantail/tools/sandbox"
	"fantail/tools/secret"
)

const (
	killAfter = 2 * time.Second        // between TERM and KILL
	stopAfter = 150 * time.Millisecond // the same in a hurry: a caller waits for the command's end
	lingers   = 250 * time.Millisecond // how long a group may outlive its leader
	quits     = 2 * time.Second        // for a leader that was asked to end all processes that it knows of
	reap      = 500 * time.Millisecond // how long a killed group may take to vanish
	poll      = 10 * time.Millisecond  // how often a dying group is checked
)

// Spec is one command. Shell runs `bash -c Shell` (sh where there is no bash); Argv, if it is set, is a program and its
// arguments, which no shell reads.
type Spec struct {
	Shell   string
	Argv    []string
	Dir     string
	Env     []string           // the whole environment
	Umask   Umask              // of the files it makes
	Box     *sandbox.Box       // its sandbox; nil: none
	Ahead   *Ahead             // may have started one like it already; nil: none
	Keys    *secret.Keys       // keys that are removed from its output; nil: none
	Timeout time.Duration      // 0: none
	Limits  Limits             // limits of its use; a command beyond one is ended
	Output  string             // the file that gets the whole output (created 0600); "" keeps only head and tail
	Head    int                // bytes of the output kept from its start in Result.Text
	Tail    int                // bytes kept from its end
	FileCap int64              // bytes the file may grow to; 0: 1 GiB
	Started func(Group) error  // called before the command runs; after an error it never does, nor if this program dies in it
	Keep    func(Group) func() // called before the run; has the group ended if this program dies; nil: none
	Tick    func(tail string)  // called with the last bytes of the output as it grows, at most ten times a second
	Hurry   <-chan struct{}    // once closed, an ending command gets only a moment; nil: ctx's end hurries
}

// Group identifies a process group across restarts of this program.
type Group struct {
	PGID  int   `json:"pgid"`
	Start int64 `json:"start"` // the leader's start time in clock ticks since boot; 0: the system does not tell
}

// Result is the result of a command.
type Result struct {
	Text     string // the output, or its head, a line about the gap, and its tail
	Size     int64  // bytes of the whole output
	Exit     int    // exit code; -1 if ended by a signal
	Signal   string // the signal's name, if one ended it
	TimedOut bool
	Over     string // which limit it passed: "it had more than 20 processes"; "": none
	Duration time.Duration
	Cut      bool // Text is not the whole output
	Left     bool // background processes still lived when the command ended; they were ended too
}

// Run runs the command to its end. Cancelling ctx ends the group, as its time-out does: TERM, then KILL to processes
// that live two seconds later, or 150 ms later in a hurry. It returns the partial result with ctx's error. The other
// errors mean that the command could not start; a full disk does not end a command, Text says what the file lacks.
//
// If a command's sandbox could not be made, because a socket that it was to cover vanished meanwhile, Run starts the
// command again: it calls Started and Keep again.
func Run(ctx context.Context, s Spec) (Result, error) {
	for tries := 1; ; tries++ {
		if err := ctx.Err(); err != nil {
			return Result{Exit: -1}, err
		}
		r, c, err := once(ctx, s)
		if c == nil || r.Exit != 1 && err == nil || !c.box.Unmade(r.Text) {
			return r, err
		}
		switch tries {
		case 1:
		case 2:
			s.Box = s.Box.WithoutSockets() // they come and go too fast to cover each
		default:
			return r, err
		}
	}
}

// once runs the command once; the child is nil if it could not start.
func once(ctx context.Context, s Spec) (Result, *child, error) {
	sink, err := newSink(s)
	if err != nil {
		return Result{Exit: -1}, nil, err
	}
	defer sink.close()
	c := s.Ahead.take(s)
	if c == nil {
		if c, err = start(s, outright); err != nil {
			close(sink.drained)
			return Result{Exit: -1}, nil, err
		}
	}
	defer s.Ahead.ready(s)
	cmd, out, exited := c.cmd, c.out, c.exited
	defer out.Close()
	g := Group{PGID: cmd.Process.Pid, Start: started(cmd.Process.Pid)}
	if s.Keep != nil {
		defer s.Keep(g)()
	}
	go sink.drain(out)
	if s.Started != nil {
		err = s.Started(g)
	}
	if c.hold != nil {
		err = c.release(err)
	}

	began := time.Now()
	r := Result{}
	var late <-chan time.Time
	if s.Timeout > 0 {
		t := time.NewTimer(s.Timeout)
		defer t.Stop()
		late = t.C
	}
	over := s.Limits.over(g.PGID, exited)
	if err == nil {
		select {
		case r.Over = <-over:
		case <-exited:
			r.Left = linger(ctx, g.PGID, sink.drained)
		case <-ctx.Done():
			err = ctx.Err()
		case <-late:
			r.TimedOut = true
		}
	}
	if err != nil || r.TimedOut || r.Left || r.Over != "" {
		hurry := s.Hurry
		if hurry == nil {
			hurry = ctx.Done()
		}
		end(g.PGID, killAfter, hurry, c.box.Quit)
	}
	<-exited
	// The leader is reaped last: until then its number can't belong to another group.
	waitErr := cmd.Wait()
	r.Duration = time.Since(began)
	// Don't wait for processes outside the group that hold it open.
	_ = out.SetReadDeadline(time.Now().Add(lingers))
	<-sink.drained
	r.Text, r.Size, r.Cut = sink.text()
	r.Exit, r.Signal = outcome(cmd, waitErr)
	r, err = c.told(r, err)
	return r, c, err
}

// How a command begins.
type beginning int

const (
	outright beginning = iota // by itself, or once Started returns
	ahead                     // once it gets its text
)

// Scripts for sh, which reads no start-up file, to run before a command: held waits for a line on descriptor 3, and
// ends at the end of that pipe without one; then it becomes the command, in the same process.
const (
	held    = `read -r _ <&3 || exit 125; exec 3<&-; `
	becomes = `exec "$@"`
)

// Scripts for bash to run ahead of a command: it waits for the whole text on descriptor 3, and becomes it.
const (
	waits   = `IFS= read -r -d "" FANTAIL_NEXT <&3 || exit 125; exec 3<&-; `
	obeys   = `exec "$BASH" -c "$FANTAIL_NEXT"`
	longest = 4 << 10 // bytes of a text that it waits for: the kernel writes these into a pipe at once or not at all
)

// child is a command that was started.
type child struct {
	cmd    *exec.Cmd
	out    *os.File        // its output
	hold   *os.File        // pipe that it waits for before it runs; nil: none
	word   string          // text to write there
	box    *sandbox.Inside // its sandbox; nil: none
	exited chan struct{}   // closed once it has ended
}

// release lets the held command run, or ends it if err is set.
func (c *child) release(err error) error {
	if err == nil {
		if _, err = c.hold.WriteString(c.word); err != nil {
			err = fmt.Errorf("start command: %w", err)
		}
	}
	return errors.Join(err, c.hold.Close())
}

// told returns the result with the report of the command's sandbox.
func (c *child) told(r Result, err error) (Result, error) {
	if c.box == nil {
		return r, err
	}
	c.box.Ended(r.Exit, r.Text)
	b := c.box.End()
	r.Left = r.Left || b.Left
	if b.Signal != 0 {
		r.Exit, r.Signal = -1, signalName(syscall.Signal(b.Signal))
	}
	if b.Fault != "" && err == nil {
		err = fmt.Errorf("start command in its sandbox: %s: /sandbox tells what works here", b.Fault)
	}
	return r, err
}

// start starts the command with its output on a pipe. Unless it begins by itself, it waits for hold.
func start(s Spec, how beginning) (_ *child, err error) {
	c := &child{word: "\n", exited: make(chan struct{})}
	defer func() {
		if err == nil {
			return
		}
		for _, f := range []*os.File{c.out, c.hold} {
			if f != nil {
				f.Close()
			}
		}
		c.box.End()
	}()
	shell, err := Shell()
	if err != nil {
		return nil, err
	}
	var w *os.File
	if c.out, w, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("open output pipe: %w", err)
	}
	defer w.Close()
	argv, before := []string{shell, "-c", s.Shell}, s.Umask.script()
	if len(s.Argv) > 0 {
		argv = s.Argv
	}
	c.cmd = exec.Command(argv[0], argv[1:]...)
	switch {
	case how == ahead:
		c.cmd = exec.Command(shell, "-c", waits+before+obeys)
	case s.Started != nil:
		before = held + before
		fallthrough
	case before != "", len(s.Argv) > 0: // it is looked up on its own PATH
		c.cmd = exec.Command("/bin/sh", append([]string{"-c", before + becomes, "sh"}, argv...)...)
	}
	if how == ahead || s.Started != nil {
		var wait *os.File
		if wait, c.hold, err = os.Pipe(); err != nil {
			return nil, fmt.Errorf("open pipe: %w", err)
		}
		defer wait.Close()
		c.cmd.ExtraFiles = []*os.File{wait}
	}
	c.cmd.Dir, c.cmd.Env = s.Dir, forShell(s.Env, s.Dir)
	c.cmd.Stdout, c.cmd.Stderr = w, w
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithUs(c.cmd.SysProcAttr)
	if s.Box != nil {
		if c.box, err = s.Box.Enclose(c.cmd); err != nil {
			return nil, fmt.Errorf("make the command's sandbox: %w", err)
		}
	}
	switch err := c.launch(); {
	case errors.Is(err, syscall.E2BIG):
		return nil, fmt.Errorf("start command: %w: put it into a script file and run that", err)
	case err != nil:
		return nil, fmt.Errorf("start command in %s: %w", s.Dir, err)
	}
	return c, nil
}

// launch starts the command, and closes exited when it has ended. The kernel ends a child with the thread that started
// it, not with the process, so the thread that waits for the child also starts it. A thread that had to enter the
// child's sandbox ends with the child.
func (c *child) launch() error {
	begun := make(chan error, 1)
	sandbox.Thread(func() (spent bool) {
		defer close(c.exited)
		err := error(nil)
		if c.box == nil {
			err = c.cmd.Start()
		} else {
			spent, err = c.box.Start(c.cmd)
		}
		begun <- err
		if err == nil {
			awaitExit(c.cmd.Process.Pid)
		}
		return spent
	})
	return <-begun
}

// Shell is bash, or sh where there is none.
func Shell() (string, error) {
	for _, p := range []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"} {
		if i, err := os.Stat(p); err == nil && i.Mode().IsRegular() {
			return p, nil
		}
	}
	if p, err := exec.LookPath("bash"); err == nil {
		return p, nil
	}
	if p, err := exec.LookPath("sh"); err == nil {
		return p, nil
	}
	return "", errors.New("start command: neither bash nor sh is on PATH; install one")
}

// outcome describes how the leader ended.
func outcome(cmd *exec.Cmd, err error) (exit int, signal string) {
	if cmd.ProcessState == nil {
		return -1, fmt.Sprint(err)
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, signalName(ws.Signal())
	}
	return cmd.ProcessState.ExitCode(), ""
}

// signalName is the short name people know.
func signalName(s syscall.Signal) string {
	for name, sig := range map[string]syscall.Signal{
		"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT, "ABRT": syscall.SIGABRT,
		"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "SEGV": syscall.SIGSEGV, "BUS": syscall.SIGBUS,
		"PIPE": syscall.SIGPIPE, "XFSZ": syscall.SIGXFSZ, "XCPU": syscall.SIGXCPU, "ILL": syscall.SIGILL,
		"FPE": syscall.SIGFPE, "TRAP": syscall.SIGTRAP, "ALRM": syscall.SIGALRM, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2,
	} {
		if s == sig {
			return name
		}
	}
	return s.String()
}
