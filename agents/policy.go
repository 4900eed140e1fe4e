package agents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"fantail/inbox"
	"fantail/store"
)

// What the human and the workspace's files say about mail. It is kept in memory,
// so that deciding costs no read; a change has the sorter look at all mail anew.

// policyOf is what decides how a's mail is delivered.
func (p *Pool) policyOf(a *agent) inbox.Policy {
	p.mu.Lock()
	defer p.mu.Unlock()
	return a.policy()
}

// policy is policyOf for a caller that holds mu.
func (a *agent) policy() inbox.Policy {
	q := inbox.Policy{Human: a.p.said[a.id], Rules: a.p.rules[a.info.Name]}
	if a.kind.HasPrompt() {
		q.Quiet = a.p.quiet // work in the background goes on
	}
	return q
}

// Human is where the human is: screens tell it.
func (p *Pool) Human() *Human { return &p.human }

// Policy is what decides how an agent's mail is delivered.
func (p *Pool) Policy(agent int64) (inbox.Policy, error) {
	a, err := p.agent(agent)
	if err != nil {
		return inbox.Policy{}, err
	}
	return p.policyOf(a), nil
}

// Override changes what the human said about an agent's mail, and returns the policy
// that holds now. change may be called more than once, each time with what held then.
func (p *Pool) Override(ctx context.Context, agent int64, change func(o *inbox.Overrides)) (inbox.Policy, error) {
	a, err := p.agent(agent)
	if err != nil {
		return inbox.Policy{}, err
	}
	err = p.o.DB.Write(ctx, "change a policy", func(tx *store.Tx) error {
		// From the table: memory does not show yet what the writes committed with this one change.
		o, err := inbox.OverridesOf(&tx.View, a.id)
		if err != nil {
			return err
		}
		change(&o)
		tx.AfterCommit(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.said[a.id] = o
			a.sorting.anew()
			a.look(0)
		})
		return inbox.Override(tx, a.id, o)
	})
	if err != nil {
		return inbox.Policy{}, fmt.Errorf("change the policy of %s: %w", a.name(), err)
	}
	return p.policyOf(a), nil
}

// Rules are what the workspace's files say about mail, by the name of the agent.
// Those that can't be read are broken: what was read of them last still holds.
func (p *Pool) Rules(ctx context.Context, good map[string]inbox.Rules, broken map[string]error) {
	p.mu.Lock()
	rules := maps.Clone(good)
	if rules == nil {
		rules = map[string]inbox.Rules{}
	}
	var tell []string
	for name, err := range broken {
		last, had := p.rules[name]
		if had {
			rules[name] = last
		}
		if p.broken[name] == err.Error() {
			continue
		}
		if had {
			tell = append(tell, fmt.Sprintf("%v. The policy that was read of it before still holds.", err))
		} else {
			tell = append(tell, fmt.Sprintf("%v. No policy of it holds.", err))
		}
	}
	p.broken = map[string]string{}
	for name, err := range broken {
		p.broken[name] = err.Error()
	}
	p.rules = rules
	p.lookAtAll()
	p.mu.Unlock()
	slices.Sort(tell)
	for _, text := range tell {
		p.notice(ctx, text)
	}
}

// notice tells the human in main's tab what concerns no agent alone.
func (p *Pool) notice(ctx context.Context, text string) {
	m := p.main()
	if m == nil {
		return
	}
	err := p.o.DB.Write(ctx, "note", func(tx *store.Tx) error {
		_, err := m.book().Batch(tx, false).Add(0, Entry{Kind: EntryNotice, Text: text})
		return err
	})
	if err != nil && ctx.Err() == nil {
		m.trouble(err)
	}
}

