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
	live   *live              // nil: it does not run
	begun  chan struct{}      // closed once the start that goes on has ended; nil: none does
	cancel context.CancelFunc // of that start
	failed error              // why the last start failed, or how it ended
	fails  int
	next   time.Time // no start before
	asked  time.Time // when it was first asked for its tools; zero: it never was
	log    []byte
	lock   *login.Fault // what a login would mend; nil: nothing that is known
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
	text, v := string(l.log), l.live
	l.r.mu.Unlock()
	if v != nil && v.served != nil {
		if said := v.served.Said(); said != "" {
			text += "its standard error:\n" + said
		}
	}
	return plain(l.r.o.Keys.Text(text))
}

// plain is text that a terminal shows as it is.
func plain(s string) string { return content.Plain(s) }

// ready returns the server as it runs, and starts it if it does not.
func (l *link) ready(ctx context.Context) (*live, error) {
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
		<-v.noted
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
	ctx, cancel := context.WithTimeoutCause(l.r.ctx, startsIn, fmt.Errorf("it did not answer within %v", startsIn))
	begun = make(chan struct{})
	l.begun, l.cancel = begun, cancel
	l.becomes(Starting, "")
	l.r.o.Go("start the MCP server "+l.server.Name, func() {
		v, err := l.connect(ctx)
		cancel()
		if err == nil {
			l.r.listed(l, v, v.tools)
		}
		l.r.mu.Lock()
		l.begun, l.cancel = nil, nil
		var withheld withheldError
		switch {
		case err == nil:
			l.live, l.failed, l.lock = v, nil, nil
			l.becomes(Ready, "")
		case errors.As(err, &withheld):
			l.failed = err
			l.becomes(Withheld, err.Error())
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
	l.r.mu.Lock()
	mine := l.live == v
	l.r.mu.Unlock()
	how := v.end()
	if !mine { // who ended it said so
		return
	}
	l.r.mu.Lock()
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
		l.cancel()
	}
	begun := l.begun
	l.r.mu.Unlock()
	if begun != nil {
		<-begun
	}
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
