package uitest_test

import (
	_ "embed"
	"strings"
	"testing"
	"time"

	"fantail/store"
	"fantail/ui/uitest"
)

//go:embed testdata/confirm.sql
var forged string

// TestConfirm: a workspace in which all is as the human made it has nothing to confirm. What an older version or another
// program wrote shows as held, and /confirm asks about all of it or each: a yes has it go on, a no deletes it, and neither a
// stray key nor leaving decides.
func TestConfirm(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{W: 120, H: 40}, func(t *testing.T, s *uitest.Session) {
		s.Enter("/confirm")
		s.See("Nothing to confirm: all schedules, checks and rules are as you made them.")
		s.Enter("/schedule name=mine every 1h !make mine")
		s.Enter("/schedule name=tests every 10m !make test")
		s.See("Scheduled tests")
		s.Enter("/checks add lint make lint")
		s.See("Added: lint: make lint")
		s.Enter("/confirm")
		s.Until("it says twice that nothing waits", func() bool {
			return strings.Count(s.Screen(), "Nothing to confirm: all schedules, checks and rules are as you made them.") == 2
		})
		if err := s.Pool.Schedule.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Pool.Rows.DB.Write(t.Context(), "another program", func(tx *store.Tx) error {
			for q := range strings.Lines(forged) {
				if _, err := tx.Exec(q); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := s.Pool.Schedule.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Wait(time.Second) // the screen has heard of it
		s.Enter("/schedule")
		s.See("tests held")
		s.Press("esc")
		s.Enter("/schedule show tests")
		s.See("every 10m, held: /confirm", "an older version or another program made it. It starts nothing until you confirm it (/confirm)")
		s.Enter("/schedule resume tests")
		s.See("it waits for your yes on a screen (/confirm)")
		s.Press("f6")
		s.See("Active 1 · Paused 1", "tests held")
		s.Press("esc")
		s.Enter("/checks run lint")
		s.See("check lint is of an older version, or another program wrote it")
		s.Enter("/confirm x")
		s.See("nexpected \"x\"")
		s.Enter("/confirm")
		s.See("Keep these?", "1. schedule tests", "!make evil", "     2. schedule mine", "2. rule bash(make all)", "3. check lint", "make worse", "decide about check lint")
		s.NotSee("1. schedule mine")
		s.Golden("confirm-120")
		s.Press("l")
		s.Gone("Keep these?")
		s.Enter("/confirm")
		s.See("Keep these?")
		s.Press("esc")
		s.Gone("Keep these?")
		s.Enter("/confirm")
		s.See("Keep these?")
		s.Press("pgdown")
		s.Press("1")
		s.Gone("decide about check lint")
		s.See("Keep these?", "1. schedule tests", "no, delete it")
		s.NotSee("make worse")
		s.Press("n")
		s.See("Deleted: 1")
		s.Enter("/schedule show tests")
		s.See("you did not confirm it")
		s.Enter("/confirm")
		s.See("1. rule bash(make all)", "2. check lint")
		s.Press("pgdown")
		s.Press("y")
		s.See("Confirmed: 2; a change by another program asks again")
		s.Enter("/confirm")
		s.See("Nothing to confirm: all schedules, checks and rules are as you made them.")
	})
}
