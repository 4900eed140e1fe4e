package mail

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
)

// The human's and the workspace's settings for mail are in memory, so that a decision costs no read. A change makes
// the sorter look at all mail again.

// Policy returns the policy by which an agent's mail is delivered.
func (m *Delivery) Policy(agent int64) (policy.Policy, error) {
	m.fleet.Lock()
	defer m.fleet.Unlock()
	i := m.info(agent)
	if i == nil {
		return policy.Policy{}, noAgent(agent)
	}
	return m.policy(i), nil
}

// policy is Policy for a caller that holds the fleet's mutex.
func (m *Delivery) policy(i *event.Info) policy.Policy {
	rules, own := m.rules[i.Name]
	if !own && i.Role != nil { // the file's settings apply to all agents of that role, by any name
		rules = m.rules[i.Role.Name]
	}
	q := policy.Policy{Human: m.said[i.ID], Rules: rules}
	if i.Kind.HasPrompt() {
		q.Quiet = m.quiet // background work goes on
	}
	return q
}

// Override changes the human's settings for an agent's mail, and returns the resulting policy. change may be called
// more than once, each time with the overrides in force then.
func (m *Delivery) Override(ctx context.Context, agent int64, change func(o *policy.Overrides)) (policy.Policy, error) {
	if _, err := m.Policy(agent); err != nil {
		return policy.Policy{}, err
	}
	err := m.db.Write(ctx, "change a policy", func(tx *store.Tx) error {
		// From the table, not from memory: group commit runs the writes of a batch before any of their hooks, so memory
		// does not show the other writes of this batch yet.
		o, err := policy.OverridesOf(&tx.View, agent)
		if err != nil {
			return err
		}
		change(&o)
		tx.AfterCommit(func() {
			m.fleet.Lock()
			defer m.fleet.Unlock()
			m.said[agent] = o
			m.lookAnew(agent)
		})
		return policy.Override(tx, agent, o)
	})
	if err != nil {
		return policy.Policy{}, fmt.Errorf("change the policy of %s: %w", m.name(agent), err)
	}
	return m.Policy(agent)
}

// Rules sets the rules for mail in the workspace's files, by agent name. For files that can't be read, in broken, the
// last rules that could be read still apply.
func (m *Delivery) Rules(ctx context.Context, good map[string]policy.Rules, broken map[string]error) {
	m.fleet.Lock()
	rules := maps.Clone(good)
	if rules == nil {
		rules = map[string]policy.Rules{}
	}
	var tell []string
	for name, err := range broken {
		last, had := m.rules[name]
		if had {
			rules[name] = last
		}
		if m.broken[name] == err.Error() {
			continue
		}
		if had {
			tell = append(tell, fmt.Sprintf("%v. The policy that was read of it before still holds.", err))
		} else {
			tell = append(tell, fmt.Sprintf("%v. No policy of it holds.", err))
		}
	}
	m.broken = map[string]string{}
	for name, err := range broken {
		m.broken[name] = err.Error()
	}
	m.rules = rules
	m.LookAtAll()
	m.fleet.Unlock()
	slices.Sort(tell)
	for _, text := range tell {
		m.notice(ctx, text)
	}
}

// BeQuiet holds all mail of the agents the human talks to until that time, or, if it is zero, until EndQuiet.
func (m *Delivery) BeQuiet(ctx context.Context, until time.Time) error {
	if !until.IsZero() && !until.After(m.now()) {
		return errors.New("that time is over")
	}
	err := m.db.Write(ctx, "be quiet", func(tx *store.Tx) error {
		newest, err := inbox.Newest(&tx.View)
		if err != nil {
			return err
		}
		q, err := policy.IsQuiet(&tx.View)
		if err != nil {
			return err
		}
		if !q.On {
			q.Since = newest
		}
		q.On, q.Until = true, until
		return m.setQuiet(tx, q)
	})
	if err != nil {
		return fmt.Errorf("be quiet: %w", err)
	}
	return nil
}

// setQuiet records q, which applies from the commit on.
func (m *Delivery) setQuiet(tx *store.Tx, q policy.Quiet) error {
	tx.AfterCommit(func() {
		m.fleet.Lock()
		defer m.fleet.Unlock()
		m.quiet = q
		m.LookAtAll()
		m.fleet.Told()
	})
	return policy.SetQuiet(tx, q)
}

// ErrLoud is returned by EndQuiet when it is not quiet.
var ErrLoud = errors.New("it is not quiet; /messages quiet holds all mail")

// EndQuiet lets mail be delivered again, and returns a line or two on what came meanwhile, urgent mail first.
func (m *Delivery) EndQuiet(ctx context.Context) (came string, err error) {
	err = m.db.Write(ctx, "end quiet", func(tx *store.Tx) error {
		q, err := policy.IsQuiet(&tx.View)
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
		return m.setQuiet(tx, policy.Quiet{})
	})
	if errors.Is(err, ErrLoud) {
		return "", ErrLoud
	}
	if err != nil {
		return "", fmt.Errorf("end quiet: %w", err)
	}
	return came, nil
}

// quietOver ends an expired quiet, and tells the human.
func (m *Delivery) quietOver(ctx context.Context) error {
	came, err := m.EndQuiet(ctx)
	if err == nil {
		m.notice(ctx, came)
	}
	return err
}

// summary describes the messages that came while it was quiet.
func summary(ms []inbox.Message) string {
	if len(ms) == 0 {
		return "Quiet is over. No new mail."
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
	messages := fmt.Sprintf("%d messages", len(ms))
	if len(ms) == 1 {
		messages = "1 message"
	}
	s := "Quiet is over. " + messages + " came meanwhile: " + strings.Join(parts, ", ") + "."
	const listed = 5
	for i, u := range urgent {
		if i == listed {
			return s + fmt.Sprintf("\n  and %d more urgent ones: /inbox", len(urgent)-listed)
		}
		s += "\n  🔴 " + u
	}
	return s
}

// Load reads the human's settings, before any agent runs.
func (m *Delivery) Load(ctx context.Context) error {
	return m.db.Read(ctx, func(rx *store.Rx) error {
		said, err := policy.Overridden(&rx.View)
		if err != nil {
			return err
		}
		if m.quiet, err = policy.IsQuiet(&rx.View); err != nil {
			return err
		}
		m.said = said
		return nil
	})
}

// name returns the agent's name; "": its tab is not open.
func (m *Delivery) name(agent int64) string {
	m.fleet.Lock()
	defer m.fleet.Unlock()
	if i := m.info(agent); i != nil {
		return i.Name
	}
	return ""
}
