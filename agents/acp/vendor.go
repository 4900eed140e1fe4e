package acp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fantail/agents/engine"
	"fantail/agents/llm"
	"fantail/tools/proc"
)

// idleTimeout is how long an agent's program stays without a turn.
const idleTimeout = 10 * time.Minute

// VendorOptions configure a [Vendor].
type VendorOptions struct {
	Name    string         // for people
	Program engine.Program // that speaks the protocol
	Login   string         // the command to log in; "": not known
	Version string         // of this program

	Mode        string            // the mode in which it works; "": the one in which it begins
	Settings    map[string]string // such as model or effort
	SafeMode    string            // the mode in place of one of BypassModes; "": not known
	BypassModes []string          // its modes in which it never asks
	OwnSandbox  bool              // it has a sandbox for its commands, which does not work inside another one

	// ServeMCP opens the MCP server for an agent in the directory door, and returns how the agent starts it; nil: there is none.
	ServeMCP func(s engine.Options, door string) (server MCPServer, end func(), err error)

	// Start starts the program; nil: as a process.
	Start func(proc.Spec) (Process, error)
}

// Vendor is a kind of agent, made by another vendor. It is an [engine.Engine].
type Vendor struct{ o VendorOptions }

var _ engine.Engine = (*Vendor)(nil)

func NewVendor(o VendorOptions) *Vendor {
	if o.Start == nil {
		o.Start = Start
	}
	return &Vendor{o}
}

// Stream implements [llm.Provider].
func (v *Vendor) Stream(context.Context, *llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		yield(nil, &llm.Error{Kind: llm.BadRequest, Provider: v.o.Name, Message: engine.ErrNoRequests.Error(), Err: engine.ErrNoRequests})
	}
}

// NewSession implements [engine.Engine].
func (v *Vendor) NewSession(s engine.Options) engine.Session {
	return &vendorSession{vendor: v, opts: s, turn: newTurn(s.Dir)}
}

// vendorSession runs the turns of one agent in a vendor's program. Only the agent's loop uses it, except where noted.
type vendorSession struct {
	vendor *Vendor
	opts   engine.Options

	stateLoaded bool // state was read
	state       engine.State

	session       *Session    // nil: its program does not run
	events        *eventQueue // of the session
	inTurn        bool        // a turn runs
	steering      bool        // a steering request is open
	turnOver      bool        // the turn has ended, which Next has not told yet
	unprompted    bool        // the agent works without a prompt
	stopped       bool        // the user stopped the turn before
	pending       []engine.Input
	turn          *turn
	cost          costMeter
	sandboxed     bool // its program runs in a sandbox
	mcpServers    []MCPServer
	userRefused   atomic.Bool // the user refused something in this turn
	openQuestions atomic.Int32

	mu          sync.Mutex // guards what timers and End use too
	idleTimer   *time.Timer
	liveSession *Session // nil: none
	closed      bool     // End was called
}

// Open implements [engine.Session].
func (c *vendorSession) Open(ctx context.Context, since int64) (sent int64, doubt bool, err error) {
	if c.inTurn || c.turnOver || c.unprompted { // what became of its turn is still to be heard, even if its program has ended
		return c.state.Sent, c.state.Sending != 0, nil
	}
	c.stopIdleTimer()
	c.pending = nil
	if !c.stateLoaded {
		if c.state, err = c.opts.Load(ctx); err != nil {
			return 0, false, fmt.Errorf("read what %s was sent: %w", c.vendor.o.Name, err)
		}
		c.stateLoaded = true
	}
	fresh := engine.State{Vendor: c.vendor.o.Name}
	if c.state.Vendor != fresh.Vendor || max(c.state.Sent, c.state.Sending) < since {
		c.dropSession()
		c.state = fresh
	}
	if c.session != nil {
		select {
		case <-c.session.Done():
			c.dropSession()
		default:
			c.unwatchIdle()
			return c.state.Sent, c.state.Sending != 0, nil
		}
	}
	return c.start(ctx)
}

// start starts the agent's program and resumes its session, or begins one.
func (c *vendorSession) start(ctx context.Context) (sent int64, doubt bool, err error) {
	was := c.state
	doubt = was.Sending != 0
	has := markReader{prefix: c.markPrefix()}
	whole := was.Session != "" && (doubt || was.Sent > was.Settled)
	s, n, err := c.openSession(ctx, resumption{was.Session, whole}, has.read)
	if errors.Is(err, ErrNoSession) && whole { // it may go on, though it does not tell what was said
		whole = false
		s, n, err = c.openSession(ctx, resumption{was.Session, false}, nil)
	}
	if errors.Is(err, ErrNoSession) {
		c.turn.note(c.vendor.o.Name + " does not know its session any more: it begins another, with what was said so far")
		was, doubt, whole = engine.State{Vendor: was.Vendor}, false, false
		s, n, err = c.openSession(ctx, resumption{}, nil)
	}
	if err != nil {
		return 0, false, c.userError(err)
	}
	left, err := c.applySettings(ctx, s)
	if err != nil {
		n.close()
		s.End()
		return 0, false, c.userError(err)
	}
	resumed := was.Session
	was.Session = s.ID()
	switch {
	case doubt && has.upTo >= was.Sending:
		was.Sent, was.Sending, doubt = was.Sending, 0, false
	case whole && has.upTo < was.Sent && was.Settled < was.Sent: // it ended before it had kept what it was told in that turn
		was.Sent, doubt = max(has.upTo, was.Settled), true
	}
	if err := c.saveState(ctx, was); err != nil {
		n.close()
		s.End()
		return 0, false, err
	}
	if resumed == "" {
		c.turn.note(c.introduction(s))
		if left != "" {
			c.turn.note(left)
		}
	}
	c.session, c.events, c.inTurn, c.steering, c.turnOver, c.unprompted, c.pending = s, n, false, false, false, false, nil
	c.cost = costMeter{unreported: c.cost.unreported, baseKnown: resumed == ""} // what one tells first that goes on may hold what was counted before
	c.mu.Lock()
	gone := c.closed
	c.liveSession = s
	c.mu.Unlock()
	if gone {
		s.End()
	}
	return was.Sent, doubt, nil
}

