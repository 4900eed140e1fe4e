package proc

import (
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	mostAhead = 4           // commands that wait at once: as many agents as commonly work at once
	stays     = time.Minute // how long one waits
)

// Ahead holds the starts of commands that are still to come. To make a sandbox takes longer than most commands, and an
// agent's next one mostly runs in a sandbox like that of its last: after each, one like it is started that waits for
// its text, in a shell that does nothing else. None waits that is not in every way, but for its text, what the command
// would be started as (the files that its sandbox shows are the same ones still), and none for longer than a minute.
// They end with this program. The zero value and nil hold nothing; it is safe for concurrent use.
type Ahead struct {
	mu      sync.Mutex
	waiting []*waiting // the oldest first
	closed  bool
	busy    sync.WaitGroup // what makes and ends them
}

// waiting is a command that waits for its text.
type waiting struct {
	*child
	like string
	late *time.Timer
}

// take returns a command that waits to be this one; nil: there is none.
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
		case <-w.exited: // somebody killed it
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
		like := s.like() // before it starts: what changes meanwhile tells them apart
		if like == "" {
			return
		}
		c, err := start(s, ahead)
		if err != nil {
			return // the next one says why, if it can't start either
		}
		a.add(&waiting{child: c, like: like})
	})
}

// add has a command wait, and the oldest no longer if there are too many.
func (a *Ahead) add(w *waiting) {
	a.mu.Lock()
	w.late = time.AfterFunc(stays, func() { a.drop(w) })
	a.waiting = append(a.waiting, w)
	var old *waiting
	switch {
	case a.closed:
		old = w
	case len(a.waiting) > mostAhead:
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

// Close ends what waits; nothing does from then on.
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

// aheadOf reports whether a command can have been started ahead of its text, as far as that and its environment tell.
// Bash takes some bytes for its own, and a start-up file would be carried out twice.
func (s Spec) aheadOf() bool {
	return s.Box != nil && len(s.Argv) == 0 && len(s.Shell) < longest && !strings.ContainsAny(s.Shell, "\x00\x01\x7f") &&
		!slices.ContainsFunc(s.Env, func(e string) bool { return strings.HasPrefix(e, "BASH_ENV=") })
}

// like is the same for commands that differ in nothing but their text; "" if that can't be told.
func (s Spec) like() string {
	shell, err := Shell()
	box := s.Box.Mark()
	if err != nil || box == "" || !strings.HasSuffix(shell, "/bash") {
		return ""
	}
	return strings.Join(append([]string{box, s.Dir, s.Umask.script()}, s.Env...), "\x00")
}
