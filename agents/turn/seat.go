package turn

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"fantail/agents/budget"
	"fantail/agents/engine"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/post"
	"fantail/agents/questions"
	"fantail/agents/reply"
	"fantail/agents/seat"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

func isEngine(m llm.Model) bool {
	_, is := m.Provider.(engine.Engine)
	return is
}

// seating is the seat of the engine that an agent's model is.
type seating struct {
	l    *Loop
	seat *seat.Seat  // nil: nobody sits there
	stir atomic.Bool // an engine speaks by itself
	by   string      // the model that the engine is
}

// now is the seat of the engine that the agent's model is now; nil: it is a model like others. One that is chosen in the
// middle of an engine's turn is so once that is over.
func (s *seating) now() (*seat.Seat, error) {
	if s.seat.Busy() {
		return s.seat, nil
	}
	l := s.l
	model, now := l.Present()
	e, is := model.Provider.(engine.Engine)
	if !is || s.by != model.Name {
		s.end()
	}
	if !is || s.seat != nil {
		return s.seat, nil
	}
	if !l.Kind.Nature().Seats {
		return nil, errors.New("an agent of another vendor neither handles messages as a fork nor observes: choose a model for that")
	}
	s.by, s.seat = model.Name, seat.New(e, seater{l, model}, seat.Options{
		ID: l.ID, Name: now.Name, Dir: l.env.Root, Attended: !l.unattended && l.Kind.Nature().Asks,
		DB: l.o.DB, Asks: l.o.Asks, Now: l.o.Now, Go: l.o.Go, Run: s.run, Theirs: s.theirs, Ends: l.Kind.Ends(), Output: l.env.Tick, Stirs: s.stirs,
		Tools: l.tools, Desk: l.env.Desk, Keys: l.o.Keys, Judge: func(a permit.Action) permit.Verdict {
			a.Strict, a.Mode = l.strict, l.mode
			return l.o.Gate.Decide(a)
		},
	})
	return s.seat, nil
}

// end ends the engine's program.
func (s *seating) end() {
	s.seat.End()
	s.seat = nil
}

// run says how an engine's program runs: as a command of the agent's does, in the sandbox that is for it.
func (s *seating) run(p engine.Program) (r engine.Run, err error) {
	l := s.l
	l.outfit(l.Env.Now())
	boxed := !p.Free && l.o.boxed()
	opens := l.o.Bare
	if boxed {
		opens = func(agent int64) (*post.Box, error) { return l.o.Post(agent, l.turn) }
	}
	mail, err := opens(l.ID)
	if err != nil {
		return r, err
	}
	r.Spec = proc.Spec{Argv: p.Argv, Dir: l.env.Root, Env: slices.Concat(l.env.Environ, p.Env), Keep: l.keep, Keys: l.o.Keys}
	r.Door, r.End = mail.Dir, func() { _ = mail.Close() }
	if boxed {
		r.Box, err = l.o.Box(sandbox.Vendor, sandbox.Leave{Write: p.Write, Read: p.Read, Network: true, Mail: mail.Dir}, r.Env)
	}
	if err != nil {
		r.End()
		return r, err
	}
	held := event.InSandbox
	if r.Box == nil {
		held = event.AsUser
	}
	l.Set(func(i *event.Info) { i.Held = held })
	return r, nil
}

// stirs has a turn begin in which the engine is heard.
func (s *seating) stirs() {
	s.stir.Store(true)
	s.l.Poke()
}

// theirs reports whether a process comes from the engine's program.
func (s *seating) theirs(pid int) bool {
	by, known := s.l.o.Commands.Behind(pid)
	return known && by.Agent == s.l.ID
}

// seater is an agent's loop as a seat sees it, whose engine that model is.
type seater struct {
	*Loop
	model llm.Model
}

var _ seat.Agent = seater{}

func (s seater) Hear(ctx context.Context, parts iter.Seq2[llm.Part, error]) (*reply.Reply, error) {
	return s.hear(ctx, s.model, parts)
}

func (s seater) Record(ctx context.Context, r *reply.Reply, paid budget.Charge) error {
	return s.record(ctx, s.model, r, paid)
}

func (s seater) Afford(ctx context.Context) (budget.Charge, error) { return s.afford(ctx, s.model) }

func (s seater) Result(ctx context.Context, c history.Call, began time.Time, r tools.Result) error {
	return s.result(ctx, c, began, r)
}

func (s seater) Ask(ctx context.Context, call, title string, q tools.Question) (string, error) {
	ask := event.Question{Question: permit.Question{Call: call, Action: permit.Action{Title: title}}, Asks: &q, Abroad: true}
	ans, err := s.o.Asks.Put(ctx, asker{&s.workbench}, ask, questions.Alone)
	return ans.Text, err
}

func (s seater) Tell(ctx context.Context, text string) error { return s.tell(ctx, text) }
func (s seater) Talk() *history.Talk                         { return &s.talk }
func (s seater) Fills(tokens int)                            { s.filled = tokens }
