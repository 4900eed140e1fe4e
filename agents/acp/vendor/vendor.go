// Package vendor is the agents of other vendors as agents of ours: each has a program of its own, spoken with over the
// Agent Client Protocol.
//
// Does: start an agent's program when there is something to say and end it when nothing was for long; begin its session,
// or go on with the one from before; make of what it says the parts of a reply; put what it asks to the human; know what it
// was sent, so that nothing is lost when either program dies.
//
// Does not: decide when something is said to it, record what it says, judge what it does, log in.
//
// Imports: agents/acp, agents/acp/schema, agents/engine, agents/llm, tools, tools/content, tools/proc.
package vendor

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

	"fantail/agents/acp"
	"fantail/agents/acp/schema"
	"fantail/agents/engine"
	"fantail/agents/llm"
	"fantail/tools/proc"
)

// rests is how long an agent's program stays when no turn goes on.
const rests = 10 * time.Minute

// Options say what a vendor's agents are.
type Options struct {
	Name    string         // what people call it
	Program engine.Program // the one that speaks the protocol
	Login   string         // the command by which a person logs in; "": not known
	Version string         // of this program
	Newest  int            // version of the protocol to speak; 0: 1

	Mode     string            // of its own modes the one in which it works; "": the one it begins with
	Settings map[string]string // of its own, such as model or effort
	Careful  string            // the mode for one that begins in a mode of Reckless; "": not known
	Reckless []string          // its modes in which it asks nobody
	Holds    bool              // its commands run in a sandbox of its own, which works in no other

	// Serves opens the MCP server that an agent gets at the door, and returns what it starts to reach it; nil: it gets none.
	Serves func(s engine.Seat, door string) (server schema.Server, end func(), err error)

	// Start starts its program; nil: as a process.
	Start func(proc.Spec) (acp.Process, error)
}

// Vendor is one kind of such agents. It is an [engine.Engine].
type Vendor struct{ o Options }

var _ engine.Engine = (*Vendor)(nil)

func New(o Options) *Vendor {
	if o.Start == nil {
		o.Start = acp.Start
	}
	return &Vendor{o}
}

// Stream implements [llm.Provider].
func (v *Vendor) Stream(context.Context, *llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		yield(nil, &llm.Error{Kind: llm.BadRequest, Provider: v.o.Name, Message: engine.ErrNoRequests.Error(), Err: engine.ErrNoRequests})
	}
}

// Sit implements [engine.Engine].
func (v *Vendor) Sit(s engine.Seat) engine.Session {
	return &chair{v: v, seat: s, reply: newReply(s.Dir)}
}

// chair is an agent of ours that is one of theirs. Only the agent's loop uses it, except where noted.
type chair struct {
	v    *Vendor
	seat engine.Seat

	known bool // state was read
	state engine.State

	s        *acp.Session // nil: its program does not run
	news     *news        // what it says; of the session
	prompted bool         // a turn of its goes on
	steering bool         // words are on their way into that
	finished bool         // it has ended, and nobody was told
	unasked  bool         // it does something that it was not told to
	goesOn   bool         // it was known to, when the turn before had ended
	stopped  bool         // the turn before was stopped here
	held     []engine.Words
	reply    *reply
	spent    spent
	boxed    bool // its program runs in a sandbox
	servers  []schema.Server
	refused  atomic.Bool // in this turn of its the human has said no
	asking   atomic.Int32

	mu   sync.Mutex // guards what timers and End use too
	ends *time.Timer
	live *acp.Session // nil: none
	gone bool         // End was called
}

// Open implements [engine.Session].
func (c *chair) Open(ctx context.Context, since int64) (sent int64, doubt bool, err error) {
	if c.prompted || c.finished || c.unasked { // what became of its turn is still to be heard, even if its program has ended
		return c.state.Sent, c.state.Sending != 0, nil
	}
	c.stays()
	c.held = nil
	if !c.known {
		if c.state, err = c.seat.Load(ctx); err != nil {
			return 0, false, fmt.Errorf("read what %s was sent: %w", c.v.o.Name, err)
		}
		c.known = true
	}
	fresh := engine.State{Vendor: c.v.o.Name}
	if c.state.Vendor != fresh.Vendor || max(c.state.Sent, c.state.Sending) < since {
		c.drop()
		c.state = fresh
	}
	if c.s != nil {
		select {
		case <-c.s.Done():
			c.drop()
		default:
			c.wakes()
			return c.state.Sent, c.state.Sending != 0, nil
		}
	}
	return c.begin(ctx)
}

