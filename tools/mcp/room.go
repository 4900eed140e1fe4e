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
	"fantail/tools/content"
	"fantail/tools/mcp/signin"
	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
)

// Options are what a room needs. All may be called at any time, and from any goroutine.
type Options struct {
	Root    string                  // the workspace, absolute and resolved
	Servers func() []Server         // what is configured now, in order; cheap
	Allowed func(s Server) error    // why it may not run, asked at each start, call and list of tools; nil: it may. nil itself: all may
	Environ []string                // of servers, beside their own
	Keys    *secret.Keys            // what nothing is shown of; nil: none
	Leave   func() permit.Leave     // what rules add to sandboxes; nil: nothing
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
	Logins *signin.Desk
}

// Phase is how a server is.
type Phase string

// The phases.
const (
	Idle     Phase = "idle"     // nobody needed it yet
	Starting Phase = "starting" // it has not said yet that it is there
	Ready    Phase = "ready"
	Stopped  Phase = "stopped"  // it ended, and starts again once it is needed
	Failed   Phase = "failed"   // it does not start, or died
	Withheld Phase = "withheld" // it may not run
	Locked   Phase = "needs a login"
)

// State is how a server is, for people.
type State struct {
	Server
	Phase Phase
	Says  string    // one line: why it is so; "": nothing to say
	Tools int       // how many it has, as far as is known
	PID   int       // 0: it is no program of ours, or does not run
	Since time.Time // it is so
	Tries int       // how often it failed since it last worked
}

// Report is what a server shows that was only tried.
type Report struct {
	Program  string   // what it says it is, and its version
	Protocol string   // the version that is spoken
	Tools    []string // by their own names
	Took     time.Duration
	Notes    string // what was noted of it in lines, such as output that is no message
	Stderr   string // the end of what it wrote there
}

// Room has the servers of one workspace, each once. It is safe for concurrent use; nil has none.
type Room struct {
	o   Options
	ctx context.Context // ends with Close
	end context.CancelFunc

	once   sync.Once // what was kept is read
	mu     sync.Mutex
	links  map[string]*link
	order  []*link            // those that were configured last, in order
	of     []Server           // what order was made of; nil: nothing was
	kept   map[string]*record // by server: what is known of its tools
	closed bool

	glanced bool // somebody looked before anything was configured

	version int // grows with each change of what is kept
	made    []tools.Lent
	madeOf  []byte // what made was made of

	saving sync.Mutex // held while the file is written
}

// New returns the servers of a workspace. Nothing starts, and nothing is read.
func New(o Options) *Room {
	r := &Room{o: o, links: map[string]*link{}, kept: map[string]*record{}}
	if r.o.Now == nil {
		r.o.Now = time.Now
	}
	if r.o.Go == nil {
		r.o.Go = func(_ string, f func()) { go f() }
	}
	r.ctx, r.end = context.WithCancel(context.Background())
	return r
}

// States are all servers that are configured, in their order.
func (r *Room) States() (all []State) {
	if r == nil {
		return nil
	}
	for _, l := range r.sync() {
		all = append(all, l.state())
	}
	return all
}

// sync brings the links in line with what is configured, and returns them in order.
func (r *Room) sync() (all []*link) {
	var servers []Server
	if r.o.Servers != nil {
		servers = r.o.Servers()
	}
	r.once.Do(r.load)
	r.mu.Lock()
	of, all, closed := r.of, r.order, r.closed
	r.mu.Unlock()
	if of != nil && !closed && reflect.DeepEqual(of, servers) {
		return all
	}
	marks := make([]string, len(servers))
	for n, s := range servers {
		marks[n] = s.mark()
	}
	all = nil
	var gone []*link
	r.mu.Lock()
	seen := map[string]bool{}
	for n, s := range servers {
		if s.Name == "" || seen[s.Name] || r.closed {
			continue
		}
		seen[s.Name] = true
		l := r.links[s.Name]
		if l != nil && l.mark != marks[n] {
			gone, l = append(gone, l), nil
		}
		if l == nil {
			l = &link{r: r, server: s, mark: marks[n], phase: Idle, since: r.o.Now()}
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
	r.order, r.of = all, slices.Clone(servers)
	r.mu.Unlock()
	for _, l := range gone {
		r.o.Go("end the server "+l.server.Name, func() { l.stop("it is not configured any more") })
	}
	return all
}

// Recheck ends the servers that may not run any more, and has those be known that may again. They end by themselves, in
// their own time: nobody calls them meanwhile.
func (r *Room) Recheck() {
	if r == nil {
		return
	}
	for _, l := range r.sync() {
		_ = l.allowed()
	}
}

// find returns a server that is configured.
func (r *Room) find(name string) (*link, error) {
	all := r.sync()
	if i := slices.IndexFunc(all, func(l *link) bool { return l.server.Name == name }); i >= 0 {
		return all[i], nil
	}
	return nil, fmt.Errorf("no MCP server %q is configured; /mcp lists those that are", name)
}

// Log is the end of what a server wrote to its standard error, and of what became of it.
func (r *Room) Log(name string) string {
	l, err := r.find(name)
	if err != nil {
		return ""
	}
	return l.told()
}

// Reconnect ends a server if it runs, and starts it. It returns once it is there, or why it is not.
func (r *Room) Reconnect(ctx context.Context, name string) error {
	l, err := r.find(name)
	if err != nil {
		return err
	}
	l.stop("it was asked to start again")
	r.mu.Lock()
	l.fails, l.next = 0, time.Time{}
	r.mu.Unlock()
	_, err = l.ready(ctx)
	return err
}

// Test starts a server beside the one that may run, looks at it and ends it.
func (r *Room) Test(ctx context.Context, name string) (rep Report, err error) {
	l, err := r.find(name)
	if err != nil {
		return rep, err
	}
	began := time.Now()
	try := &link{r: r, server: l.server, mark: l.mark} // nothing of it is kept
	v, err := try.connect(ctx)
	if err != nil {
		rep.Notes, rep.Stderr = try.report()
		return rep, err
	}
	rep.Took = time.Since(began)
	if is := v.session.InitializeResult(); is != nil {
		rep.Protocol = tools.Line(content.Short(is.ProtocolVersion, 100))
		if is.ServerInfo != nil {
			rep.Program = tools.Line(content.Short(is.ServerInfo.Name, 100) + " " + content.Short(is.ServerInfo.Version, 100))
		}
	}
	for _, t := range v.tools {
		rep.Tools = append(rep.Tools, t.Name)
	}
	v.end()
	rep.Notes, rep.Stderr = try.report()
	return rep, nil
}

// Close ends all servers. It returns once they have ended, or with ctx.
func (r *Room) Close(ctx context.Context) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.closed = true
	var all []*link
	for _, l := range r.links {
		all = append(all, l)
	}
	r.mu.Unlock()
	r.end()
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

// changed tells that a server is another way than it was.
func (r *Room) changed() {
	if r.o.Changed != nil {
		r.o.Changed()
	}
}

// trouble tells of what could not be written down.
func (r *Room) trouble(err error) {
	if err != nil && r.o.Trouble != nil {
		r.o.Trouble(err)
	}
}
