package agents_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/agents/schedule"
	"fantail/inbox"
)

// TestDigest_rows: what ended since a time is told by name and fate, what waits is
// told while it waits, and the time is kept over a restart.
//
// Spec: M-28, M-29.
func TestDigest_rows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}
		w := open(t, m, setting{})
		defer w.Close()
		digest := func(since time.Time) agents.Digest {
			t.Helper()
			d, err := w.Pool.Records.Digest(t.Context(), since)
			check(t, err)
			return d
		}
		if d := digest(time.Time{}); !d.Since.IsZero() || !d.Empty() {
			t.Errorf("at the very first start: %+v", d)
		}
		began := time.Now()
		check(t, w.Pool.Records.Seen(t.Context(), began))
		time.Sleep(time.Second)
		if d := digest(time.Time{}); !d.Since.Equal(began.Truncate(time.Millisecond)) || !d.Empty() {
			t.Errorf("nothing happened: %+v", d)
		}
		w.Prompt("hello")
		w.Push("lint", "look")
		w.Run(0)
		w.Settle()
		_, err := w.Pool.Letters.Mail(t.Context(), w.Main(), mail.Letter{To: []string{"main"}, Body: "stop", Priority: inbox.Urgent})
		check(t, err)
		_, err = w.Pool.Letters.Mail(t.Context(), w.Main(), mail.Letter{To: []string{"main"}, Body: "patterns"})
		check(t, err)
		d := digest(time.Time{})
		if fmt.Sprint(d.Finished, d.Failed, d.Cut, d.Mail, d.Letters) != "[lint] [] [] [main] 1" {
			t.Errorf("it tells %+v", d)
		}
		if len(d.Needs) != 1 || d.Needs[0].Body != "stop" || !d.Fresh[w.Main()] {
			t.Errorf("it tells %+v", d)
		}
		if d := digest(time.Now().Add(time.Second)); !d.Empty() || len(d.Needs) != 1 || d.Letters != 0 {
			t.Errorf("later it tells %+v", d)
		}
		ms, err := w.Pool.Records.Urgent(t.Context())
		check(t, err)
		if len(ms) != 1 || ms[0].Body != "stop" {
			t.Fatalf("urgent are %+v", ms)
		}
		check(t, w.Pool.Letters.Dismiss(t.Context(), w.Main(), ms[0].ID))
		if ms, err := w.Pool.Records.Urgent(t.Context()); err != nil || len(ms) != 0 || w.Info("main").Urgent != 1 {
			t.Errorf("%v, urgent are %+v, %d are counted", err, ms, w.Info("main").Urgent)
		}
	})
}

// TestDigest_scheduled: a scheduled command is told of where it reported something; the runs whose outcome stayed the
// same are counted, and take no room of what else finished.
func TestDigest_scheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}
		w := open(t, m, setting{})
		defer w.Close()
		began := time.Now()
		w.plan(schedule.Order{Name: "ci", Kind: schedule.Command, Sandbox: schedule.NoSandbox}, "every 10m test -e red && exit 1; true")
		w.Push("lint", "look")
		w.Run(0)
		times := func(n int) {
			t.Helper()
			time.Sleep(time.Duration(n) * 10 * time.Minute)
			synctest.Wait()
			w.Settle()
		}
		digest := func(since time.Time, want string) {
			t.Helper()
			d, err := w.Pool.Records.Digest(t.Context(), since)
			check(t, err)
			if got := fmt.Sprint(d.Finished, d.Failed, d.Cut, len(d.Due), d.Silent); got != want {
				t.Errorf("it tells %s, want %s", got, want)
			}
		}
		time.Sleep(time.Minute) // from now on it is looked at between two runs
		times(4)
		digest(began, "[lint ci] [] [] 1 3")
		later := time.Now()
		times(2)
		digest(later, "[] [] [] 0 2")
		if d, err := w.Pool.Records.Digest(t.Context(), later); err != nil || !d.Empty() {
			t.Errorf("runs without news are worth a digest: %+v, %v", d, err)
		}
		check(t, os.WriteFile(filepath.Join(w.Dir, "red"), nil, 0o600))
		times(3)
		digest(later, "[] [ci] [] 1 4")
	})
}