// begin starts the agent's program and has it go on with its session, or begin one.
func (c *chair) begin(ctx context.Context) (sent int64, doubt bool, err error) {
	was := c.state
	doubt = was.Sending != 0
	has := replay{begins: c.marks()}
	whole := was.Session != "" && (doubt || was.Sent > was.Settled)
	s, n, err := c.session(ctx, entry{was.Session, whole}, has.hear)
	if errors.Is(err, acp.ErrNoSession) && whole { // it may go on, though it does not tell what was said
		whole = false
		s, n, err = c.session(ctx, entry{was.Session, false}, nil)
	}
	if errors.Is(err, acp.ErrNoSession) {
		c.reply.note(c.v.o.Name + " does not know its session any more: it begins another, with what was said so far")
		was, doubt, whole = engine.State{Vendor: was.Vendor}, false, false
		s, n, err = c.session(ctx, entry{}, nil)
	}
	if err != nil {
		return 0, false, c.said(err)
	}
	left, err := c.settle(ctx, s)
	if err != nil {
		n.end()
		s.End()
		return 0, false, c.said(err)
	}
	resumed := was.Session
	was.Session = s.ID()
	switch {
	case doubt && has.upTo >= was.Sending:
		was.Sent, was.Sending, doubt = was.Sending, 0, false
	case whole && has.upTo < was.Sent && was.Settled < was.Sent: // it ended before it had kept what it was told in that turn
		was.Sent, doubt = max(has.upTo, was.Settled), true
	}
	if err := c.save(ctx, was); err != nil {
		n.end()
		s.End()
		return 0, false, err
	}
	if resumed == "" {
		c.reply.note(c.enters(s))
		for _, note := range s.Notes() {
			c.reply.note(note)
		}
		if left != "" {
			c.reply.note(left)
		}
	}
	c.s, c.news, c.prompted, c.steering, c.finished, c.unasked, c.held = s, n, false, false, false, false, nil
	c.spent = spent{due: c.spent.due, known: resumed == ""} // what one tells first that goes on may hold what was counted before
	c.mu.Lock()
	gone := c.gone
	c.live = s
	c.mu.Unlock()
	if gone {
		s.End()
	}
	return was.Sent, doubt, nil
}

// replay reads from what was said in a session, which comes in pieces, how much of what it was sent it has kept.
type replay struct {
	begins string // what a mark begins with
	upTo   int64  // the last entry of what has a mark in it; 0: of none
	tail   string
}

func (r *replay) hear(said string) {
	r.tail += said
	for {
		_, rest, is := strings.Cut(r.tail, r.begins)
		if !is {
			r.tail = r.tail[max(0, len(r.tail)-len(r.begins)):]
			return
		}
		number, after, ends := strings.Cut(rest, "]")
		if !ends && len(rest) < 20 { // its end is still to come
			r.tail = r.begins + rest
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

// entry is how a session is entered.
type entry struct {
	session string // that goes on; "": a new one
	whole   bool   // with what was said in it
}

// session starts a program and enters a session. replayed hears what the human's side has said in it, if it is whole.
func (c *chair) session(ctx context.Context, e entry, replayed func(text string)) (*acp.Session, *news, error) {
	run, err := c.seat.Run(c.v.o.Program)
	if err != nil {
		return nil, nil, err
	}
	c.boxed = run.Box != nil
	servers, end, err := c.serves(run)
	if err != nil {
		run.End()
		return nil, nil, err
	}
	c.servers = servers
	p, err := c.v.o.Start(run.Spec)
	if err != nil {
		end()
		return nil, nil, err
	}
	c.seat.Go("close an engine's door", func() {
		<-p.Exited()
		end()
	})
	n := newNews(replayed)
	o := acp.Options{
		Vendor: c.v.o.Name, Version: c.v.o.Version, Newest: c.v.o.Newest, Dir: c.seat.Dir, Resume: e.session, Whole: e.whole,
		Hear: n.hear, Permit: n.permit, Elicit: n.elicit, Go: c.seat.Go, Servers: servers, Grace: c.seat.Grace,
	}
	s, err := acp.Begin(ctx, p, o)
	if err != nil {
		n.end()
		return nil, nil, err
	}
	n.begin()
	return s, n, nil
}

// serves opens what the agent's program reaches of this one. end closes it.
func (c *chair) serves(run engine.Run) (servers []schema.Server, end func(), err error) {
	if c.v.o.Serves == nil {
		return nil, run.End, nil
	}
	server, closes, err := c.v.o.Serves(c.seat, run.Door)
	if err != nil {
		return nil, nil, fmt.Errorf("give %s the tools for mail and the queue: %w", c.v.o.Name, err)
	}
	return []schema.Server{server}, func() { closes(); run.End() }, nil
}

// Rest implements [engine.Session].
func (c *chair) Rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.live; s != nil && c.ends == nil {
		c.ends = time.AfterFunc(rests, func() { s.End() })
		c.rests()
	}
}

// stays has the program stay, unless its time is over already: then it is known to have ended.
func (c *chair) stays() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends != nil && !c.ends.Stop() && c.live != nil {
		<-c.live.Done()
	}
	c.ends = nil
}

// drop ends the program, and forgets what it has not said.
func (c *chair) drop() {
	c.mu.Lock()
	c.live = nil
	c.mu.Unlock()
	if c.s != nil {
		c.news.end()
		c.s.End()
	}
	c.reply.over()
	c.s, c.prompted, c.steering, c.finished, c.unasked, c.goesOn, c.held = nil, false, false, false, false, false, nil
}

// End implements [engine.Session].
func (c *chair) End() {
	c.stays()
	c.mu.Lock()
	s := c.live
	c.gone = true
	c.mu.Unlock()
	if s != nil {
		s.End()
	}
}
