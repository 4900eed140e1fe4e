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
	"fantail/tools/files"
)

const (
	startTimeout = time.Minute            // of a start, which may first download a package
	minBackoff   = time.Second            // wait after a failure; it doubles with each one
	maxBackoff   = 5 * time.Minute        // the longest wait
	stableAfter  = time.Minute            // after a run of this length the wait starts at minBackoff again
	relistDelay  = 500 * time.Millisecond // from a change of the tools to their listing
	maxLog       = 16 << 10
)

// managedServer starts, watches and stops one server.
type managedServer struct {
	servers     *Servers
	server      Server
	fingerprint string

	// The mutex of Servers guards these fields.
	place      string
	phase      Phase
	message    string
	since      time.Time
	running    *runningServer          // nil: it does not run
	starting   chan struct{}           // closed at the end of the current start; nil: none
	cancel     context.CancelCauseFunc // cancels that start
	ending     chan struct{}           // closed when the blocked server has ended; nil: none was blocked
	err        error                   // why the last start failed, or how the server ended
	failures   int
	nextStart  time.Time // no start before this
	firstAsked time.Time // first request for its tools; zero: never
	log        []byte
	lastLogged string      // last line of the log
	loginFault *LoginFault // a login fixes it; nil: no login is needed
	lastStderr string      // end of the standard error of the last program
}

// fingerprint identifies a server's whole configuration, and so its rights.
func (s Server) fingerprint() string {
	s.Place = ""
	b, _ := json.Marshal(s)
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:8])
}

// state returns the state of the server.
func (l *managedServer) state() State {
	l.servers.mu.Lock()
	defer l.servers.mu.Unlock()
	s := State{Server: l.server, Phase: l.phase, Says: l.message, Since: l.since, Tries: l.failures}
	s.Place = l.place
	if v := l.running; v != nil && v.process != nil {
		s.PID = v.process.Group.PGID
	}
	if k := l.servers.records[l.server.Name]; k != nil && k.Fingerprint == l.fingerprint {
		s.Tools = k.toolCount()
	}
	return s
}

// setPhase sets the server's phase. The caller holds the mutex of Servers.
func (l *managedServer) setPhase(p Phase, says string) {
	l.phase, l.message, l.since = p, tools.Line(l.servers.o.Keys.Text(says)), l.servers.o.Now()
	l.appendLog(strings.TrimSpace(string(p) + ": " + says))
}

// logLine appends a line to the server's log, unless it is the last one already.
func (l *managedServer) logLine(text string) {
	l.servers.mu.Lock()
	defer l.servers.mu.Unlock()
	if text != l.lastLogged {
		l.appendLog(text)
	}
}

// appendLog is logLine for a caller that holds the mutex.
func (l *managedServer) appendLog(text string) {
	l.lastLogged = text
	l.log = fmt.Appendf(l.log, "%s %s\n", l.servers.o.Now().Format("15:04:05"), text)
	if over := len(l.log) - maxLog; over > 0 {
		l.log = append(l.log[:0], l.log[over:]...)
	}
}

// logText returns the end of the log and of the standard error.
func (l *managedServer) logText() string {
	l.servers.mu.Lock()
	text, wrote, v := string(l.log), l.lastStderr, l.running
	l.servers.mu.Unlock()
	if wrote != "" {
		text += "the standard error of the one that ended:\n" + strings.TrimSuffix(wrote, "\n") + "\n"
	}
	if v != nil && v.process != nil {
		if said := v.process.Said(); said != "" {
			text += "its standard error:\n" + said
		}
	}
	return plainText(l.servers.o.Keys.Text(text))
}

// keepStderr keeps the standard error of a program that has ended.
func (l *managedServer) keepStderr(wrote string) {
	l.servers.mu.Lock()
	defer l.servers.mu.Unlock()
	l.lastStderr = wrote
}

// report returns the log and the standard error of a server that was only tested.
func (l *managedServer) report() (notes, wrote string) {
	l.servers.mu.Lock()
	notes, wrote = string(l.log), l.lastStderr
	l.servers.mu.Unlock()
	return plainText(l.servers.o.Keys.Text(notes)), plainText(l.servers.o.Keys.Text(wrote))
}

// plainText returns text that is safe for a terminal.
func plainText(s string) string { return files.PlainText(s) }

// shortText returns a short text that is safe for a terminal.
func shortText(s string) string { return files.ShortText(s, 2000) }

// checkAllowed returns why the server may not run now, or nil. It stops a server that runs or
// starts nevertheless, without waiting for its end.
func (l *managedServer) checkAllowed() error {
	if l.servers.o.Allowed == nil {
		return nil
	}
	why := l.servers.o.Allowed(l.server)
	l.servers.mu.Lock()
	was, said := l.phase, l.message
	if why == nil {
		if l.phase == Blocked {
			l.setPhase(Idle, "")
		}
	} else {
		why = blockedError{why}
		l.block(why)
	}
	changed := l.phase != was || l.message != said
	l.servers.mu.Unlock()
	if changed {
		l.servers.notifyChanged()
	}
	return why
}

// block stops a server that may not run. The caller holds the mutex of Servers.
func (l *managedServer) block(why error) {
	if l.cancel != nil { // the goroutine that starts it reports why
		l.cancel(why)
		return
	}
	v := l.running
	if l.running = nil; v != nil {
		ending := make(chan struct{})
		l.ending = ending
		l.servers.o.Go("end the MCP server "+l.server.Name, func() {
			defer close(ending)
			v.end()
		})
	}
	l.err = why
	if l.phase != Blocked || l.message != tools.Line(l.servers.o.Keys.Text(why.Error())) {
		l.setPhase(Blocked, why.Error())
	}
}

