package engine

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"fantail/agents/approval"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/tools/secret"
)

// Agent is our agent as others see it. Its methods are safe for concurrent use.
type Agent interface {
	Asked(doing string)
	Set(change func(i *event.Info))
	Working(call, title string) (end func())
	Book() history.Writer
	Regain(ctx context.Context) error // takes back the slot that it gave up when it asked
}

// Loop is the agent's loop, which calls the runner's methods. Its methods may only be called from
// these, except Turn, Keep and Ask, which may be called while the engine is heard.
type Loop interface {
	Turn() int64
	Keep(ctx context.Context, what string, f func(tx *store.Tx) error) error
	Hear(ctx context.Context, model llm.Model, parts iter.Seq2[llm.Part, error]) (*event.Reply, error) // streams a reply to the feeds
	Record(ctx context.Context, model llm.Model, r *event.Reply, paid fleet.Charge) error
	Result(ctx context.Context, c history.Call, began time.Time, r tools.Result) error
	Tell(ctx context.Context, text string) error // appends a notice for the human
	Afford(ctx context.Context, model llm.Model) (fleet.Charge, error)
	Ask(ctx context.Context, call, title string, q tools.Question) (string, error)
	Talk() *history.Talk
	Fills(tokens int)
}

// Runner runs an engine as an agent. To the agent's loop it is a model whose calls run elsewhere:
// what it says until a call begins or ends is recorded as a reply, and a seam follows each call.
// Only the loop uses it.
type Runner struct {
	a       Agent
	l       Loop
	o       RunnerOptions
	session Session
	goes    bool              // a turn of the engine is running
	paid    fleet.Charge      // charged in advance for the turn
	said    int               // bytes of what it said that are recorded
	open    map[string]opened // calls, by the engine's names
	spoke   bool              // it spoke in this turn
	alone   bool              // it began the turn on its own and was told nothing
	told    int64             // last entry that it was told, as far as this program knows

	gate gate
	had  had

	asking chan struct{} // holds a token while a question is asked: one at a time
	parked bool          // a question stays open and the program closes

	mu     sync.Mutex
	names  map[string]string // the engine's name of a call to the transcript's
	posed  bool              // a question is open
	lost   bool              // the engine's program has ended and was not restarted
	given  string            // answer in this turn to a question that outlived the engine's program; "": none
	toThat string            // that question
	later  []string          // texts for the engine that are in no entry yet
}

// RunnerOptions are what a Runner needs.
type RunnerOptions struct {
	ID       int64 // of the agent
	Name     string
	Model    llm.Model // the engine as a model
	Dir      string    // where it works
	Attended bool      // a human is there to be asked
	DB       *store.DB
	Asks     *approval.Questions
	Now      func() time.Time
	Go       func(name string, f func())
	Run      func(p Program) (Run, error) // runs the engine's program
	Theirs   func(pid int) bool           // reports whether a process belongs to that program
	Ends     bool                         // the agent ends with its work
	Stirs    func()                       // begins a turn because the engine has something to say
	Output   func(call, tail string)      // shows the end of a call's output so far

	// For the engine's calls of our tools.
	Tools  *tools.Set
	Agents tools.Agents
	Keys   *secret.Keys
	Judge  func(a permission.Action) permission.Verdict
}

// NewRunner returns a Runner that runs e as the agent.
func NewRunner(e Engine, a Agent, l Loop, o RunnerOptions) *Runner {
	s := &Runner{a: a, l: l, o: o, open: map[string]opened{}, names: map[string]string{}, asking: make(chan struct{}, 1)}
	s.session = e.NewSession(Options{
		Agent: o.ID, Name: o.Name, Dir: o.Dir, Go: o.Go, Run: o.Run, Ask: s.ask, Later: s.tellLater, Load: s.load, Save: s.save, Filled: s.fills,
		Tools: s.specs, Call: s.call, Theirs: o.Theirs, Grace: s.grace, Stirs: o.Stirs,
		Output: func(call, tail string) { o.Output(s.named(call), tail) },
	})
	return s
}

// How long an engine may take to end a stopped turn. It has more time if the human stopped it, who
// goes on talking to it. If its agent or this program ends, the engine's program must end within
// two seconds, and that may need most of them.
const (
	leisure = 10 * time.Second
	atOnce  = 400 * time.Millisecond
)

func (s *Runner) grace(cause error) time.Duration {
	if errors.Is(cause, fleet.ErrStopped) && !s.o.Ends {
		return leisure
	}
	return atOnce
}

