package agents

import (
	"context"
	"fmt"

	"fantail/inbox"
)

// Why says what decided about a message, and when it enters its recipient's context,
// or how it did.
func (p *Pool) Why(ctx context.Context, id int64) (string, error) {
	m, ok, err := p.inbox.Get(ctx, id)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fmt.Errorf("there is no message #%d", id)
	}
	now := p.o.Now()
	to, who, policy := "an agent whose tab is closed", inbox.Recipient{Doing: inbox.Ended}, inbox.Policy{}
	p.mu.Lock()
	if a := p.agents[m.Recipient]; a != nil {
		to, who, policy = a.info.Name, p.recipient(&a.info, now), p.policy(&a.info)
	}
	p.mu.Unlock()
	head := fmt.Sprintf("Message #%d from %s to %s, deliver=%s: ", m.ID, inbox.Label(m.From), to, m.Deliver)
	if m.Aside() {
		return head + fmt.Sprintf("%s. /inbox restore %d brings it back.", fate(m), m.ID), nil
	}
	if !m.Taken.IsZero() {
		head += fmt.Sprintf("%s, %s ago", fate(m), inbox.Age(now.Sub(m.Taken)))
		if m.Entry != 0 {
			head += fmt.Sprintf(", as entry %d of the transcript", m.Entry)
		}
		return head + ".", nil
	}
	return head + inbox.Decide(m, policy, who, now).String(), nil
}

// fate says what happened to m in a sentence of its own.
func fate(m inbox.Message) string {
	f := m.Fate()
	if f != "entered a turn" && f != "came with its task" {
		return "it is " + f
	}
	return "it " + f
}
