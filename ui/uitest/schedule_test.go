package uitest_test

import (
	"testing"
	"time"

	"fantail/ui/uitest"
)

// TestRemind: a reminder is scheduled, counted, there after a restart, told of by the digest if it fired while nobody was
// there, and enters with the human's next message.
//
// Spec: O-4, O-40, R-3.
func TestRemind(t *testing.T) {
	attend(t, uitest.Options{W: 120, H: 24}, func(t *testing.T, s *uitest.Session) {
		s.Enter("/remind 30m commit your work")
		s.See("Reminder reminder-1: in 30m, due ", "⏲ 1")
		s.Enter("/remind soon tea")
		s.See("/remind: say when: 30m, 14:00,", "it is /remind [--priority=P]")
		s.Enter("remind me in 2h: stretch")
		s.See("Scheduled task 'reminder-2': fires once in 7200s.", "⏲ 2")
		s.Enter("/remind 3d milk")
		s.See("more than a day away", "fires at the next start")
		s.Wait(30 * time.Minute)
		s.See("1 pending", "⏲ 2")
		s.NotSee("commit your work (late")
		home := s.Home
		s.Stop()
		s.Wait(10 * time.Hour)
		s = uitest.Start(t, uitest.Options{W: 120, H: 24, Home: home})
		s.See("2 pending", "⏲ 1", "Since you were last here", "reminder    commit your work", "reminder    stretch (late: it was due")
		s.Enter("say hello")
		s.See("from reminder-1 · reminder: commit your work", "hello")
		s.See("⏲ 1")
		s.Stop()
	})
}

// TestSchedule: what is scheduled is listed, paused, resumed, fired and removed by its name.
func TestSchedule(t *testing.T) {
	attend(t, uitest.Options{W: 120, H: 36}, func(t *testing.T, s *uitest.Session) {
		s.Enter("/schedule")
		s.See("Nothing is scheduled. /remind 30m TEXT reminds you")
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
		s.See("show needs the name of a schedule; it is /schedule")
		s.Enter(`/watch 5m until green look`)
		s.See("say until when, in quotes")
	})
}
