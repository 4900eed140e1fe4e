package mail

import (
	"context"
	"fmt"

	"fantail/inbox"
	"fantail/inbox/policy"
)

// Why says what decides about a message, and when it enters its recipient's context, or how it did.
func (m *Delivery) Why(ctx context.Context, id int64) (string, error) {
	msg, ok, err := m.inbox.Get(ctx, id)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fmt.Errorf("there is no message #%d", id)
	}
	now := m.now()
	to, who, says := "an agent whose tab is closed", policy.Recipient{Doing: policy.Ended}, policy.Policy{}
	m.fleet.Lock()
	if i := m.info(msg.Recipient); i != nil {
		to, who, says = i.Name, m.recipient(i, now), m.policy(i)
	}
	m.fleet.Unlock()
	head := fmt.Sprintf("Message #%d from %s to %s, deliver=%s: ", msg.ID, inbox.Label(msg.From), to, msg.Deliver)
	if msg.Aside() {
		return head + fmt.Sprintf("%s. /inbox restore %d brings it back.", Fate(msg), msg.ID), nil
	}
	if !msg.Taken.IsZero() {
		head += fmt.Sprintf("%s, %s ago", Fate(msg), inbox.Age(now.Sub(msg.Taken)))
		if msg.Entry != 0 {
			head += fmt.Sprintf(", as entry %d of the transcript", msg.Entry)
		}
		return head + ".", nil
	}
	return head + policy.Decide(msg, says, who, now).String(), nil
}
