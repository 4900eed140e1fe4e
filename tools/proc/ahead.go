package proc

import (
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	maxAhead = 4           // waiting commands: as many as the agents that usually work at the same time
	stays    = time.Minute // how long one waits
)

// Ahead starts commands ahead of time. Making a sandbox takes longer than most commands, and an agent's next command
// mostly runs in the same kind of sandbox as its last: after each, Ahead starts a shell in such a sandbox that only
// waits for its text. A waiting shell is used only if it equals the command in everything but the text (its sandbox
// still shows the same files), and within a minute. Waiting shells end with this program. The zero value and nil start
// nothing ahead; Ahead is safe for concurrent use.
type Ahead struct {
	mu      sync.Mutex
	waiting []*waiting // the oldest first
	closed  bool
	busy    sync.WaitGroup // goroutines that start and end them
}

// waiting is a command that waits for its text.
type waiting struct {
	*child
	like string
	late *time.Timer
}

// take returns a waiting command that can become s; nil: there is none.
func (a *Ahead) take(s Spec) *child {
	if a == nil || !s.aheadOf() {
		return nil
	}
	a.mu.Lock()
	none := len(a.waiting) == 0
	a.mu.Unlock()
	if none {
		return nil
	}
	like := s.like()
	for {
		a.mu.Lock()
		i := slices.IndexFunc(a.waiting, func(w *waiting) bool { return w.like == like })
		var w *waiting
		if i >= 0 {
			w = a.waiting[i]
			a.waiting = slices.Delete(a.waiting, i, i+1)
		}
		a.mu.Unlock()
		if w == nil {
			return nil
		}
		w.late.Stop()
		select {
		case <-w.exited: // it was killed
			w.discard()
			continue
		default:
		}
		w.word = s.Shell + "\x00"
		return w.child
	}
}

// ready starts a command that waits to be the next one like this.
func (a *Ahead) ready(s Spec) {
	if a == nil || !s.aheadOf() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.busy.Go(func() {
		like := s.like() // before the start: a later change makes a difference
		if like == "" {
			return
		}
		c, err := start(s, ahead)
		if err != nil {
			return // the next command reports why, if it can't start either
		}
		a.add(&waiting{child: c, like: like})
	})
}

// add adds a waiting command, and drops the oldest if there are too many.
func (a *Ahead) add(w *waiting) {
	a.mu.Lock()
	w.late = time.AfterFunc(stays, func() { a.drop(w) })
	a.waiting = append(a.waiting, w)
	var old *waiting
	switch {
	case a.closed:
		old = w
	case len(a.waiting) > maxAhead:
		old = a.waiting[0]
	}
	a.mu.Unlock()
	if old != nil {
		a.drop(old)
	}
}

// drop ends a command if it waits.
func (a *Ahead) drop(w *waiting) {
	a.mu.Lock()
	i := slices.Index(a.waiting, w)
	if i >= 0 {
		a.waiting = slices.Delete(a.waiting, i, i+1)
		a.busy.Add(1)
		defer a.busy.Done()
	}
	a.mu.Unlock()
	if i >= 0 {
		w.late.Stop()
		w.discard()
	}
}

// Close ends the waiting commands, and starts no more.
func (a *Ahead) Close() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.closed = true
	all := slices.Clone(a.waiting)
	a.mu.Unlock()
	for _, w := range all {
		a.drop(w)
	}
	a.busy.Wait()
}

// discard ends the command, which has not begun.
func (c *child) discard() {
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	<-c.exited
	_ = c.cmd.Wait()
	c.hold.Close()
	c.out.Close()
	c.box.End()
}

// aheadOf reports whether the text and environment of a command allow it to be started ahead. Bash uses some bytes
// itself, and a start-up file would run twice.
func (s Spec) aheadOf() bool {
	return s.Box != nil && len(s.Argv) == 0 && len(s.Shell) < longest && !strings.ContainsAny(s.Shell, "\x00\x01\x7f") &&
		!slices.ContainsFunc(s.Env, func(e string) bool { return strings.HasPrefix(e, "BASH_ENV=") })
}

// like is the same for commands that differ only in their text; "" if that is unknown.
func (s Spec) like() string {
	shell, err := Shell()
	box := s.Box.Mark()
	if err != nil || box == "" || !strings.HasSuffix(shell, "/bash") {
		return ""
	}
	return strings.Join(append([]string{box, s.Dir, s.Umask.script()}, s.Env...), "\x00")
}
