package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// Unavailable is the error for an unattended agent: what it registers would outlive its conversation.
const Unavailable = "Scheduling requires a persistent session (daemon mode). This task would need to outlive the current session."

// Timetable gives agents access to schedules. An agent sees those it registered, and an observer the one that fired
// it.
type Timetable struct {
	Room *Scheduler
	DB   *store.DB
	Zone *time.Location
}

// TimetableCaller is the agent that calls.
type TimetableCaller struct {
	Agent      int64
	Unattended bool
	Dir        string
}

// Answer carries out a call of the tool schedule. Its texts and errors are for models.
func (d Timetable) Answer(ctx context.Context, by TimetableCaller, t tools.Timer) (string, error) {
	fired, observes, err := d.fired(ctx, by.Agent)
	if err != nil {
		return "", err
	}
	switch {
	case t.Action == "register" && observes:
		return "", errors.New("an observer registers no tasks; report what you found")
	case t.Action == "register" && by.Unattended:
		return Unavailable, nil
	case t.Action == "register":
		return d.register(ctx, by, t)
	case t.Action == "unregister" && observes && t.ID != fired.Name:
		return none(t.ID), nil
	case t.Action == "unregister" && observes:
		return d.unregister(ctx, t.ID, 0, met(fired))
	case t.Action == "unregister":
		return d.unregister(ctx, t.ID, by.Agent, "the agent that registered it cancelled it")
	case observes && fired.State == Ended:
		return list(nil), nil
	case observes:
		return list([]Schedule{fired}), nil
	}
	all, err := d.Room.All(ctx, by.Agent)
	return list(all), err
}

// fired returns the schedule that fired an observer.
func (d Timetable) fired(ctx context.Context, agent int64) (s Schedule, ok bool, err error) {
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		s, _, ok, err = OfAgent(&rx.View, agent)
		return err
	})
	return s, ok, err
}

func (d Timetable) register(ctx context.Context, by TimetableCaller, t tools.Timer) (string, error) {
	o := Order{
		Name: t.ID, Owner: by.Agent, Origin: Agent, Kind: Kind(t.Kind), Text: t.Prompt, CancelWhen: t.CancelWhen,
		Dir: by.Dir, Deliver: inbox.Deliver(t.Deliver), Priority: inbox.Priority(t.Priority),
	}
	var err error
	switch {
	case t.Interval > 0:
		o.When = Interval(t.Interval)
	case !t.At.IsZero():
		o.When = At(t.At.In(d.Zone))
	case t.Cron != "":
		o.When, err = Cron(t.Cron)
	default:
		o.When = After(t.Delay)
	}
	if err != nil {
		return "", err
	}
	s, err := d.Room.Add(ctx, o)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Scheduled task '%s': fires %s.", s.Name, describe(s.When)), nil
}

func (d Timetable) unregister(ctx context.Context, name string, owner int64, why string) (string, error) {
	_, err := d.Room.Remove(ctx, name, owner, why)
	if unknown := (*NoneError)(nil); errors.As(err, &unknown) {
		s, _, err := d.Room.About(ctx, name)
		if err == nil && s.State != Ended && s.Owner == owner {
			return none(name) + fmt.Sprintf(" The user made %s; only they end it: /schedule rm %s", name, name), nil
		}
		return none(name), nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Task %s cancelled.", name), nil
}

// met returns why an observer ended the schedule that fired it.
func met(s Schedule) string {
	if s.CancelWhen == "" {
		return "its observer ended it"
	}
	return "its condition was met: " + s.CancelWhen
}

func none(name string) string { return fmt.Sprintf("No active task with id '%s'.", name) }

// describe says when a task fires.
func describe(w When) string {
	switch {
	case w.Every > 0:
		return fmt.Sprintf("every %ds", int(w.Every.Seconds()))
	case w.Cron == "" && w.At.IsZero():
		return fmt.Sprintf("once in %ds", int(w.Delay.Seconds()))
	}
	return w.Text
}

// list is one line for each task.
func list(all []Schedule) string {
	if len(all) == 0 {
		return "No active scheduled tasks."
	}
	const most = 60
	lines := make([]string, len(all))
	for i, s := range all {
		prompt := []rune(s.Text)
		if len(prompt) > most {
			prompt = prompt[:most]
		}
		lines[i] = fmt.Sprintf("- %s: %s (%s)", s.Name, string(prompt), describe(s.When))
	}
	return strings.Join(lines, "\n")
}
