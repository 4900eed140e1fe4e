package format

import (
	"testing"
	"time"

	"fantail/agents/schedule"
	"fantail/ui/dialog"
)

// What a schedule is said to be is the same in a text and in a box; a field without text stands in neither.
func TestFields(t *testing.T) {
	at := time.Date(2026, 11, 24, 22, 42, 0, 0, time.Local)
	s := schedule.Schedule{Order: schedule.Order{Name: "ci", Kind: schedule.Task, Text: "look", Origin: schedule.Human}, State: schedule.Paused, Created: at}
	s.When.Text = "every 10m"
	run := schedule.Run{Due: at, Fired: at, Ended: at, Outcome: "completed"}
	want := "ci, a task\n  when      every 10m, paused\n  says      look\n  created   22:42 by you\n  ran       22:42 · completed"
	if got := ScheduleAbout(s, []schedule.Run{run}, at); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	rows := ScheduleFields(s, at).Rows()
	if len(rows) != 3 || rows[1] != (dialog.Row{Left: "says", Right: "look"}) {
		t.Errorf("%q", rows)
	}
}
