// Package seat is where an engine, another vendor's agent, works as one of ours.
//
// Does: tell the engine what has entered a conversation since it was told last, record what it says and does as it comes,
// put its questions to the human so that they outlive its program.
//
// Does not: decide what enters, end turns, speak with an engine's program.
//
// Imports: agents/budget, agents/engine, agents/event, agents/fleet, agents/history, agents/llm, agents/questions,
// agents/recovery, agents/reply, store, tools, tools/permit, tools/secret.
package seat

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"fantail/agents/budget"
	"fantail/agents/engine"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/questions"
	"fantail/agents/reply"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/secret"
)

// Agent is the agent of ours, as far as a seat needs it. Its methods are those of its loop, which calls the seat's, but for
// Ask: that may be called while the engine is heard.
type Agent interface {
	Asked(doing string)
	Set(change func(i *event.Info))
	Working(call, title string) (end func())
	Turn() int64
	Book() history.Book
	Keep(ctx context.Context, what string, f func(tx *store.Tx) error) error

	Hear(ctx context.Context, parts iter.Seq2[llm.Part, error]) (*reply.Reply, error) // streams a reply to the feeds
	Record(ctx context.Context, r *reply.Reply, paid budget.Charge) error
	Result(ctx context.Context, c history.Call, began time.Time, r tools.Result) error
	Tell(ctx context.Context, text string) error // the human
	Afford(ctx context.Context) (budget.Charge, error)
	Ask(ctx context.Context, call, title string, q tools.Question) (string, error)
	Talk() *history.Talk
	Fills(tokens int)
	Regain(ctx context.Context) error // its slot, which it let go of when it asked
}

// Seat is where an engine works as an agent. To its loop it is a model whose calls run elsewhere: what it says until a call
// begins or ends is recorded as a reply, and after a call has ended is a seam. Only the loop uses it.
type Seat struct {
	a       Agent
	o       Options
	session engine.Session
	goes    bool              // a turn of the engine's goes on
	paid    budget.Charge     // counted ahead for it
	said    int               // bytes of what it said and is recorded
	open    map[string]opened // calls, by the engine's names of them
	spoke   bool              // in this turn of its
	alone   bool              // it does by itself what it does, and was told nothing
	told    int64             // the last entry that it was told, as far as this program knows

	gate gate
	had  had

	asking chan struct{} // holds a token while a question is asked: one at a time
	parked bool          // a question stays open, and the program closes

	mu     sync.Mutex
	names  map[string]string // the engine's name of a call -> the transcript's
	posed  bool              // a question is open
	lost   bool              // the engine's program has ended, and was not started again
	given  string            // in this turn the answer to a question that the engine's program has not outlived; "": none
	toThat string            // that question
	later  []string          // words for the engine that are in no entry yet
}

// Options are what a seat is made of.
type Options struct {
	ID       int64 // the agent's
	Name     string
	Dir      string // where it works
	Attended bool   // somebody is there to be asked
	DB       *store.DB
	Asks     *questions.Desk
	Now      func() time.Time
	Go       func(name string, f func())
	Run      func(p engine.Program) (engine.Run, error) // how the engine's program runs
	Theirs   func(pid int) bool                         // whether a process comes from that
	Ends     bool                                       // it ends with its work
	Stirs    func()                                     // has the agent begin a turn, as the engine speaks by itself
	Output   func(call, tail string)                    // shows the end of what a call has written so far

	// What the engine calls of ours.
	Tools *tools.Set
	Desk  tools.Desk
	Keys  *secret.Keys
	Judge func(a permit.Action) permit.Verdict
}

// New returns a seat at which e works as the agent.
func New(e engine.Engine, a Agent, o Options) *Seat {
	s := &Seat{a: a, o: o, open: map[string]opened{}, names: map[string]string{}, asking: make(chan struct{}, 1)}
	s.session = e.Sit(engine.Seat{
		Agent: o.ID, Name: o.Name, Dir: o.Dir, Go: o.Go, Run: o.Run, Ask: s.ask, Later: s.tellLater, Load: s.load, Save: s.save, Filled: s.fills,
		Tools: s.specs, Call: s.call, Theirs: o.Theirs, Grace: s.grace, Stirs: o.Stirs,
		Output: func(call, tail string) { o.Output(s.named(call), tail) },
	})
	return s
}

// How long an engine may take to end a turn that is stopped: at leisure if the human stopped it, who goes on talking to it; at
// once if its agent or this program ends, which ends the engine's program within two seconds, and that may take the most of
// them.
const (
	leisure = 10 * time.Second
	atOnce  = 400 * time.Millisecond
)

func (s *Seat) grace(cause error) time.Duration {
	if errors.Is(cause, fleet.ErrStopped) && !s.o.Ends {
		return leisure
	}
	return atOnce
}

// End ends the engine's program. s may be nil.
func (s *Seat) End() {
	if s != nil {
		s.session.End()
	}
}

// Busy reports whether a turn of the engine's goes on. s may be nil.
func (s *Seat) Busy() bool { return s != nil && s.goes }

// Rest says that no turn goes on. s may be nil.
func (s *Seat) Rest() {
	if s != nil {
		s.session.Rest()
	}
}

// opened is a call that has begun.
type opened struct {
	call  history.Call
	began time.Time
	end   func()
}

func (s *Seat) load(ctx context.Context) (st engine.State, err error) {
	err = s.o.DB.Read(ctx, func(rx *store.Rx) error {
		e, err := store.EngineOf(&rx.View, s.o.ID)
		st = engine.State(e)
		return err
	})
	return st, err
}

