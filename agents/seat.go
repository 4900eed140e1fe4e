package agents

import (
	"context"
	"time"

	"fantail/agents/questions"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
)

// seat is an agent at work, as what it works with sees it.
type seat struct{ a *agent }

var _ questions.Asker = seat{}

func (s seat) Asker() (agent int64, name string, outside bool) {
	s.a.p.mu.Lock()
	defer s.a.p.mu.Unlock()
	return s.a.id, s.a.info.Name, s.a.strict
}

func (s seat) Turn() int64 { return s.a.turn }

func (s seat) Keep(ctx context.Context, what string, f func(tx *store.Tx) error) error {
	return s.a.keep(ctx, what, f)
}

func (s seat) Asks(q *Question) {
	p := s.a.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asking[s.a] = true
	s.a.change(func(i *Info) { i.State, i.Doing, i.Question = Asking, "", q })
	p.letGo(s.a)
	p.told()
}

func (s seat) Heard(answered bool) {
	p := s.a.p
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.asking, s.a)
	s.a.change(func(i *Info) {
		if i.Question = nil; answered {
			i.State, i.Why = Waiting, "waiting for a slot"
		}
	})
	p.told()
}

func (s seat) Regain(ctx context.Context) error { return s.a.regain(ctx) }

// allowed puts the question of v to the human.
func (a *agent) allowed(ctx context.Context, c Call, act permit.Action, v permit.Verdict, beside bool) (Answer, error) {
	return a.p.Asks.Put(ctx, seat{a}, Question{Question: permit.Question{Call: c.ID, Action: act, Rule: v.Rule, Again: v.Changed}}, beside)
}

// asksUser carries out a call of ask_user: the answer is its result.
func (a *agent) asksUser(ctx context.Context, c Call, call *tools.Call) error {
	if !a.p.o.Attended {
		return a.result(ctx, c, time.Now(), tools.Result{Error: true, Text: "nobody can answer here: decide yourself and say what you chose"})
	}
	ans, err := a.p.Asks.Put(ctx, seat{a}, Question{Question: permit.Question{Call: c.ID, Action: call.Action}, Asks: call.Asks}, false)
	if err != nil {
		return err
	}
	return a.result(ctx, c, time.Now(), tools.Result{Text: "The user answered: " + ans.Text})
}

// SetMode changes the permission mode of all agents. Questions the new mode
// answers are answered; with an error they stay open.
func (p *Pool) SetMode(m permit.Mode) error {
	p.o.Gate.SetMode(m)
	p.mu.Lock()
	p.told()
	p.mu.Unlock()
	return p.Asks.Review(p.ctx)
}
