package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/fleet"
	"fantail/agents/tasks"
	"fantail/inbox"
)

// await keeps a sub-agent from finishing while work it dispatched still runs: it waits, without a request or a slot,
// until that work reports.
func (l *Loop) await(ctx context.Context) error {
	if l.Agent.Kind.HasPrompt() || l.Agent.WrapsUp() || len(l.Agent.Owed()) == 0 {
		return nil
	}
	waiting, release := l.Agent.Steerable(ctx)
	defer release()
	w := l.o.Waits.Begin(&tasks.Wait{Agent: l.Agent.ID, Children: true})
	regain := l.Agent.Aside("waiting for " + strings.Join(l.Agent.Owed(), ", "))
	err := w.Until(waiting, func() (bool, error) {
		reported, err := l.reported(ctx)
		return reported || len(l.Agent.Owed()) == 0, err
	})
	w.End()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil, errors.Is(err, tasks.ErrNothing),
		errors.Is(err, fleet.ErrSteered): // the prompt enters at this seam
		return regain(ctx)
	}
	return fmt.Errorf("look for reports: %w", err)
}

// reported reports whether a message is pending that enters at the agent's next seam.
func (l *Loop) reported(ctx context.Context) (bool, error) {
	if !l.Agent.HasMail() {
		return false, nil
	}
	ms, err := l.o.Inbox.List(ctx, inbox.Query{
		Recipient: l.Agent.ID, Deliver: []inbox.Deliver{inbox.Next, inbox.Wake}, Limit: 1,
	})
	return len(ms) > 0, err
}
