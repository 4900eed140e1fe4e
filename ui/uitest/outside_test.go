package uitest_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"

	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools/permission"
	"fantail/ui/uitest"
)

// beside does something at the door while no program runs in that workspace.
func beside(t *testing.T, home *uitest.Home, f func(d *mail.Client) error) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(home.Data, "fantail.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f(&mail.Client{DB: db, Origin: tasks.OriginCLI, Model: "builtin", Ring: func() {}}); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFromOutside: what came while no program ran is counted, marked as from
// outside wherever it shows, and asks in yolo mode too.
//
// Spec, M-23, M-25, R-32.
func TestFromOutside(t *testing.T) {
	t.Parallel()
	for _, w := range []int{120, 40} {
		synctest.Test(t, func(t *testing.T) {
			s := uitest.Start(t, uitest.Options{})
			s.See("[Agent: main]")
			home := s.Home
			s.Enter("/quit")
			s.Left()
			s.Stop()
			beside(t, home, func(d *mail.Client) error {
				_, err := d.Mail(t.Context(), mail.OutsideDeposit{To: []string{"main"}, Body: "Three tests of the parser fail.", Priority: inbox.Urgent, Tags: []string{"ci"}})
				if err == nil {
					_, err = d.Push(t.Context(), mail.OutsideOrder{Name: "docs", Prompt: "run touch made"})
				}
				return err
			})
			s = uitest.Start(t, uitest.Options{Home: home, W: w, H: 24, Mode: permission.Yolo})
			if s.See("🔴"); w > 40 {
				s.See("🔴 urgent · 📨 1 pending")
			}
			s.Enter("/check")
			s.See("✉ from outside", "external", "Three tests of the parser fail.")
			s.Enter("/queue")
			s.See("docs (from outside: cli)")
			s.Enter("/run")
			s.See("Not started", "docs: run touch made")
			s.Enter("/run")
			s.See("From outside, and asking before all", "docs: run touch made")
			s.Golden(fmt.Sprintf("outside-%d", w))
			s.Press("alt+2")
			s.See("docs wants to run a command", "from outside (cli)")
			s.Golden(fmt.Sprintf("outside-task-%d", w))
			s.Wait(firstSecond)
			s.Press("y")
			s.See("2 steps")
			s.Wait(firstSecond)
			s.Press("4")
			s.See("begun from outside")
			s.Press("1")
			s.See("▌ from outside: asks before all but", "run touch made")
			s.Press("y")
			s.See("copied")
		})
	}
}
