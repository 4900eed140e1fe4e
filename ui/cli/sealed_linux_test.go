package cli_test

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/store"
)

//go:embed testdata/sealed.sql
var byHand string

// byHand is another program that writes to the database of the site.
func (s *site) byHand(t *testing.T, statements string) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(s.dataFor(t, s.dir), "fantail.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Write(t.Context(), "another program", func(tx *store.Tx) error {
		for s := range strings.Lines(statements) {
			if _, err := tx.Exec(s); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// What another program wrote starts and allows nothing in a host that no screen is attached to, also where it was due; a prompt
// without a screen and the list at a shell say so, the next screen does, and a yes on it has it hold.
func TestSealed_withoutAScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one := open(t, s.command())
	one.until(t, home, ready)
	one.typed(t, "/schedule name=mine every 10h !echo mine\r")
	one.until(t, "Scheduled mine", "⏲ 1")
	s.closes(t, one)
	if _, errs, code := s.run(t, "", "host", "stop", "--now"); code != ok {
		t.Fatal(errs)
	}
	s.byHand(t, byHand)
	out, errs, _ := s.run(t, "", "-p", "run touch evil")
	if !strings.Contains(errs, "1 schedule, 1 rule") || !strings.Contains(errs, "/confirm") || !strings.Contains(errs, "nobody is here to be asked") {
		t.Errorf("a prompt says %q, %q", out, errs)
	}
	if out, errs, code := s.run(t, "", "schedule"); code != ok || !strings.Contains(out, "held: /confirm") {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	if out, errs, code := s.run(t, "", "schedule", "resume", "mine"); code == ok || !strings.Contains(errs, "it waits for your yes") {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	two := open(t, s.command())
	two.until(t, home, ready, "1 schedule, 1 rule", "/confirm")
	if _, err := os.Lstat(filepath.Join(s.dir, "evil")); err == nil {
		t.Error("it ran before the yes")
	}
	two.typed(t, "/confirm\r")
	two.until(t, "Keep these?", "touch evil", "sandbox=off", "it runs as you", "rule bash(touch evil)")
	two.typed(t, "y")
	two.until(t, "Confirmed: 2")
	two.typed(t, "/confirm\r")
	two.until(t, "Nothing to confirm: all schedules, checks and rules are as you made them.")
	two.typed(t, "/schedule run mine\r")
	holds(t, "what holds runs", func() bool { _, err := os.Lstat(filepath.Join(s.dir, "evil")); return err == nil })
	s.closes(t, two)
}