func (s *Seat) save(ctx context.Context, st engine.State) error {
	return s.a.Keep(ctx, "write down what an engine has", func(tx *store.Tx) error { return store.PutEngine(tx, s.o.ID, store.Engine(st)) })
}

func (s *Seat) fills(tokens, window int) {
	s.a.Fills(tokens)
	s.a.Set(func(i *event.Info) { i.Context, i.Window = tokens, cmp.Or(window, i.Window) })
}

func (s *Seat) named(call string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.names[call], call)
}

// Answer tells the engine what is new and hears it until its turn is over. nil without an error is a seam of that turn.
func (s *Seat) Answer(ctx context.Context) (*reply.Reply, error) {
	if err := s.hosts(ctx); err != nil {
		return nil, err
	}
	if err := s.tells(ctx); err != nil {
		return nil, err
	}
	s.gate.opens(ctx)
	r, err := s.hears(ctx)
	if r == nil && err == nil {
		return nil, nil
	}
	s.goes = false
	s.gate.closes()
	s.forgets()
	if err != nil && ctx.Err() == nil {
		s.had.lost()
		return nil, s.outlived(ctx, err)
	}
	s.with(func() { s.given = "" })
	return r, errors.Join(err, s.keep(ctx))
}

// forgets lets go of the calls of a turn that is over.
func (s *Seat) forgets() {
	for _, o := range s.open {
		o.end()
	}
	clear(s.open)
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.names)
}

// hears hears the engine until its turn is over. nil without an error is a seam.
func (s *Seat) hears(ctx context.Context) (*reply.Reply, error) {
	for {
		if len(s.open) == 0 {
			s.a.Asked("streaming")
		}
		r, failed := s.a.Hear(ctx, s.session.Next(ctx))
		s.goes = failed == nil && r.Stop.Reason == llm.ToolUse
		parks := ctx.Err() != nil && s.parks()
		ended, err := s.records(ctx, r)
		switch {
		case err != nil:
			return nil, err
		case parks:
			return nil, questions.ErrParked
		case ctx.Err() != nil && !s.goes:
			return nil, context.Cause(ctx)
		case failed != nil:
			return nil, failed
		case !s.goes:
			r.Calls = nil
			return r, nil
		case ended && s.session.Steers() && s.gate.seam():
			return nil, nil
		}
	}
}

// tells tells the engine what has entered since it was told last.
func (s *Seat) tells(ctx context.Context) error {
	talk := s.a.Talk()
	if len(talk.Entries) == 0 {
		return errors.New("there is nothing to say")
	}
	sent, doubt, err := s.session.Open(ctx, talk.Entries[0].Seq)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	s.with(func() { s.lost = false })
	_, notes := s.session.Ended()
	if err := s.notes(ctx, notes); err != nil {
		return err
	}
	if !s.goes { // what is put into a turn is a part of the request that this is to its budget
		if s.paid, err = s.a.Afford(ctx); err != nil {
			return err
		}
	}
	text, maybe := s.words(talk.Entries, sent)
	s.told, s.alone = sent, text == "" && !s.goes
	if text == "" {
		return nil
	}
	if doubt = doubt || maybe; doubt {
		if err := s.a.Tell(ctx, "What came last is sent once more: whether it had arrived when the program ended could not be found out."); err != nil {
			return err
		}
	}
	s.told, s.goes = talk.Last, true
	return s.session.Say(ctx, engine.Words{Text: text, UpTo: talk.Last, Again: doubt})
}

// records records what was heard, the calls that have ended, and notes for the human. It reports whether a call has ended.
func (s *Seat) records(ctx context.Context, r *reply.Reply) (ended bool, err error) {
	done, notes := s.session.Ended()
	theirs := make([]string, len(r.Calls))
	for i, c := range r.Calls {
		theirs[i] = c.ID
	}
	r.Claim(s.a.Talk().Calls)
	s.mu.Lock()
	for i, c := range r.Calls {
		s.names[theirs[i]] = c.ID
	}
	s.mu.Unlock()
	if !r.Empty() || !s.goes {
		stop, paid := r.Stop, budget.Charge{}
		r.Before = s.said
		if s.goes || r.Empty() && s.spoke && stop != nil && stop.Reason == llm.EndTurn { // it says more, or has said what it had to say
			r.Stop = nil
		}
		if s.said += r.Len(); !s.goes {
			paid, s.paid, s.said = s.paid, budget.Charge{}, 0
		}
		err = s.a.Record(ctx, r, paid)
		r.Stop, s.spoke = stop, s.goes
	}
	for i := range r.Calls {
		c := r.Calls[i]
		s.open[theirs[i]] = opened{c, s.o.Now(), s.a.Working(c.ID, c.Title)}
		s.a.Set(func(i *event.Info) {
			if i.State == event.Running {
				i.Doing, i.Call = "tool "+c.Name, c.Title
			}
		})
	}
	for _, d := range done {
		o, known := s.open[d.Call]
		if !known || d.Cut && s.parked { // what a question stays open about stays open too
			continue
		}
		o.end()
		delete(s.open, d.Call)
		err = errors.Join(err, s.a.Result(ctx, o.call, o.began, d.Result))
		ended = true
	}
	return ended, errors.Join(err, s.notes(ctx, notes), s.hosts(ctx))
}

// notes tells the human what the engine has not said to anybody.
func (s *Seat) notes(ctx context.Context, notes []string) (err error) {
	for _, text := range notes {
		err = errors.Join(err, s.a.Tell(ctx, text))
	}
	return err
}
