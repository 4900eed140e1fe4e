package agents_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/tools/permission"
)

// Humans at several screens answer the same question at once: one answer is carried out and is the only row of the
// audit; who was too late hears who was first, and what they said.
func TestAsks_severalScreens(t *testing.T) {
	t.Parallel()
	const rounds, screens = 20, 6
	w := open(t, &model{Reply: asking}, setting{Mode: permission.Ask})
	for round := range rounds {
		file := fmt.Sprintf("made-%d", round)
		w.Prompt("run " + file)
		q := w.asks("main")
		seen := len(w.audited(""))
		start := make(chan struct{})
		errs := make([]error, screens)
		var all sync.WaitGroup
		for n := range screens {
			all.Add(1)
			go func() {
				defer all.Done()
				ans := event.Answer{Choice: permission.Once, By: "somebody else"}
				if n%2 == 0 {
					ans = event.Answer{Choice: permission.No, Reason: "not on Fridays"}
				}
				<-start
				errs[n] = w.Pool.Asks.Answer(audit.As(t.Context(), fmt.Sprintf("screen %d", n)), q.ID, ans)
			}()
		}
		close(start)
		all.Wait()
		w.Settle()
		winner := -1
		for n, err := range errs {
			if err == nil && winner >= 0 {
				t.Fatalf("round %d: screens %d and %d were both first", round, winner, n)
			}
			if err == nil {
				winner = n
			}
		}
		if winner < 0 {
			t.Fatalf("round %d: nobody was first: %v", round, errs)
		}
		said, ran := "yes", 1
		if winner%2 == 0 {
			said, ran = "no: not on Fridays", 0
		}
		for n, err := range errs {
			if n != winner && (!errors.Is(err, event.ErrAnswered) ||
				!strings.HasPrefix(err.Error(), fmt.Sprintf("it was answered already: %s, by screen %d, ", said, winner))) {
				t.Errorf("round %d: screen %d hears %v; screen %d was first", round, n, err, winner)
			}
		}
		if got := w.ran(file); got != ran {
			t.Errorf("round %d: it ran %d times after %q", round, got, said)
		}
		answers, by := 0, fmt.Sprintf("screen %d: %s |", winner, said)
		for _, line := range w.audited("")[seen:] {
			if strings.Contains(line, "main answer ") {
				answers++
			}
			if strings.Contains(line, "main answer ") && !strings.Contains(line, by) {
				t.Errorf("round %d: %s; want by %q", round, line, by)
			}
		}
		if answers != 1 {
			t.Errorf("round %d: %d answers stand in the audit: %q", round, answers, w.audited("")[seen:])
		}
	}
}

// What is done at a screen is that screen's: modes, commands and rules taken back too.
func TestAudit_whichScreen(t *testing.T) {
	w := open(t, &model{Reply: asking}, setting{Mode: permission.Ask})
	at := audit.As(t.Context(), "the user, on pts/3")
	check(t, w.Pool.SetMode(at, permission.Plan))
	check(t, w.Pool.Shell(at, w.Main(), "true"))
	w.Settle()
	w.wantAudit("", `mode {"mode":"plan","was":"ask"} | the user, on pts/3 |`, `main shell bash {"command":"true"} | allowed the user, on pts/3 | ok`)
}

// The first row of each host's says with which mode its agents began and why; one that leaves no row says nothing.
func TestAudit_beginsWithTheMode(t *testing.T) {
	rows := func(w *world) (modes []string) {
		t.Helper()
		rs, err := w.Pool.Audit.Records(t.Context(), audit.Wanted{Limit: 1000})
		check(t, err)
		for _, r := range rs {
			if r.What == audit.Mode {
				modes = append(modes, fmt.Sprintf("%d %s %s", r.Row, r.Args, r.By))
			}
		}
		return modes
	}
	want := func(w *world, want ...string) {
		t.Helper()
		if got := rows(w); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the modes of the audit are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	w := open(t, &model{Reply: asking}, setting{Mode: permission.Ask, Moded: "nobody says another"})
	want(w)
	check(t, w.Pool.Shell(t.Context(), w.Main(), "true"))
	check(t, w.Pool.Shell(t.Context(), w.Main(), "true"))
	first := `2 {"mode":"ask"} nobody says another`
	want(w, first)
	check(t, w.Pool.SetMode(t.Context(), permission.Yolo))
	second := `5 {"mode":"yolo","was":"ask"} the user, on a screen`
	want(w, first, second)
	w.Close()
	w = open(t, &model{Reply: asking}, setting{Dir: w.Dir, Mode: permission.Plan, Moded: "a flag"})
	check(t, w.Pool.SetMode(t.Context(), permission.Ask))
	want(w, first, second, `6 {"mode":"plan"} a flag`, `7 {"mode":"ask","was":"plan"} the user, on a screen`)
	w.audited("")
}
