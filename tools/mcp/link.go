package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/tools"
	"fantail/tools/content"
	"fantail/tools/mcp/login"
)

const (
	startsIn = time.Minute            // what a server may take to be there: its package may have to be fetched first
	soonest  = time.Second            // after a failure a start waits so long, twice as long after each
	latest   = 5 * time.Minute        // and no longer than that
	settled  = time.Minute            // one that worked for so long has not failed before
	settles  = 500 * time.Millisecond // how long a list rests before it is read again
	mostLog  = 16 << 10
)

// link is one server.
type link struct {
	r      *Room
	server Server
	mark   string

	// The room's mutex guards these.
	place  string
	phase  Phase
	says   string
	since  time.Time
	live   *live                   // nil: it does not run
	begun  chan struct{}           // closed once the start that goes on has ended; nil: none does
	cancel context.CancelCauseFunc // of that start
	ending chan struct{}           // closed once one has ended that may not run; nil: none was
	failed error                   // why the last start failed, or how it ended
	fails  int
	next   time.Time // no start before
	asked  time.Time // when it was first asked for its tools; zero: it never was
	log    []byte
	lock   *login.Fault // what a login would mend; nil: nothing that is known
	wrote  string       // the end of the standard error of the one that ended last
}

// mark tells a server from another of the same name: whatever decides about what it is.
func (s Server) mark() string {
	s.Place = ""
	b, _ := json.Marshal(s)
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:8])
}

// state is how the server is.
func (l *link) state() State {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	s := State{Server: l.server, Phase: l.phase, Says: l.says, Since: l.since, Tries: l.fails}
	s.Place = l.place
	if v := l.live; v != nil && v.served != nil {
		s.PID = v.served.Group.PGID
	}
	if k := l.r.kept[l.server.Name]; k != nil && k.Mark == l.mark {
		s.Tools = k.count()
	}
	return s
}

// becomes is the server's new phase. The caller has the room's mutex.
func (l *link) becomes(p Phase, says string) {
	l.phase, l.says, l.since = p, tools.Line(l.r.o.Keys.Text(says)), l.r.o.Now()
	l.write(strings.TrimSpace(string(p) + ": " + says))
}

// noted writes a line to the server's log.
func (l *link) noted(text string) {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	l.write(text)
}

// write is noted for who has the mutex.
func (l *link) write(text string) {
	l.log = fmt.Appendf(l.log, "%s %s\n", l.r.o.Now().Format("15:04:05"), text)
	if over := len(l.log) - mostLog; over > 0 {
		l.log = append(l.log[:0], l.log[over:]...)
	}
}

// told is the end of what became of the server, and of what it wrote to its standard error.
func (l *link) told() string {
	l.r.mu.Lock()
	text, wrote, v := string(l.log), l.wrote, l.live
	l.r.mu.Unlock()
	if wrote != "" {
		text += "the standard error of the one that ended:\n" + strings.TrimSuffix(wrote, "\n") + "\n"
	}
	if v != nil && v.served != nil {
		if said := v.served.Said(); said != "" {
			text += "its standard error:\n" + said
		}
	}
	return plain(l.r.o.Keys.Text(text))
}

// ended keeps what one wrote to its standard error that ended.
func (l *link) ended(wrote string) {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	l.wrote = wrote
}

// report is what is told of one that was tried: what was noted of it, and the end of its standard error.
func (l *link) report() (notes, wrote string) {
	l.r.mu.Lock()
	notes, wrote = string(l.log), l.wrote
	l.r.mu.Unlock()
	return plain(l.r.o.Keys.Text(notes)), plain(l.r.o.Keys.Text(wrote))
}

// plain is text that a terminal shows as it is.
func plain(s string) string { return content.Plain(s) }

// short is such a text, of what a server says in one.
func short(s string) string { return content.Short(s, 2000) }

// allowed says why the server may not run, as things are now; nil: it may. One that runs or starts all the same is ended,
// which is not waited for.
func (l *link) allowed() error {
	if l.r.o.Allowed == nil {
		return nil
	}
	why := l.r.o.Allowed(l.server)
	l.r.mu.Lock()
	was, said := l.phase, l.says
	if why == nil {
		if l.phase == Withheld {
			l.becomes(Idle, "")
		}
	} else {
		why = withheldError{why}
		l.withhold(why)
	}
	changed := l.phase != was || l.says != said
	l.r.mu.Unlock()
	if changed {
		l.r.changed()
	}
	return why
}

// withhold ends the server, if it runs or starts, as one that may not. The caller has the room's mutex.
func (l *link) withhold(why error) {
	if l.cancel != nil { // who starts it says so
		l.cancel(why)
		return
	}
	v := l.live
	if l.live = nil; v != nil {
		ending := make(chan struct{})
		l.ending = ending
		l.r.o.Go("end the MCP server "+l.server.Name, func() {
			defer close(ending)
			v.end()
		})
	}
	l.failed = why
	if l.phase != Withheld || l.says != tools.Line(l.r.o.Keys.Text(why.Error())) {
		l.becomes(Withheld, why.Error())
	}
}