// BeQuiet holds all mail of the agents the human talks to until that time, or, if it
// is zero, until EndQuiet.
func (p *Pool) BeQuiet(ctx context.Context, until time.Time) error {
	if !until.IsZero() && !until.After(p.o.Now()) {
		return errors.New("that time is over")
	}
	err := p.o.DB.Write(ctx, "be quiet", func(tx *store.Tx) error {
		newest, err := inbox.Newest(&tx.View)
		if err != nil {
			return err
		}
		q, err := inbox.IsQuiet(&tx.View)
		if err != nil {
			return err
		}
		if !q.On {
			q.Since = newest
		}
		q.On, q.Until = true, until
		return p.setQuiet(tx, q)
	})
	if err != nil {
		return fmt.Errorf("be quiet: %w", err)
	}
	return nil
}

// setQuiet keeps q and lets it hold from the commit on.
func (p *Pool) setQuiet(tx *store.Tx, q inbox.Quiet) error {
	tx.AfterCommit(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.quiet = q
		p.lookAtAll()
		p.told()
	})
	return inbox.SetQuiet(tx, q)
}

// ErrLoud is what EndQuiet returns when it is not quiet.
var ErrLoud = errors.New("it is not quiet; /messages quiet holds all mail")

// EndQuiet lets mail be delivered again, and says in a line or two what came
// meanwhile, what is urgent first.
func (p *Pool) EndQuiet(ctx context.Context) (came string, err error) {
	err = p.o.DB.Write(ctx, "end quiet", func(tx *store.Tx) error {
		q, err := inbox.IsQuiet(&tx.View)
		if err != nil {
			return err
		}
		if !q.On {
			return ErrLoud
		}
		ms, err := inbox.CameSince(&tx.View, q.Since)
		if err != nil {
			return err
		}
		came = summary(ms)
		return p.setQuiet(tx, inbox.Quiet{})
	})
	if errors.Is(err, ErrLoud) {
		return "", ErrLoud
	}
	if err != nil {
		return "", fmt.Errorf("end quiet: %w", err)
	}
	return came, nil
}

// quietOver ends quiet whose time has come, and tells the human.
func (p *Pool) quietOver(ctx context.Context) error {
	came, err := p.EndQuiet(ctx)
	if err == nil {
		p.notice(ctx, came)
	}
	return err
}

// summary tells of messages that came while it was quiet.
func summary(ms []inbox.Message) string {
	if len(ms) == 0 {
		return "Quiet is over. Nothing that came meanwhile waits."
	}
	var urgent []string
	counts := map[string]int{}
	for _, m := range ms {
		switch {
		case m.Priority == inbox.Urgent && !m.Muted:
			urgent = append(urgent, fmt.Sprintf("#%d from %s: %s", m.ID, inbox.Label(m.From), m.Gist()))
		case m.Kind == inbox.Question || m.Kind == inbox.Approval:
			counts["waiting for your answer"]++
		case !m.Success():
			counts["failed"]++
		case m.Kind == inbox.Result:
			counts["done"]++
		default:
			counts["to read"]++
		}
	}
	var parts []string
	if len(urgent) > 0 {
		parts = append(parts, fmt.Sprintf("%d urgent", len(urgent)))
	}
	for _, what := range []string{"waiting for your answer", "failed", "done", "to read"} {
		if n := counts[what]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	Request := fmt.Sprintf("%d messages", len(ms))
	if len(ms) == 1 {
		Request = "1 message"
	}
	s := "Quiet is over. " + Request + " came meanwhile: " + strings.Join(parts, ", ") + "."
	const listed = 5
	for i, u := range urgent {
		if i == listed {
			return s + fmt.Sprintf("\n  and %d more urgent ones: /inbox", len(urgent)-listed)
		}
		s += "\n  🔴 " + u
	}
	return s
}

// restorePolicies reads what the human said.
func (p *Pool) restorePolicies(ctx context.Context) error {
	return p.o.DB.Read(ctx, func(rx *store.Rx) error {
		said, err := inbox.Overridden(&rx.View)
		if err != nil {
			return err
		}
		if p.quiet, err = inbox.IsQuiet(&rx.View); err != nil {
			return err
		}
		p.said = said
		return nil
	})
}

// name is what the agent is called.
func (a *agent) name() string {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	return a.info.Name
}
