package crashtest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/llm/builtin"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/inbox/policy"
)

// forks is a life in which mail comes all the time and is handled by forks. It says
// what was acknowledged.
func forks(t *testing.T, dir, _ string) {
	w := agentstest.Open(t, builtin.New(), agentstest.Setting{Dir: dir, Cap: 3})
	fmt.Println("READY")
	_, err := w.Pool.Mail.Override(t.Context(), w.Main(), func(o *policy.Overrides) { o.Mode = policy.Fork })
	agentstest.Check(t, err)
	for n := 0; ; n++ {
		sent, err := w.Pool.Door.Mail(t.Context(), mail.OutsideDeposit{To: []string{"main"}, Body: fmt.Sprint("note ", n)})
		agentstest.Check(t, err)
		fmt.Println("sent", sent[0].ID)
		if n%8 == 7 { // fewer than there may be forks
			w.Settle()
		}
	}
}

// TestKill_duringForks kills the program at random points while forks handle mail: a
// message waits for its recipient, or one fork took it; a fork that did not come to
// its end left exactly one failure, and no other did.
// Spec: E-1, E-2, E-30, R-46.
func TestKill_duringForks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sent := map[int64]bool{}
	kills := long.Times(4, 25)
	for life := range kills {
		at := time.Duration(rand.IntN(150)) * time.Millisecond
		var due <-chan time.Time
		if !agentstest.Lived(t, "forks", dir, life, func(line string) bool {
			var word string
			var id int64
			switch _, _ = fmt.Sscan(line, &word, &id); word {
			case "READY":
				due = time.After(at)
			case "sent":
				sent[id] = true
			default:
				t.Errorf("life %d said %q", life, line)
			}
			select {
			case <-due:
				return true
			default:
				return false
			}
		}) {
			t.Fatalf("life %d ended by itself", life)
		}
	}
	w := agentstest.Open(t, builtin.New(), agentstest.Setting{Dir: dir})
	_, err := w.Pool.Mail.Override(t.Context(), w.Main(), func(o *policy.Overrides) { o.Mode = "" })
	agentstest.Check(t, err)
	agentstest.Check(t, w.Pool.Settled(t.Context()))
	ms, err := w.Pool.Letters.Look(t.Context(), w.Main(), inbox.Query{}, true)
	agentstest.Check(t, err)
	failures, crashed, pending := map[int64]int{}, 0, 0
	for _, m := range ms {
		if m.Kind == inbox.Failure {
			failures[m.InReplyTo]++
		}
	}
	by := map[string]bool{}
	for _, m := range ms {
		delete(sent, m.ID)
		fork, taken := m.Handler()
		switch {
		case m.Kind == inbox.Failure:
			continue
		case !taken && (!m.Taken.IsZero() || failures[m.ID] > 0):
			t.Errorf("message %d: %s, %d failures", m.ID, m.Fate(), failures[m.ID])
		case !taken:
			pending++
			continue
		case by[fork]:
			t.Errorf("%s took two", fork)
		}
		by[fork] = true
		handler, err := w.Pool.Letters.Whose(t.Context(), fork)
		agentstest.Check(t, err)
		want := 0
		if handler.State != event.Done {
			want, crashed = 1, crashed+1
		}
		if failures[m.ID] != want {
			t.Errorf("message %d, which %s (%s) took, has %d failures", m.ID, fork, handler.State, failures[m.ID])
		}
	}
	if len(sent) > 0 {
		t.Errorf("lost: %v", sent)
	}
	w.Balanced()
	t.Logf("%d kills; %d messages handled, %d of them cut; %d wait", kills, len(by), crashed, pending)
	if long.Wanted() && (crashed == 0 || len(by) == crashed) { // a few kills may all come late, or early
		t.Error("no fork was cut, or all were")
	}
}
