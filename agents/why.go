package agents

import (
	"context"
	"fmt"

	"fantail/inbox"
)

// Why says when and why a message enters its recipient's context, or how it did.
func (p *Pool) Why(ctx context.Context, id int64) (string, error) {
	m, ok, err := p.inbox.Get(ctx, id)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fmt.Errorf("there is no message #%d", id)
	}
	p.mu.Lock()
	a := p.agents[m.Recipient]
	var i Info
	hushed := false
	if a != nil {
		i, hushed = a.info, a.hushed
	}
	p.mu.Unlock()
	to := "an agent whose tab is closed"
	if a != nil {
		to = i.Name
	}
	head := fmt.Sprintf("Message #%d from %s to %s, deliver=%s: ", m.ID, inbox.Label(m.From), to, m.Deliver)
	if !m.Taken.IsZero() {
		return head + fmt.Sprintf("%s, %s ago, as entry %d of the transcript.", fate(m), inbox.Age(p.o.Now().Sub(m.Taken)), m.Entry), nil
	}
	return head + "it waits, " + due(m, i, a != nil, hushed), nil
}

// fate says what happened to m in a sentence of its own.
func fate(m inbox.Message) string {
	f := m.Fate()
	if f != "entered a turn" && f != "came with its task" {
		return "it is " + f
	}
	return "it " + f
}

// due says when a pending message enters the context of the agent i, and why then.
func due(m inbox.Message, i Info, open, hushed bool) string {
	switch {
	case !open || i.State.Terminal():
		return "and nothing will take it: the agent has ended. /messages show prints it."
	case m.Deliver == inbox.Hold:
		return "until somebody takes it: that is what its sender asked for. /check, /receive, /messages next and /fire do."
	case !i.Kind.HasPrompt() && i.State == Asking:
		return "until your answer lets the agent go on: it enters before its next request."
	case !i.Kind.HasPrompt():
		return "and enters before the agent's next request: the agent takes no prompts, so its next step is the turn it is meant for."
	case m.Deliver == inbox.Wake && hushed:
		return "and starts no turn by itself: you stopped the last one. Your next prompt, /messages next or /fire brings it in."
	case m.Deliver == inbox.Wake && i.State == Idle:
		return "and starts a turn within half a second: its sender asked to wake the agent, which is idle."
	case m.Deliver == inbox.Wake:
		return "and starts a turn when the one that runs has ended: its sender asked to wake the agent."
	case i.State == Idle:
		return "and enters before your next prompt: results of delegated work and mail do not start turns."
	}
	return "and enters with the next prompt, or when a queued one enters: results of delegated work and mail do not start turns."
}