// withheld says why the server may not run, as was last found; nil: it may.
func (l *link) withheld() error {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	if l.phase != Withheld {
		return nil
	}
	return l.failed
}

// rests waits until a start and an end that go on have come to theirs.
func (l *link) rests() {
	for {
		l.r.mu.Lock()
		begun, ending := l.begun, l.ending
		l.r.mu.Unlock()
		switch {
		case begun != nil:
			<-begun
		case ending != nil:
			<-ending
			return
		default:
			return
		}
	}
}

// ready returns the server as it runs, and starts it if it does not.
func (l *link) ready(ctx context.Context) (*live, error) {
	if err := l.allowed(); err != nil {
		return nil, err
	}
	started := false
	l.r.mu.Lock()
	for l.live != nil {
		v := l.live
		select {
		case <-v.gone: // who watches it says so in a moment
		default:
			l.r.mu.Unlock()
			return v, nil
		}
		l.r.mu.Unlock()
		select {
		case <-v.noted:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		l.r.mu.Lock()
	}
	begun := l.begun
	switch wait := l.next.Sub(l.r.o.Now()); {
	case l.r.closed:
		l.r.mu.Unlock()
		return nil, errors.New("the program ends")
	case begun == nil && wait > 0:
		defer l.r.mu.Unlock()
		return nil, fmt.Errorf("%w; it is not started again for %v (/mcp reconnect %s does so now)", l.failed, wait.Round(time.Second), l.server.Name)
	case begun == nil:
		begun, started = l.begin(), true
	}
	l.r.mu.Unlock()
	if started {
		l.r.changed()
	}
	select {
	case <-begun:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	if l.live == nil {
		return nil, l.failed
	}
	return l.live, nil
}

// begin begins a start. The caller has the room's mutex.
func (l *link) begin() (begun chan struct{}) {
	within, late := context.WithTimeoutCause(l.r.ctx, startsIn, fmt.Errorf("it did not answer within %v", startsIn))
	ctx, cancel := context.WithCancelCause(within)
	begun = make(chan struct{})
	l.begun, l.cancel = begun, cancel
	ending := l.ending
	l.becomes(Starting, "")
	l.r.o.Go("start the MCP server "+l.server.Name, func() {
		defer late()
		defer cancel(nil)
		if ending != nil {
			<-ending
		}
		v, err := l.connect(ctx)
		if err == nil {
			l.r.listed(l, v, v.tools)
		}
		l.r.mu.Lock()
		l.begun, l.cancel = nil, nil
		var withheld withheldError
		if err == nil && errors.As(context.Cause(ctx), &withheld) { // since it is there
			err = withheld
			l.live = v
			l.withhold(err)
		}
		switch {
		case err == nil:
			l.live, l.failed, l.lock = v, nil, nil
			l.becomes(Ready, "")
		case errors.As(err, &withheld):
			l.withhold(withheld)
		default:
			l.fails++
			l.failed, l.next = err, l.r.o.Now().Add(backOff(l.fails))
			if lock := login.Mends(err); lock != nil {
				l.locked(lock)
			} else {
				l.becomes(Failed, err.Error())
			}
		}
		close(begun)
		l.r.mu.Unlock()
		if err == nil {
			l.r.o.Go("watch the MCP server "+l.server.Name, func() { l.watch(v) })
		}
		l.r.changed()
	})
	return begun
}

// backOff is how long a start waits after that many failures.
func backOff(fails int) time.Duration { return min(latest, soonest<<min(fails-1, 20)) }

// withheldError is the error of a server that may not start.
type withheldError struct{ error }

// watch waits until the server ends.
func (l *link) watch(v *live) {
	defer close(v.noted)
	<-v.gone
	how := v.end()
	l.r.mu.Lock()
	if l.live != v { // who ended it said so
		l.r.mu.Unlock()
		return
	}
	l.live = nil
	if l.r.o.Now().Sub(l.since) > settled {
		l.fails = 0
	}
	if l.fails++; l.fails > 1 { // the first time it starts again at once
		l.next = l.r.o.Now().Add(backOff(l.fails - 1))
	}
	l.failed = fmt.Errorf("the MCP server %s %s", l.server.Name, how)
	l.becomes(Failed, how)
	l.r.mu.Unlock()
	l.r.changed()
}

// stop ends the server, if it runs or starts.
func (l *link) stop(why string) {
	l.r.mu.Lock()
	if l.cancel != nil {
		l.cancel(nil)
	}
	l.r.mu.Unlock()
	l.rests()
	l.r.mu.Lock()
	v := l.live
	l.live = nil
	if v != nil {
		l.failed = fmt.Errorf("the MCP server %s was ended: %s", l.server.Name, why)
		l.becomes(Stopped, why)
	}
	l.r.mu.Unlock()
	if v != nil {
		v.end()
		l.r.changed()
	}
}
