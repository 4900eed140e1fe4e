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

// Options configure [Servers]. All functions must be safe for concurrent use.
type Options struct {
	Root    string                  // directory of the workspace, absolute and resolved
	Servers func() []Server         // the configured servers in order; must be cheap
	Allowed func(s Server) error    // why a server may not run, asked at each start, call and list of tools; nil error: it may; nil: all may
	Environ []string                // for servers, in addition to their own
	Keys    *secret.Keys            // never shown; nil: none
	Leave   func() permission.Leave // what rules add to sandboxes; nil: nothing
	Keep    func(proc.Group) func() // ends a server if this program dies; nil: nothing does
	Dir     string                  // directory of the recorded tools and what was agreed to; "": not saved
	Now     func() time.Time
	Go      func(name string, f func())
	Trouble func(error) // gets errors of saving; nil: they are dropped
	Changed func()      // called when a server's state has changed; nil: not called

	// Box makes the sandbox of a server; nil: there is none.
	Box func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error)
	// Login returns a transport that adds a server's login to requests over base; nil: there are no
	// logins.
	Login func(s Server, base http.RoundTripper) (http.RoundTripper, error)
	// Logins has the human log in when calls need it; nil: a call says what to do.
	Logins *SignIn
}

// Phase is the state of a server.
type Phase string

// The phases.
const (
	Idle       Phase = "idle"     // not needed yet
	Starting   Phase = "starting" // it has not answered yet
	Ready      Phase = "ready"
	Stopped    Phase = "stopped"  // it ended, and starts again when needed
	Failed     Phase = "failed"   // it does not start, or died
	Blocked    Phase = "withheld" // it may not run
	NeedsLogin Phase = "needs a login"
)

// State is the state of a server for people.
type State struct {
	Server
	Phase Phase
	Says  string    // the reason, in one line; "": none
	Tools int       // number of known tools
	PID   int       // 0: it does not run, or is no local program
	Since time.Time // when the phase began
	Tries int       // failures since it last worked
}

// Report is the result of testing a server.
type Report struct {
	Program  string   // its own name and version
	Protocol string   // version of the protocol in use
	Tools    []string // their names on the server
	Took     time.Duration
	Notes    string // log lines, such as about output that is no message
	Stderr   string // end of its standard error
}

// Servers manages the MCP servers of one workspace. It is safe for concurrent use. A nil *Servers has none.
type Servers struct {
	o      Options
	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	loadOnce   sync.Once // reads the saved records
	mu         sync.Mutex
	links      map[string]*managedServer
	order      []*managedServer         // configured servers in order
	configured []Server                 // what order was made of; nil: nothing
	records    map[string]*serverRecord // what is known of the tools, by server
	closed     bool

	synced bool // cachedServers has started a sync

	missed []*managedServer // servers whose tools were missing in the last Lend
	lentAt time.Time        // when the last Lend returned

	version      int // grows with each change of records
	lentCache    []tools.Lent
	lentCacheKey []byte // what lentCache was made of

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

// States returns the states of the configured servers in order.
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

// Recheck stops servers that may no longer run, and clears the phase of those that may run again.
// It does not wait for their end.
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

// Reconnect stops a server and starts it again. It returns once the server is ready, or with the
// error.
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

// Test starts another instance of a server, asks for its tools and stops it.
func (r *Servers) Test(ctx context.Context, name string) (rep Report, err error) {
	l, err := r.find(name)
	if err != nil {
		return rep, err
	}
	began := time.Now()
	try := &managedServer{servers: r, server: l.server, fingerprint: l.fingerprint} // it is not recorded
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
