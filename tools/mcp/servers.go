package mcp

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"time"

	"fantail/tools"
	"fantail/tools/files"
	"fantail/tools/permission"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
)

// Options configure [Servers]. All functions may be called at any time and from any goroutine.
type Options struct {
	Root    string                  // the workspace, absolute and resolved
	Servers func() []Server         // what is configured now, in order; cheap
	Allowed func(s Server) error    // why it may not run, asked at each start, call and list of tools; nil: it may. nil itself: all may
	Environ []string                // of servers, beside their own
	Keys    *secret.Keys            // what nothing is shown of; nil: none
	Leave   func() permission.Leave // what rules add to sandboxes; nil: nothing
	Keep    func(proc.Group) func() // has a server ended if this program dies; nil: nobody does
	Dir     string                  // where it is kept which tools servers have, and what was agreed to; "": nowhere
	Now     func() time.Time
	Go      func(name string, f func())
	Trouble func(error) // tells what could not be written down; nil: nobody hears
	Changed func()      // a server is another way than it was; nil: nobody hears

	// Box makes the sandbox of a server; nil: there is none.
	Box func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error)
	// Login carries requests over base as somebody who is logged in to that server; nil: nobody is.
	Login func(s Server, base http.RoundTripper) (http.RoundTripper, error)
	// Logins has the human log in where calls need it; nil: a call says what to do.
	Logins *SignIn
}

// Phase is the state of a server.
type Phase string

// The phases.
const (
	Idle       Phase = "idle"     // nobody needed it yet
	Starting   Phase = "starting" // it has not said yet that it is there
	Ready      Phase = "ready"
	Stopped    Phase = "stopped"  // it ended, and starts again once it is needed
	Failed     Phase = "failed"   // it does not start, or died
	Blocked    Phase = "withheld" // it may not run
	NeedsLogin Phase = "needs a login"
)

// State is the state of a server for people.
type State struct {
	Server
	Phase Phase
	Says  string    // one line: why it is so; "": nothing to say
	Tools int       // how many it has, as far as is known
	PID   int       // 0: it is no program of ours, or does not run
	Since time.Time // it is so
	Tries int       // how often it failed since it last worked
}

// Report is the result of a test of a server.
type Report struct {
	Program  string   // what it says it is, and its version
	Protocol string   // the version that is spoken
	Tools    []string // by their own names
	Took     time.Duration
	Notes    string // what was noted of it in lines, such as output that is no message
	Stderr   string // the end of what it wrote there
}

// Servers manages the MCP servers of one workspace. It is safe for concurrent use. A nil *Servers has none.
type Servers struct {
	o      Options
	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	loadOnce   sync.Once // what was kept is read
	mu         sync.Mutex
	links      map[string]*managedServer
	order      []*managedServer         // those that were configured last, in order
	configured []Server                 // what order was made of; nil: nothing was
	records    map[string]*serverRecord // by server: what is known of its tools
	closed     bool

	synced bool // somebody looked before anything was configured

	missed []*managedServer // those without whose tools a turn began last
	lentAt time.Time        // it began then

	version      int // grows with each change of what is kept
	lentCache    []tools.Lent
	lentCacheKey []byte // what made was made of

	saveMu sync.Mutex // held while the file is written
}

