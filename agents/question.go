package agents

import (
	"context"

	"fantail/tools/permit"
)

// ask is a question that waits for the human.
type ask struct {
	a      *agent
	q      permit.Question
	answer chan permit.Answer
}

// allowed puts the question of v to the human. The agent stands in state asking
// without a slot until it is answered. An agent has one question at a time:
// calls that run side by side can come to ask when the mode changes meanwhile.
func (a *agent) allowed(ctx context.Context, call string, act permit.Action, v permit.Verdict) (permit.Answer, error) {
	a.asking.Lock()
	defer a.asking.Unlock()
	p := a.p
	p.mu.Lock()
	p.lastAsk++
	k := &ask{a: a, answer: make(chan permit.Answer, 1), q: permit.Question{
		ID: p.lastAsk, Agent: a.id, Name: a.info.Name, Call: call, Action: act, Rule: v.Rule,
	}}
	p.asks[k.q.ID] = k
	a.change(func(i *Info) { i.State, i.Doing, i.Question = Asking, "", &k.q })
	p.letGo(a)
	p.mu.Unlock()

	var answer permit.Answer
	var err error
	select {
	case answer = <-k.answer:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	p.mu.Lock()
	delete(p.asks, k.q.ID)
	a.change(func(i *Info) {
		if i.Question = nil; err == nil {
			i.State, i.Why = Waiting, "waiting for a slot"
		}
	})
	p.told()
	p.mu.Unlock()
	if err != nil {
		return answer, err
	}
	return answer, a.regain(ctx)
}

// Answer answers a question; false: it was answered or gone. A rule that "for
// this session" adds also answers the other questions it covers.
func (p *Pool) Answer(question int64, ans permit.Answer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.asks[question]
	if k == nil {
		return false
	}
	if ans.Choice == permit.Session && k.q.Rule != "" {
		if err := p.o.Gate.Allow(k.q.Rule); err != nil {
			ans.Choice = permit.Once
		}
	}
	p.reply(k, ans)
	p.settleAsks()
	return true
}

// SetMode changes the permission mode of all agents. Questions the new mode
// answers are answered.
func (p *Pool) SetMode(m permit.Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.o.Gate.SetMode(m)
	p.settleAsks()
	p.told()
}

// settleAsks answers the questions the gate no longer has. The caller holds mu.
func (p *Pool) settleAsks() {
	for _, k := range p.asks {
		switch v := p.o.Gate.Decide(k.q.Action); v.Decision {
		case permit.Allow:
			p.reply(k, permit.Answer{Choice: permit.Once})
		case permit.Deny:
			p.reply(k, permit.Answer{Choice: permit.No, Reason: v.Reason})
		}
	}
}

// reply answers k once. The caller holds mu.
func (p *Pool) reply(k *ask, ans permit.Answer) {
	delete(p.asks, k.q.ID)
	select {
	case k.answer <- ans:
	default:
	}
}
