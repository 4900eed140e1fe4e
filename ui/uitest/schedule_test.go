package uitest_test

import (
	"fmt"
	"testing"
	"time"

	"fantail/agents/schedule"
	"fantail/ui/uitest"
)

// TestRemind: a reminder is scheduled, counted, there after a restart, told of by the digest if it fired while nobody was
// there, and enters with the human's next message.
//
// Spec: O-4, O-40, R-3.
func TestRemind(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{W: 120, H: 24}, func(t *testing.T, s *uitest.Session) {
		s.Enter("/remind 30m commit your work")
		s.See("Reminder reminder-1: in 30m, due ", "⏲ 1")
		s.Enter("/remind soon tea")
		s.See("/remind: say when: 30m, 14:00,", "Usage: /remind [--priority=P]")
		s.Enter("remind me in 2h: stretch")
		s.See("Scheduled task 'reminder-2': fires once in 7200s.", "⏲ 2")
		s.Enter("/remind 3d milk")
		s.See("more than a day away", "fires late, at the next start")
		s.Wait(30 * time.Minute)
		s.See("1 pending", "⏲ 2")
		s.NotSee("commit your work (late")
		home := s.Home
		s.Stop()
		s.Wait(10 * time.Hour)
		s = uitest.Start(t, uitest.Options{W: 120, H: 24, Home: home})
		s.See("2 pending", "⏲ 1", "While you were away", "reminder    commit your work", "reminder    stretch (late: it was due")
		s.Enter("say hello")
		s.See("from reminder-1 · reminder: commit your work", "hello")
		s.See("⏲ 1")
		s.Stop()
	})
}

// TestSchedule: what is scheduled is listed, paused, resumed, fired and removed by its name.
func TestSchedule(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{W: 120, H: 36}, func(t *testing.T, s *uitest.Session) {
		s.Enter("/schedule list")
		s.See("No schedules")
		s.Enter("/schedule name=tests every 10m !make test")
		s.See("Scheduled tests: every 10m, due ")
		s.Enter(`/watch 5m until "CI is green" read ci.log`)
		s.See("Scheduled task-1: every 5m, due ")
		s.Enter("/schedule every 1m !date")
		s.See("it would repeat after 1m; 5m is the least")
		s.Enter("/remind every monday 10:00 report")
		s.Enter("/schedule pause tests")
		s.See("Paused tests", "⏲ 2")
		s.Enter("/schedule list")
		s.See("task-1", "read ci.log · until CI is green", "⏰ report", "paused", "!make test")
		s.Golden("schedule-list-120")
		s.Enter("/schedule resume tests")
		s.See("Resumed tests, due")
		s.Enter("/schedule show task-1")
		s.See("task-1, a task", "until     CI is green", "0, 100 left")
		s.Enter("/schedule rm task-1")
		s.See("Removed task-1", "⏲ 2")
		s.Enter("/schedule rm task-1")
		s.See("There is no schedule task-1; /schedule lists them")
		s.Enter("/schedule show")
		s.See("show needs the name of a schedule. Usage: /schedule")
		s.Enter(`/watch 5m until green look`)
		s.See("say until when, in quotes: 5m until \"CI is green\" look at the CI")
	})
}