// blockedBy returns why the server may not run, as last checked, or nil.
func (l *managedServer) blockedBy() error {
	l.servers.mu.Lock()
	defer l.servers.mu.Unlock()
	if l.phase != Blocked {
		return nil
	}
	return l.err
}

// waitSettled waits until no start and no end is in progress.
func (l *managedServer) waitSettled() {
	for {
		l.servers.mu.Lock()
		begun, ending := l.starting, l.ending
		l.servers.mu.Unlock()
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

// ensureRunning returns the running server. It starts the server if necessary.
func (l *managedServer) ensureRunning(ctx context.Context) (*runningServer, error) {
	if err := l.checkAllowed(); err != nil {
		return nil, err
	}
	started := false
	l.servers.mu.Lock()
	for l.running != nil {
		v := l.running
		select {
		case <-v.done: // the watcher notes its end in a moment
		default:
			l.servers.mu.Unlock()
			return v, nil
		}
		l.servers.mu.Unlock()
		select {
		case <-v.handled:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		l.servers.mu.Lock()
	}
	begun := l.starting
	switch wait := l.nextStart.Sub(l.servers.o.Now()); {
	case l.servers.closed:
		l.servers.mu.Unlock()
		return nil, errors.New("the program ends")
	case begun == nil && wait > 0:
		defer l.servers.mu.Unlock()
		return nil, fmt.Errorf("%w; it is not started again for %v (/mcp reconnect %s does so now)", l.err, wait.Round(time.Second), l.server.Word())
	case begun == nil:
		begun, started = l.start(), true
	}
	l.servers.mu.Unlock()
	if started {
		l.servers.notifyChanged()
	}
	select {
	case <-begun:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	l.servers.mu.Lock()
	defer l.servers.mu.Unlock()
	if l.running == nil {
		return nil, l.err
	}
	return l.running, nil
}

// start starts the server in the background. The caller holds the mutex of Servers.
func (l *managedServer) start() (begun chan struct{}) {
	within, late := context.WithTimeoutCause(l.servers.ctx, startTimeout, fmt.Errorf("it did not answer within %v", startTimeout))
	ctx, cancel := context.WithCancelCause(within)
	begun = make(chan struct{})
	l.starting, l.cancel = begun, cancel
	ending := l.ending
	l.setPhase(Starting, "")
	l.servers.o.Go("start the MCP server "+l.server.Name, func() {
		defer late()
		defer cancel(nil)
		if ending != nil {
			<-ending
		}
		v, err := l.connect(ctx)
		if err == nil {
			l.servers.recordTools(l, v, v.tools)
		}
		l.servers.mu.Lock()
		l.starting, l.cancel = nil, nil
		var withheld blockedError
		if err == nil && errors.As(context.Cause(ctx), &withheld) { // it was blocked after it had started
			err = withheld
			l.running = v
			l.block(err)
		}
		switch {
		case err == nil:
			l.running, l.err, l.loginFault = v, nil, nil
			l.setPhase(Ready, "")
		case errors.As(err, &withheld):
			l.block(withheld)
		default:
			l.failures++
			l.err, l.nextStart = err, l.servers.o.Now().Add(backOff(l.failures))
			if fault := LoginFaultOf(err); fault != nil {
				l.setNeedsLoginLocked(fault)
			} else {
				l.setPhase(Failed, err.Error())
			}
		}
		close(begun)
		l.servers.mu.Unlock()
		if err == nil {
			l.servers.o.Go("watch the MCP server "+l.server.Name, func() { l.watch(v) })
		}
		l.servers.notifyChanged()
	})
	return begun
}

// backOff returns how long the next start waits after that many failures.
func backOff(fails int) time.Duration { return min(maxBackoff, minBackoff<<min(fails-1, 20)) }

// blockedError is the error of a server that may not start.
type blockedError struct{ error }

// watch waits until the server ends.
func (l *managedServer) watch(v *runningServer) {
	defer close(v.handled)
	<-v.done
	how := v.end()
	l.servers.mu.Lock()
	if l.running != v { // it was ended on purpose
		l.servers.mu.Unlock()
		return
	}
	l.running = nil
	if l.servers.o.Now().Sub(l.since) > stableAfter {
		l.failures = 0
	}
	if l.failures++; l.failures > 1 { // after the first failure it may start at once
		l.nextStart = l.servers.o.Now().Add(backOff(l.failures - 1))
	}
	l.err = fmt.Errorf("the MCP server %s %s", l.server.Name, how)
	l.setPhase(Failed, how)
	l.servers.mu.Unlock()
	l.servers.notifyChanged()
}

// stop stops the server if it runs or starts.
func (l *managedServer) stop(why string) {
	l.servers.mu.Lock()
	if l.cancel != nil {
		l.cancel(nil)
	}
	l.servers.mu.Unlock()
	l.waitSettled()
	l.servers.mu.Lock()
	v := l.running
	l.running = nil
	if v != nil {
		l.err = fmt.Errorf("the MCP server %s was ended: %s", l.server.Name, why)
		l.setPhase(Stopped, why)
	}
	l.servers.mu.Unlock()
	if v != nil {
		v.end()
		l.servers.notifyChanged()
	}
}