// New returns the servers of a workspace. It starts and reads nothing.
func New(o Options) *Servers {
	r := &Servers{o: o, links: map[string]*managedServer{}, records: map[string]*serverRecord{}}
	if r.o.Now == nil {
		r.o.Now = time.Now
	}
	if r.o.Go == nil {
		r.o.Go = func(_ string, f func()) { go f() }
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// States returns the states of the configured servers, in their order.
func (r *Servers) States() (all []State) {
	if r == nil {
		return nil
	}
	for _, l := range r.sync() {
		all = append(all, l.state())
	}
	return all
}

// sync applies the configuration and returns its servers in order.
func (r *Servers) sync() (all []*managedServer) {
	var servers []Server
	if r.o.Servers != nil {
		servers = r.o.Servers()
	}
	r.loadOnce.Do(r.loadRecords)
	r.mu.Lock()
	of, all, closed := r.configured, r.order, r.closed
	r.mu.Unlock()
	if of != nil && !closed && reflect.DeepEqual(of, servers) {
		return all
	}
	marks := make([]string, len(servers))
	for n, s := range servers {
		marks[n] = s.fingerprint()
	}
	all = nil
	var gone []*managedServer
	r.mu.Lock()
	seen := map[string]bool{}
	for n, s := range servers {
		if s.Name == "" || seen[s.Name] || r.closed {
			continue
		}
		seen[s.Name] = true
		l := r.links[s.Name]
		if l != nil && l.fingerprint != marks[n] {
			gone, l = append(gone, l), nil
		}
		if l == nil {
			l = &managedServer{servers: r, server: s, fingerprint: marks[n], phase: Idle, since: r.o.Now()}
			r.links[s.Name] = l
		}
		l.place = s.Place
		all = append(all, l)
	}
	for name, l := range r.links {
		if !seen[name] {
			gone = append(gone, l)
			delete(r.links, name)
		}
	}
	r.order, r.configured = all, slices.Clone(servers)
	r.mu.Unlock()
	for _, l := range gone {
		r.o.Go("end the server "+l.server.Name, func() { l.stop("it is not configured any more") })
	}
	return all
}

// Recheck stops the servers that may not run any more, and clears the phase of those that may run again. It does not wait for
// their end.
func (r *Servers) Recheck() {
	if r == nil {
		return
	}
	for _, l := range r.sync() {
		_ = l.checkAllowed()
	}
}

// find returns the configured server with that name.
func (r *Servers) find(name string) (*managedServer, error) {
	all := r.sync()
	if i := slices.IndexFunc(all, func(l *managedServer) bool { return l.server.Name == name }); i >= 0 {
		return all[i], nil
	}
	return nil, fmt.Errorf("no MCP server %q is configured; /mcp lists those that are", name)
}

// Log returns the end of a server's log and of its standard error.
func (r *Servers) Log(name string) string {
	l, err := r.find(name)
	if err != nil {
		return ""
	}
	return l.logText()
}

// Reconnect stops a server and starts it again. It returns once the server is ready, or why it is not.
func (r *Servers) Reconnect(ctx context.Context, name string) error {
	l, err := r.find(name)
	if err != nil {
		return err
	}
	l.stop("it was asked to start again")
	r.mu.Lock()
	l.failures, l.nextStart = 0, time.Time{}
	r.mu.Unlock()
	_, err = l.ensureRunning(ctx)
	return err
}

// Test starts another instance of a server, looks at it and stops it.
func (r *Servers) Test(ctx context.Context, name string) (rep Report, err error) {
	l, err := r.find(name)
	if err != nil {
		return rep, err
	}
	began := time.Now()
	try := &managedServer{servers: r, server: l.server, fingerprint: l.fingerprint} // nothing of it is kept
	v, err := try.connect(ctx)
	if err != nil {
		rep.Notes, rep.Stderr = try.report()
		return rep, err
	}
	rep.Took = time.Since(began)
	if is := v.session.InitializeResult(); is != nil {
		rep.Protocol = tools.Line(files.ShortText(is.ProtocolVersion, 100))
		if is.ServerInfo != nil {
			rep.Program = tools.Line(files.ShortText(is.ServerInfo.Name, 100) + " " + files.ShortText(is.ServerInfo.Version, 100))
		}
	}
	for _, t := range v.tools {
		rep.Tools = append(rep.Tools, t.Name)
	}
	v.end()
	rep.Notes, rep.Stderr = try.report()
	return rep, nil
}

// Close stops all servers. It returns when they have ended, or with ctx.
func (r *Servers) Close(ctx context.Context) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.closed = true
	var all []*managedServer
	for _, l := range r.links {
		all = append(all, l)
	}
	r.mu.Unlock()
	r.cancel()
	done := make(chan struct{})
	r.o.Go("end the MCP servers", func() {
		defer close(done)
		var wait sync.WaitGroup
		for _, l := range all {
			wait.Go(func() { l.stop("the program ends") })
		}
		wait.Wait()
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// notifyChanged reports a change of a server's state.
func (r *Servers) notifyChanged() {
	if r.o.Changed != nil {
		r.o.Changed()
	}
}

// reportTrouble reports an error of saving.
func (r *Servers) reportTrouble(err error) {
	if err != nil && r.o.Trouble != nil {
		r.o.Trouble(err)
	}
}
