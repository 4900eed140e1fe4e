package agents

import (
	"fantail/inbox"
)

// policyOf is what decides how a's mail is delivered.
func (p *Pool) policyOf(a *agent) inbox.Policy {
	p.mu.Lock()
	defer p.mu.Unlock()
	return a.policy()
}

// policy is policyOf for a caller that holds mu.
func (a *agent) policy() inbox.Policy {
	return inbox.Policy{Quiet: a.p.quiet, Human: a.overrides, Rules: a.p.rules[a.info.Name]}
}

// Human is where the human is: screens tell it.
func (p *Pool) Human() *Human { return &p.human }
