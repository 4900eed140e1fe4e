package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"fantail/agents/schedule"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/ui/attach"
	"fantail/ui/format"
	"fantail/ui/shell"
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

// distant is the schedules of a workspace in a process that does not have its agents.
type distant struct {
	*schedule.Scheduler
	ring func()
	due  time.Time // when the added or resumed schedule is due; zero: none was
}

var _ format.Scheduler = &distant{}

func (d *distant) Add(ctx context.Context, o schedule.Order) (schedule.Schedule, error) {
	s, err := d.Scheduler.Add(ctx, o)
	d.due = s.Due
	return s, d.rung(err)
}

func (d *distant) Pause(ctx context.Context, name string, owner int64) (schedule.Schedule, error) {
	s, err := d.Scheduler.Pause(ctx, name, owner)
	return s, d.rung(err)
}

func (d *distant) Resume(ctx context.Context, name string, owner int64) (schedule.Schedule, error) {
	s, err := d.Scheduler.Resume(ctx, name, owner)
	d.due = s.Due
	return s, d.rung(err)
}

func (d *distant) Remove(ctx context.Context, name string, owner int64, why string) (schedule.Schedule, error) {
	s, err := d.Scheduler.Remove(ctx, name, owner, why)
	return s, d.rung(err)
}

func (d *distant) Fire(context.Context, string, int64) (schedule.Schedule, error) {
	return schedule.Schedule{}, errors.New("only a screen fires one at once: /schedule run NAME")
}

// rung notifies the host, unless err is set.
func (d *distant) rung(err error) error {
	if err == nil {
		d.ring()
	}
	return err
}

// wake starts a host for the added or resumed schedule if none runs and it is due within the
// horizon.
func (d *distant) wake(c *caller) error {
	if d.due.IsZero() || time.Until(d.due) > schedule.Horizon {
		return nil
	}
	if _, err := attach.Ask(c.ctx, c.host, attach.Tell); !errors.Is(err, attach.ErrNoHost) {
		return err // nil: its bell was rung
	}
	return attach.Wake(c.ctx, c.dir)
}

// runSchedule lists, makes and changes schedules.
func runSchedule(e *Errand, c *caller) (int, error) {
	words := c.keys.Text(strings.Join(e.words, " "))
	room := &distant{
		Scheduler: schedule.New(schedule.Options{DB: c.door.DB, Seals: tasks.LoadLastingSeal(c.data), Inbox: inbox.New(c.door.DB, nil), Now: time.Now, Heir: tasks.Heir}), ring: c.door.Ring,
	}
	if words == "list --json" { // flags may come only before a prompt
		words, c.out.json = "list", true
	}
	if words == "" || words == "list" {
		return c.schedules(room)
	}
	verb, rest, _ := strings.Cut(words, " ")
	if verb != "show" {
		if err := c.pledge(Handback{Lost: "the host ended while it changed the schedules: fantail schedule lists them"}); err != nil {
			return shell.ExitFailed, err
		}
	}
	commands := format.ScheduleCommands{Pool: room, Origin: schedule.CLI, Now: time.Now}
	err := c.door.DB.Write(c.ctx, "find main", func(tx *store.Tx) error {
		a, err := tasks.OpenMain(tx, c.door.Model)
		commands.Agent = a.ID
		return err
	})
	if err != nil {
		return shell.ExitFailed, err
	}
	if err := wholeTime(e.words); err != nil {
		return shell.ExitUsage, err
	}
	carry, text := commands.Schedule, words
	if verb == "remind" {
		carry, text = commands.Remind, rest
	} else if verb == "watch" {
		carry, text = commands.Watch, rest
	}
	says, err := carry(c.ctx, text)
	if wrong := (*format.ScheduleError)(nil); errors.As(err, &wrong) {
		return shell.ExitUsage, shell.Misused("schedule: %v", err)
	}
	if err != nil {
		return shell.ExitFailed, err
	}
	if err := room.wake(c); err != nil {
		says += "\nNothing fires without a host, and none answers (" + err.Error() + "): fantail doctor looks for what is in its way"
	}
	return shell.ExitOK, c.out.text(says)
}

// wholeTime refuses a first argument that begins with a time and goes on with other words, if more
// arguments follow.
func wholeTime(words []string) error {
	if len(words) > 0 && words[0] == "remind" {
		words = words[1:]
	}
	if len(words) < 2 || !strings.Contains(words[0], " ") {
		return nil
	}
	w, rest, err := schedule.ParseWhen(words[0], time.Now())
	if err != nil || rest == "" || rest == "--always" {
		return nil //nolint:nilerr // the parser of all words reports it
	}
	return shell.Misused("schedule: %q is no time as a whole: %q follows %s. Put the text into an argument of its own", words[0], rest, w.Text)
}

// schedules lists the schedules.
func (c *caller) schedules(room format.Scheduler) (int, error) {
	all, err := room.All(c.ctx, 0)
	switch {
	case err != nil:
		return shell.ExitFailed, err
	case len(all) == 0 && c.out.json:
		return shell.ExitNothing, nil
	case len(all) == 0:
		return shell.ExitNothing, c.out.text("Nothing is scheduled.")
	}
	return printEach(c.out, shell.ExitOK, all, func(s schedule.Schedule) any { return scheduleJSON(s) }, func() string { return format.ListSchedules(all, time.Now()) })
}