// TestSchedulesPanel: what is due when shows on the whole screen, follows what fires and ends, and is paused, resumed, run and
// removed there.
func TestSchedulesPanel(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{W: 120, H: 30}, func(t *testing.T, s *uitest.Session) {
		s.Press("f6")
		s.See("No schedules", "[All] · Active 0 · Paused 0 · Ended")
		s.Press("f6")
		s.Gone("No schedules")
		helpers(t, s, "aide")
		for _, line := range []string{
			"/schedule name=tests every 10m !make test", "/schedule name=ci every 20m say build 17 is red", `/watch name=docs 1h until "they are written" fail no docs`,
			"/remind every monday 10:00 report", "/remind 5m tea", "/schedule pause tests",
		} {
			s.Enter(line)
		}
		s.See("Paused tests")
		s.Enter("/agent aide")
		s.Enter("/remind name=lunch 3h lunch")
		s.See("Reminder lunch")
		s.Type("half a draft")
		s.Press("f6")
		s.See("[All] · Active 5 · Paused 1 · Ended", "tea", "in 5m", "for aide lunch", "in 20m", "Has not run yet")
		s.Wait(6*time.Minute + 20*time.Second)
		s.See("Active 4", "in 13m", "reminder-2 tea", "ended   it fired", "00:05 · #1 · completed")
		s.Press("g")
		s.See("ci, a task", "every 20m, due ")
		s.Press("enter")
		s.See("No run of ci has reported yet", "ci, a task")
		s.Type("R")
		s.See("Fired ci", "99 left", "→ build 17 is red", "· completed · build 17 is red")
		s.Press("enter")
		s.See("of ci · enter show the schedule")
		s.Press("enter")
		s.See("ci, a task")
		s.Press("j")
		s.See("docs, a task", "until   they are written")
		s.Type("R")
		s.See("Fired docs", "→ ✗ no")
		s.Type("p")
		s.See("Paused docs", "Active 3 · Paused 2", "every 1h, paused")
		s.Golden("panel-schedules-120")
		s.Type("p")
		s.See("Resumed docs, due ", "Active 4 · Paused 1")
		s.Type("x")
		s.See("Remove docs?")
		s.Type("c")
		s.Gone("Remove docs?")
		s.Type("xr")
		s.See("Removed docs", "Active 3 · Paused 1")
		s.Type("3")
		s.See("[Ended]", "reminder-2, a reminder")
		s.NotSee("tests")
		s.Press("down")
		s.See("docs, a task", "ended   you removed it")
		s.Type("p")
		s.See("docs has ended: you removed it")
		s.Type("/tea")
		s.Gone("docs")
		s.See("tea")
		s.Press("esc")
		s.See("docs")
		s.Type("0?")
		s.See("pause or resume")
		s.NotSee("preview alone")
		s.Press("esc")
		for _, size := range [][2]int{{80, 24}, {40, 12}} {
			s.Resize(size[0], size[1])
			s.Golden(fmt.Sprintf("panel-schedules-%d", size[0]))
		}
		s.Press("f4")
		s.See("Queue · aide")
		s.Press("f6")
		s.See("Schedules")
		s.Press("f3")
		s.See("Inbox · aide")
		s.Press("f6", "f6")
		s.See("half a draft")
	})
}

// TestSchedulesPanel_many: of those that ended only a window is read, which follows the bar.
func TestSchedulesPanel_many(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{W: 120, H: 24}, func(t *testing.T, s *uitest.Session) {
		s.Enter("/remind name=oven 30m the oven")
		s.See("Reminder oven")
		for i := range 700 {
			name := fmt.Sprintf("r%d", i)
			if _, err := s.Pool.Schedule.Add(t.Context(), schedule.Order{Name: name, Owner: 1, Origin: schedule.Human, Kind: schedule.Reminder, Text: "x", When: schedule.After(time.Hour)}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Pool.Schedule.Remove(t.Context(), name, 0, "gone"); err != nil {
				t.Fatal(err)
			}
		}
		s.Press("f6")
		s.See("⏲ oven", "⏲ r699", "⏲ r690", "[All] · Active 1")
		s.Type("G")
		s.See("⏲ r0 ", "r0, a reminder")
		for range 20 {
			s.Press("ctrl+u")
		}
		s.See("r340, a reminder")
		s.Type("g")
		s.See("⏲ oven", "⏲ r699")
		for range 60 {
			s.Press("ctrl+d")
		}
		s.See("r0, a reminder")
		s.Type("2")
		s.See("[Paused 0]", "Nothing here. 0 to show all.")
	})
}
