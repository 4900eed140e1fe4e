package schedule_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/agents/schedule"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
)

// table is a Timetable over a database with two agents.
type table struct {
	schedule.Timetable
	t     *testing.T
	a, b  int64
	fired []schedule.Firing
}

func lay(t *testing.T) *table {
	t.Helper()
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "fantail.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	d := &table{t: t}
	d.Timetable = schedule.Timetable{DB: db, Zone: time.UTC, Room: schedule.New(schedule.Options{
		Seals: tasks.LoadLastingSeal(t.TempDir()),
		DB:    db, Inbox: inbox.New(db, nil), Now: time.Now,
		Heir: func(_ *store.Tx, agent int64) (int64, error) { return agent, nil },
		Fire: func(_ *store.Tx, f schedule.Firing) error {
			d.fired = append(d.fired, f)
			return nil
		},
	})}
	if err := db.Write(t.Context(), "test", func(tx *store.Tx) (err error) {
		for _, id := range []*int64{&d.a, &d.b} {
			if *id, err = tx.AddAgent(store.Agent{Name: map[bool]string{true: "a", false: "b"}[d.a == 0], Kind: "helper", State: "idle"}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *table) ask(by schedule.TimetableCaller, x tools.Timer, want string) {
	d.t.Helper()
	text, err := d.Answer(d.t.Context(), by, x)
	if err != nil {
		text = "error: " + err.Error()
	}
	if text != want && !(strings.HasPrefix(want, "error: ") && strings.Contains(text, want[len("error: "):])) {
		d.t.Errorf("%+v: %q, not %q", x, text, want)
	}
}

// TestAnswer has the words that models know.
//
// Spec: O-41, O-42, O-43, O-44, O-45, O-46, O-47, O-48, O-49, O-50, O-51, O-52, O-53, O-84, E-28.
func TestAnswer(t *testing.T) {
	d := lay(t)
	a, b := schedule.TimetableCaller{Agent: d.a, Dir: "/w"}, schedule.TimetableCaller{Agent: d.b}
	reg := func(x tools.Timer) tools.Timer {
		x.Action = "register"
		return x
	}
	all := tools.Timer{Action: "list"}
	d.ask(a, all, "No active scheduled tasks.")
	d.ask(a, reg(tools.Timer{Prompt: "look at ci", ID: "ci", Interval: 10 * time.Minute, CancelWhen: "green"}), "Scheduled task 'ci': fires every 600s.")
	d.ask(a, reg(tools.Timer{Prompt: "look at ci", ID: "ci", Delay: time.Minute}), "error: ci is scheduled already")
	d.ask(a, reg(tools.Timer{Prompt: "tea", Kind: "reminder", Delay: 30 * time.Minute}), "Scheduled task 'reminder-1': fires once in 1800s.")
	d.ask(a, reg(tools.Timer{Prompt: "now"}), "Scheduled task 'task-1': fires once in 0s.")
	d.ask(a, reg(tools.Timer{Prompt: "early", Cron: "30 9 * * 1-5"}), "Scheduled task 'task-2': fires cron 30 9 * * 1-5.")
	d.ask(a, reg(tools.Timer{Prompt: "x", Cron: "9 * *"}), "error: it takes five")
	d.ask(a, reg(tools.Timer{Prompt: "x", Interval: time.Minute}), "error: 5m is the least")
	d.ask(a, reg(tools.Timer{Prompt: "x", At: time.Now().Add(-time.Hour)}), "error: is over")
	d.ask(schedule.TimetableCaller{Agent: d.a, Unattended: true}, reg(tools.Timer{Prompt: "x", Delay: time.Minute}), "Scheduling requires a persistent session (daemon mode). "+
		"This task would need to outlive the current session.")
	d.ask(b, all, "No active scheduled tasks.")
	d.ask(b, tools.Timer{Action: "unregister", ID: "ci"}, "No active task with id 'ci'.")
	d.ask(a, tools.Timer{Action: "unregister", ID: "task-1"}, "Task task-1 cancelled.")
	d.ask(a, tools.Timer{Action: "unregister", ID: "task-1"}, "No active task with id 'task-1'.")
	long := strings.Repeat("ä", 61)
	d.ask(b, reg(tools.Timer{Prompt: long, ID: "long", Delay: 90 * time.Second}), "Scheduled task 'long': fires once in 90s.")
	d.ask(b, all, "- long: "+long[:120]+" (once in 90s)")
	got, err := d.Answer(t.Context(), a, all)
	if err != nil || !strings.Contains(got, "- ci: look at ci (every 600s)\n") || strings.Count(got, "\n") != 2 {
		t.Errorf("%q, %v", got, err)
	}
	for _, origin := range []string{schedule.Human, schedule.CLI} {
		o := schedule.Order{Name: origin, Owner: d.a, Origin: origin, Text: "look", When: schedule.Interval(time.Hour)}
		if _, err := d.Room.Add(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		d.ask(a, tools.Timer{Action: "unregister", ID: origin}, "No active task with id '"+origin+"'. The user made "+origin+"; only they end it: /schedule rm "+origin)
		d.ask(b, tools.Timer{Action: "unregister", ID: origin}, "No active task with id '"+origin+"'.")
	}
	if now, err := d.Answer(t.Context(), a, all); err != nil || now != got {
		t.Errorf("with the user's own it sees %q, %v", now, err)
	}
	s, _, err := d.Room.About(t.Context(), "ci")
	if err != nil || s.Owner != d.a || s.Dir != "/w" || s.CancelWhen != "green" || s.Origin != schedule.Agent {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestAnswer_observer: an observer registers nothing and ends the schedule that fired it, and no other.
//
// Spec: O-84, O-85.
func TestAnswer_observer(t *testing.T) {
	d := lay(t)
	owner, observer := schedule.TimetableCaller{Agent: d.a}, schedule.TimetableCaller{Agent: d.b}
	for _, id := range []string{"ci", "other"} {
		d.ask(owner, tools.Timer{Action: "register", Prompt: "look", ID: id, Interval: 10 * time.Minute}, "Scheduled task '"+id+"': fires every 600s.")
	}
	if _, err := d.Room.Fire(t.Context(), "ci", 0); err != nil {
		t.Fatal(err)
	}
	if err := d.DB.Write(context.Background(), "test", func(tx *store.Tx) error { return schedule.Began(tx, d.fired[0].Run.ID, 0, d.b) }); err != nil {
		t.Fatal(err)
	}
	d.ask(observer, tools.Timer{Action: "register", Prompt: "more", Delay: time.Minute}, "error: an observer registers no tasks")
	d.ask(observer, tools.Timer{Action: "list"}, "- ci: look (every 600s)")
	d.ask(observer, tools.Timer{Action: "unregister", ID: "other"}, "No active task with id 'other'.")
	d.ask(observer, tools.Timer{Action: "unregister", ID: "ci"}, "Task ci cancelled.")
	d.ask(owner, tools.Timer{Action: "list"}, "- other: look (every 600s)")
	if s, _, err := d.Room.About(t.Context(), "ci"); err != nil || s.Why != "its observer ended it" {
		t.Errorf("it ended because %q, %v", s.Why, err)
	}
}
