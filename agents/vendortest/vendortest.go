// Package vendortest tests agents of other vendors with a fake one.
package vendortest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"testing"

	"fantail/agents/acp"
	"fantail/agents/acp/acptest"
	"fantail/agents/engine"
	"fantail/tools"
	"fantail/tools/proc"
)

// Vendor is one whose agents are fakes in this process. They keep their sessions in a directory of the test's.
type Vendor struct {
	Options acp.VendorOptions // what a test wants otherwise; set before Engine
	Words   string            // what its programs write to their standard error

	dir  string
	made func() *acptest.Agent

	mu    sync.Mutex
	all   sync.WaitGroup
	lives map[*acptest.Process]bool
	began int
	left  int                       // bytes that its programs say before what they say is cut; -1: it is not
	seats map[string]engine.Options // by the name of the agent that sits there, and by its id
}

// New returns a vendor; made makes what runs as one of its programs. The test ends once all of them have.
func New(t testing.TB, made func() *acptest.Agent) *Vendor {
	v := &Vendor{dir: t.TempDir(), made: made, left: -1, lives: map[*acptest.Process]bool{}, seats: map[string]engine.Options{}}
	v.Options = acp.VendorOptions{Name: "fake", Program: engine.Program{Argv: []string{"/opt/fake", "acp"}}, Login: "fake login"}
	t.Cleanup(v.all.Wait)
	return v
}

// Go starts a goroutine that the test waits for. A pool's have to be started by it too.
func (v *Vendor) Go(_ string, f func()) { v.all.Go(f) }

// Engine is the vendor's engine, for a pool.
func (v *Vendor) Engine() *acp.Vendor {
	o := v.Options
	o.Start = v.start
	if o.ServeMCP == nil {
		o.ServeMCP = v.serve
	}
	return acp.NewVendor(o)
}

func (v *Vendor) start(s proc.Spec) (acp.Process, error) {
	a := v.made()
	a.Dir = v.dir
	p := acptest.Run(v.Go, func(in io.Reader, out io.WriteCloser) { _ = a.Serve(in, scissors{out, v}) })
	p.Words = v.Words
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lives[p] = true
	v.began++
	return p, nil
}

// Cut has what its programs say from now on be cut after so many bytes, as a crash would; 0: it is not.
func (v *Vendor) Cut(after int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.left = after; after == 0 {
		v.left = -1
	}
}

// scissors cut what a program says.
type scissors struct {
	io.WriteCloser
	by *Vendor
}

func (s scissors) Write(b []byte) (int, error) {
	s.by.mu.Lock()
	n := len(b)
	if s.by.left >= 0 {
		n = min(n, s.by.left)
		s.by.left -= n
	}
	cut := s.by.left == 0
	s.by.mu.Unlock()
	n, err := s.WriteCloser.Write(b[:n])
	if cut {
		err = errors.Join(err, s.Close(), io.ErrClosedPipe)
	}
	return n, err
}

// serve is a door that is none: what comes through it is called at once.
func (v *Vendor) serve(at engine.Options, _ string) (acp.MCPServer, func(), error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	id := fmt.Sprint(at.Agent)
	v.seats[at.Name], v.seats[id] = at, at
	return acp.MCPServer{Name: "fantail", Args: []string{id}, Env: []acp.EnvVariable{}}, func() {}, nil
}

// Kill ends all of its programs, as a crash would.
func (v *Vendor) Kill() {
	v.mu.Lock()
	dying := v.lives
	v.lives = map[*acptest.Process]bool{}
	v.mu.Unlock()
	for p := range dying {
		p.End() // once what it says is said, which takes the lock
	}
}

// Began is how many of its programs have begun.
func (v *Vendor) Began() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.began
}

// Ended waits until all programs that have begun have ended.
func (v *Vendor) Ended() {
	v.mu.Lock()
	lives := slices.Collect(maps.Keys(v.lives))
	v.mu.Unlock()
	for _, p := range lives {
		<-p.Exited()
	}
}

// CallIn calls one of our tools in a turn, as the agent whose turn it is.
func (v *Vendor) CallIn(t *acptest.Turn, tool, args string) tools.Result {
	var servers []acp.MCPServer
	if err := json.Unmarshal([]byte(t.Servers()), &servers); err != nil || len(servers) != 1 {
		return tools.Result{Text: "no tools of ours are there", Error: true}
	}
	return v.Call(t.Context, servers[0].Args[0], tool, args)
}

// Call calls one of our tools as the agent of that name.
func (v *Vendor) Call(ctx context.Context, agent, tool, args string) tools.Result {
	v.mu.Lock()
	at, sits := v.seats[agent]
	v.mu.Unlock()
	if !sits {
		return tools.Result{Text: "nobody sits as " + agent, Error: true}
	}
	return at.Call(ctx, tool, json.RawMessage(args))
}
