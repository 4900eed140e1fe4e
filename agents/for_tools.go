package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fantail/agents/schedule"
	"fantail/agents/tasks"
	"fantail/agents/turn"
	"fantail/inbox"
	"fantail/tools"
)

// toolAgents connects an agent's tools to the pool. Its texts are for models.
type toolAgents struct {
	p *Pool
	l *turn.Loop
}

var _ tools.Agents = toolAgents{}

func (d toolAgents) Push(ctx context.Context, t tools.Task) (string, error) {
	if t.Deliver == "" {
		t.Deliver = string(inbox.Next)
	}
	if err := d.mayTalk(t); err != nil {
		return "", err
	}
	row, err := d.p.Tasks.Spawn(ctx, d.l.Agent.ID, t, nil)
	if err != nil {
		return "", err
	}
	if t.Start {
		return dispatched(row, "It runs in the background. "), nil
	}
	if d.p.fleet.Line.Joins(row.ID) {
		return fmt.Sprintf("Queued '%s'; it joins the run that drains your queue.", row.Name), nil
	}
	d.p.fleet.Lock()
	n := len(d.p.fleet.Queue.Of(d.l.Agent.ID))
	d.p.fleet.Unlock()
	return fmt.Sprintf("Queued '%s'. Tasks in your queue: %d; the tool run starts them.", row.Name, n), nil
}

// mayTalk refuses a task that awaits input if no human is there to give any.
func (d toolAgents) mayTalk(t tools.Task) error {
	if t.Interactive && d.l.Unattended() {
		return errors.New("nobody is here who could talk to it: leave interactive away")
	}
	return nil
}

func (d toolAgents) Run(_ context.Context, s tools.Start) (string, error) {
	d.p.fleet.Lock()
	b, err := d.p.fleet.Line.Run(d.l.Agent.ID, s)
	d.p.fleet.Unlock()
	if err != nil {
		return "", err
	}
	return Ran{Begun: b}.String() + ". Results arrive in your inbox by themselves.", nil
}

func (d toolAgents) Queue(ctx context.Context, remove string) (string, error) {
	removed := ""
	if remove != "" {
		if err := d.p.Tasks.Discard(ctx, d.l.Agent.ID, remove); err != nil {
			return "", err
		}
		removed = fmt.Sprintf("Removed '%s'.\n\n", remove)
	}
	ts, err := d.p.Queue(ctx, d.l.Agent.ID)
	if err != nil {
		return "", err
	}
	typed := len(ts.Prompts)
	ts.Prompts = nil // they enter on their own, as prompts
	text := removed + tasks.QueueText(ts, d.p.o.Now(), 10)
	if typed > 0 {
		text += fmt.Sprintf("\n\nPrompts of the user that have not entered: %d", typed)
	}
	return text, nil
}

func (d toolAgents) Schedule(ctx context.Context, t tools.Timer) (string, error) {
	at := schedule.Timetable{Room: d.p.Schedule, DB: d.p.o.DB, Zone: time.Local}
	return at.Answer(ctx, schedule.TimetableCaller{Agent: d.l.Agent.ID, Unattended: d.l.Unattended(), Dir: d.p.o.Root}, t)
}

// dispatched tells a model that its task runs in parallel.
func dispatched(t tasks.Task, how string) string {
	return fmt.Sprintf("Task dispatched to '%s' (session: %d)\n%sIts result arrives in your inbox by itself: "+
		"go on with other work, or end your turn; don't poll.", t.Name, t.ID, how)
}
