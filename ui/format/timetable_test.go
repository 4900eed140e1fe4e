package format

import (
	"testing"
	"time"

	"fantail/agents/schedule"
)

// What a run found stands on one line, without the marks of Markdown around code.
func TestScheduleFound(t *testing.T) {
	at := time.Date(2026, 11, 23, 22, 42, 0, 0, time.Local)
	s := schedule.Schedule{Order: schedule.Order{When: schedule.When{Every: time.Hour}}, Runs: 1, Last: schedule.Run{
		Fired: at, Due: at, Ended: at, Outcome: "completed", Finding: "red:\n\n```\nbuild 17: failed\n```\n",
	}}
	if got, want := ScheduleFound(s, at), "22:42 · completed · red: build 17: failed · 99 runs left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
