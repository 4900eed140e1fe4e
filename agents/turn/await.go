package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/fleet"
	"fantail/agents/waits"
	"fantail/inbox"
)

// await keeps a sub-agent from finishing while work it dispatched still runs: it waits, without a request or a slot,
// until that work reports.
func (l *Loop) await(ctx context.Context) error {
	if l.Kind.HasPrompt() || l.WrapsUp() || len(l.Owed()) == 0 {
		return nil
	}
	waiting, release := l.Steerable(ctx)
	defer release()
	w := l.o.Waits.Begin(&waits.Wait{Agent: l.ID, Children: true})
	regain := l.Aside("waiting for " + strings.Join(l.Owed(), ", "))
	err := w.Until(waiting, func() (bool, error) {
		reported, err := l.reported(ctx)
		return reported || len(l.Owed()) == 0, err
	})
	w.End()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil, errors.Is(err, waits.ErrNothing),
		errors.Is(err, fleet.ErrSteered): // the prompt enters at this seam
		return regain(ctx)
	}
	return fmt.Errorf("look for reports: %w", err)
}

// reported reports whether a message is pending that enters at the agent's next seam.
func (l *Loop) reported(ctx context.Context) (bool, error) {
	if !l.HasMail() {
		return false, nil
	}
	ms, err := l.o.Inbox.List(ctx, inbox.Query{
		Recipient: l.ID, Deliver: []inbox.Deliver{inbox.Next, inbox.Wake}, Limit: 1,
	})
	return len(ms) > 0, err
}
