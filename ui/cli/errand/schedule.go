package errand

import (
	"context"
	"errors"
	"strings"
	"time"

	"fantail/agents/roster"
	"fantail/agents/schedule"
	"fantail/inbox"
	"fantail/store"
	"fantail/ui/cli/reach"
	"fantail/ui/cli/shell"
	"fantail/ui/slash/timetable"
)

// jSchedule is a schedule as a line of JSON.
type jSchedule struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Text    string `json:"text"`
	When    string `json:"when"`
	State   string `json:"state"`
	Due     string `json:"due,omitempty"`
	Until   string `json:"until,omitempty"`
	Runs    int    `json:"runs"`
	Fired   string `json:"fired,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Finding string `json:"finding,omitempty"`
}

func scheduleJSON(s schedule.Schedule) jSchedule {
	stamp := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	return jSchedule{
		s.Name, string(s.Kind), s.Text, s.When.Text, string(s.State), stamp(s.Due), s.CancelWhen, s.Runs, stamp(s.Last.Fired), s.Last.Outcome, s.Last.Finding,
	}
}

// distant is the schedules of a workspace as a process sees them that does not have its agents.
type distant struct {
	*schedule.Room
	ring func()
	due  time.Time // when the schedule that was made or resumed is; zero: none was
}

var _ timetable.Pool = &distant{}

func (d *distant) Add(ctx context.Context, o schedule.Order) (schedule.Schedule, error) {
	s, err := d.Room.Add(ctx, o)
	d.due = s.Due
	return s, d.rung(err)
}

func (d *distant) Pause(ctx context.Context, name string, owner int64) (schedule.Schedule, error) {
	s, err := d.Room.Pause(ctx, name, owner)
	return s, d.rung(err)
}

func (d *distant) Resume(ctx context.Context, name string, owner int64) (schedule.Schedule, error) {
	s, err := d.Room.Resume(ctx, name, owner)
	d.due = s.Due
	return s, d.rung(err)
}

func (d *distant) Remove(ctx context.Context, name string, owner int64, why string) (schedule.Schedule, error) {
	s, err := d.Room.Remove(ctx, name, owner, why)
	return s, d.rung(err)
}

func (d *distant) Fire(context.Context, string, int64) (schedule.Schedule, error) {
	return schedule.Schedule{}, errors.New("only a screen fires one at once: /schedule run NAME")
}

// rung tells the host, unless there is an error.
func (d *distant) rung(err error) error {
	if err == nil {
		d.ring()
	}
	return err
}

// wake has a host run that fires what was made or resumed, if one stays for it.
func (d *distant) wake(c *caller) error {
	if d.due.IsZero() || time.Until(d.due) > schedule.Horizon {
		return nil
	}
	if _, err := reach.Ask(c.ctx, c.host, reach.Tell); !errors.Is(err, reach.ErrNoHost) {
		return err // nil: its bell was rung
	}
	return reach.Wake(c.ctx, c.dir)
}

// runSchedule lists, makes and changes schedules.
func runSchedule(e *Errand, c *caller) (int, error) {
	words := strings.Join(e.words, " ")
	room := &distant{
		Room: schedule.New(schedule.Options{DB: c.door.DB, Inbox: inbox.New(c.door.DB, nil), Now: time.Now, Heir: roster.Heir}), ring: c.door.Ring,
	}
	if words == "list --json" { // flags stand before a prompt only
		words, c.out.json = "list", true
	}
	if words == "" || words == "list" {
		return c.schedules(room)
	}
	desk := timetable.Desk{Pool: room, Origin: schedule.CLI, Now: time.Now}
	err := c.door.DB.Write(c.ctx, "find main", func(tx *store.Tx) error {
		a, err := roster.OpenMain(tx, c.door.Model)
		desk.Agent = a.ID
		return err
	})
	if err != nil {
		return shell.Failed, err
	}
	verb, rest, _ := strings.Cut(words, " ")
	carry, text := desk.Schedule, words
	if verb == "remind" {
		carry, text = desk.Remind, rest
	} else if verb == "watch" {
		carry, text = desk.Watch, rest
	}
	says, err := carry(c.ctx, text)
	if wrong := (*timetable.Wrong)(nil); errors.As(err, &wrong) {
		return shell.Usage, shell.Misused("schedule: %v", err)
	}
	if err != nil {
		return shell.Failed, err
	}
	if err := room.wake(c); err != nil {
		says += "\nNothing fires without a host, and none answers (" + err.Error() + "): fantail doctor looks for what is in its way"
	}
	return shell.OK, c.out.text(says)
}

// schedules lists them.
func (c *caller) schedules(room timetable.Pool) (int, error) {
	all, err := room.All(c.ctx, 0)
	switch {
	case err != nil:
		return shell.Failed, err
	case len(all) == 0 && c.out.json:
		return shell.Nothing, nil
	case len(all) == 0:
		return shell.Nothing, c.out.text("Nothing is scheduled.")
	case !c.out.json:
		return shell.OK, c.out.text(timetable.List(all, time.Now()))
	}
	for _, s := range all {
		if err := c.out.line(scheduleJSON(s)); err != nil {
			return shell.Failed, err
		}
	}
	return shell.OK, nil
}