// End ends the engine's program. s may be nil.
func (s *Runner) End() {
	if s != nil {
		s.session.End()
	}
}

// Busy reports whether a turn of the engine is running. s may be nil.
func (s *Runner) Busy() bool { return s != nil && s.goes }

// Rest notes that no turn runs. s may be nil.
func (s *Runner) Rest() {
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

func (s *Runner) load(ctx context.Context) (st State, err error) {
	err = s.o.DB.Read(ctx, func(rx *store.Rx) error {
		e, err := store.EngineOf(&rx.View, s.o.ID)
		st = State(e)
		return err
	})
	return st, err
}

func (s *Runner) save(ctx context.Context, st State) error {
	return s.l.Keep(ctx, "write down what an engine has", func(tx *store.Tx) error { return store.PutEngine(tx, s.o.ID, store.Engine(st)) })
}

func (s *Runner) fills(tokens, window int) {
	s.l.Fills(tokens)
	s.a.Set(func(i *event.Info) { i.Context, i.Window = tokens, cmp.Or(window, i.Window) })
}

func (s *Runner) named(call string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.names[call], call)
}

// Answer tells the engine what is new and hears it until its turn is over. A nil reply without an
// error means a seam of that turn.
func (s *Runner) Answer(ctx context.Context) (*event.Reply, error) {
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

// forgets drops the calls of a turn that is over.
func (s *Runner) forgets() {
	for _, o := range s.open {
		o.end()
	}
	clear(s.open)
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.names)
}

// hears hears the engine until its turn is over. A nil reply without an error means a seam.
func (s *Runner) hears(ctx context.Context) (*event.Reply, error) {
	for {
		if len(s.open) == 0 {
			s.a.Asked("streaming")
		}
		r, failed := s.l.Hear(ctx, s.o.Model, s.session.Next(ctx))
		s.goes = failed == nil && r.Stop.Reason == llm.ToolUse
		parks := ctx.Err() != nil && s.parks()
		ended, err := s.records(ctx, r)
		switch {
		case err != nil:
			return nil, err
		case parks:
			return nil, approval.ErrParked
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

// tells tells the engine what has entered since it was last told.
func (s *Runner) tells(ctx context.Context) error {
	talk := s.l.Talk()
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
	if !s.goes { // text added to a running turn is part of the request that is already charged
		if s.paid, err = s.l.Afford(ctx, s.o.Model); err != nil {
			return err
		}
	}
	text, maybe := s.words(talk.Entries, sent)
	s.told, s.alone = sent, text == "" && !s.goes
	if text == "" {
		return nil
	}
	if doubt = doubt || maybe; doubt {
		if err := s.l.Tell(ctx, "What came last is sent once more: whether it had arrived when the program ended could not be found out."); err != nil {
			return err
		}
	}
	s.told, s.goes = talk.Last, true
	return s.session.Say(ctx, Input{Text: text, UpTo: talk.Last, Again: doubt})
}

// records records what was heard, the calls that have ended, and notes for the human. It reports
// whether a call has ended.
func (s *Runner) records(ctx context.Context, r *event.Reply) (ended bool, err error) {
	done, notes := s.session.Ended()
	theirs := make([]string, len(r.Calls))
	for i, c := range r.Calls {
		theirs[i] = c.ID
	}
	r.Claim(s.l.Talk().Calls)
	s.mu.Lock()
	for i, c := range r.Calls {
		s.names[theirs[i]] = c.ID
	}
	s.mu.Unlock()
	if !r.Empty() || !s.goes {
		stop, paid := r.Stop, fleet.Charge{}
		r.Before = s.said
		if s.goes || r.Empty() && s.spoke && stop != nil && stop.Reason == llm.EndTurn { // it goes on, or has said everything before
			r.Stop = nil
		}
		if s.said += r.Len(); !s.goes {
			paid, s.paid, s.said = s.paid, fleet.Charge{}, 0
		}
		err = s.l.Record(ctx, s.o.Model, r, paid)
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
		if !known || d.Cut && s.parked { // a call with an open question stays open too
			continue
		}
		o.end()
		delete(s.open, d.Call)
		err = errors.Join(err, s.l.Result(ctx, o.call, o.began, d.Result))
		ended = true
	}
	return ended, errors.Join(err, s.notes(ctx, notes), s.hosts(ctx))
}

// notes appends the engine's notes for the human.
func (s *Runner) notes(ctx context.Context, notes []string) (err error) {
	for _, text := range notes {
		err = errors.Join(err, s.l.Tell(ctx, text))
	}
	return err
}