// markReader finds the last mark in the replay of a session, which arrives in pieces.
type markReader struct {
	prefix string // what a mark begins with
	upTo   int64  // the last entry of what has a mark in it; 0: of none
	tail   string
}

func (r *markReader) read(said string) {
	r.tail += said
	for {
		_, rest, is := strings.Cut(r.tail, r.prefix)
		if !is {
			r.tail = r.tail[max(0, len(r.tail)-len(r.prefix)):]
			return
		}
		number, after, ends := strings.Cut(rest, "]")
		if !ends && len(rest) < 20 { // its end is still to come
			r.tail = r.prefix + rest
			return
		}
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && ends {
			r.upTo = max(r.upTo, n)
		}
		if r.tail = rest; ends {
			r.tail = after
		}
	}
}

// resumption says how to open a session.
type resumption struct {
	session string // that goes on; "": a new one
	replay  bool   // with what was said in it
}

// openSession starts the program and opens a session. onReplay receives the user's messages of the replay.
func (c *vendorSession) openSession(ctx context.Context, e resumption, onReplay func(text string)) (*Session, *eventQueue, error) {
	run, err := c.opts.Run(c.vendor.o.Program)
	if err != nil {
		return nil, nil, err
	}
	c.sandboxed = run.Box != nil
	servers, end, err := c.serveMCP(run)
	if err != nil {
		run.End()
		return nil, nil, err
	}
	c.mcpServers = servers
	p, err := c.vendor.o.Start(run.Spec)
	if err != nil {
		end()
		return nil, nil, err
	}
	c.opts.Go("close an engine's door", func() {
		<-p.Exited()
		end()
	})
	n := newEventQueue(onReplay)
	o := Options{
		Vendor: c.vendor.o.Name, Version: c.vendor.o.Version, Dir: c.opts.Dir, Resume: e.session, Replay: e.replay,
		OnUpdate: n.addUpdate, RequestPermission: n.requestPermission, Elicit: n.elicit, Go: c.opts.Go, MCPServers: servers, Grace: c.opts.Grace,
	}
	s, err := NewSession(ctx, p, o)
	if err != nil {
		n.close()
		return nil, nil, err
	}
	n.start()
	return s, n, nil
}

// serveMCP opens the MCP server through which the program reaches this one. end closes it.
func (c *vendorSession) serveMCP(run engine.Run) (servers []MCPServer, end func(), err error) {
	if c.vendor.o.ServeMCP == nil {
		return nil, run.End, nil
	}
	server, closes, err := c.vendor.o.ServeMCP(c.opts, run.Door)
	if err != nil {
		return nil, nil, fmt.Errorf("give %s the tools for mail and the queue: %w", c.vendor.o.Name, err)
	}
	return []MCPServer{server}, func() { closes(); run.End() }, nil
}

// Rest implements [engine.Session].
func (c *vendorSession) Rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.liveSession; s != nil && c.idleTimer == nil {
		c.idleTimer = time.AfterFunc(idleTimeout, func() { s.End() })
		c.watchIdle()
	}
}

// stopIdleTimer keeps the program from ending. If the timer has fired already it waits until the program has ended.
func (c *vendorSession) stopIdleTimer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idleTimer != nil && !c.idleTimer.Stop() && c.liveSession != nil {
		<-c.liveSession.Done()
	}
	c.idleTimer = nil
}

// dropSession ends the program and discards its unread events.
func (c *vendorSession) dropSession() {
	c.mu.Lock()
	c.liveSession = nil
	c.mu.Unlock()
	if c.session != nil {
		c.events.close()
		c.session.End()
	}
	c.turn.reset()
	c.session, c.inTurn, c.steering, c.turnOver, c.unprompted, c.pending = nil, false, false, false, false, nil
}

// End implements [engine.Session].
func (c *vendorSession) End() {
	c.stopIdleTimer()
	c.mu.Lock()
	s := c.liveSession
	c.closed = true
	c.mu.Unlock()
	if s != nil {
		s.End()
	}
}
