package agents

import (
	"context"
	"fmt"

	"fantail/agents/roster"
	"fantail/inbox"
	"fantail/tools"
)

// desk is how an agent's tools reach the pool. Its texts are for models.
type desk struct{ a *agent }

var _ tools.Desk = desk{}

func (d desk) Push(ctx context.Context, t tools.Task) (string, error) {
	if t.Deliver == "" {
		t.Deliver = string(inbox.Next)
	}
	row, err := d.a.p.Spawn(ctx, d.a.id, t, nil)
	if err != nil {
		return "", err
	}
	if t.Start {
		return dispatched(row, "It runs in the background. "), nil
	}
	if d.a.p.Joins(row.ID) {
		return fmt.Sprintf("Queued '%s'; it joins the run that drains your queue.", row.Name), nil
	}
	d.a.p.mu.Lock()
	n := len(d.a.p.queue.Of(d.a.id))
	d.a.p.mu.Unlock()
	return fmt.Sprintf("Queued '%s'. Tasks in your queue: %d; the tool run starts them.", row.Name, n), nil
}

func (d desk) Run(_ context.Context, s tools.Start) (string, error) {
	d.a.p.mu.Lock()
	r, err := d.a.p.run(d.a.id, s)
	d.a.p.mu.Unlock()
	if err != nil {
		return "", err
	}
	return r.String() + ". Results arrive in your inbox by themselves.", nil
}

func (d desk) Queue(ctx context.Context, remove string) (string, error) {
	removed := ""
	if remove != "" {
		if err := d.a.p.Discard(ctx, d.a.id, remove); err != nil {
			return "", err
		}
		removed = fmt.Sprintf("Removed '%s'.\n\n", remove)
	}
	ts, err := d.a.p.Queue(ctx, d.a.id)
	if err != nil {
		return "", err
	}
	typed := len(ts.Prompts)
	ts.Prompts = nil // they enter by themselves, as prompts
	text := removed + roster.QueueText(ts, d.a.p.o.Now(), 10)
	if typed > 0 {
		text += fmt.Sprintf("\n\nPrompts of the user that have not entered: %d", typed)
	}
	return text, nil
}
