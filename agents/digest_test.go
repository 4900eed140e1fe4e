package agents_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/ledger"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/inbox"
)

// TestDigest_rows: what ended since a time is told by name and fate, what waits is
// told while it waits, and the time is kept over a restart.
//
// Spec: M-28, M-29.
func TestDigest_rows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}
		w := open(t, m, setting{})
		defer w.close()
		digest := func(since time.Time) ledger.Digest {
			t.Helper()
			d, err := w.pool.Ledger.Digest(t.Context(), since)
			check(t, err)
			return d
		}
		if d := digest(time.Time{}); !d.Since.IsZero() || !d.Empty() {
			t.Errorf("at the very first start: %+v", d)
		}
		began := time.Now()
		check(t, w.pool.Ledger.Seen(t.Context(), began))
		time.Sleep(time.Second)
		if d := digest(time.Time{}); !d.Since.Equal(began.Truncate(time.Millisecond)) || !d.Empty() {
			t.Errorf("nothing happened: %+v", d)
		}
		w.prompt("hello")
		w.push("lint", "look")
		w.run(0)
		w.settle()
		_, err := w.pool.Letters.Mail(t.Context(), w.main(), mail.Letter{To: []string{"main"}, Body: "stop", Priority: inbox.Urgent})
		check(t, err)
		_, err = w.pool.Letters.Mail(t.Context(), w.main(), mail.Letter{To: []string{"main"}, Body: "patterns"})
		check(t, err)
		d := digest(time.Time{})
		if fmt.Sprint(d.Finished, d.Failed, d.Cut, d.Mail, d.Letters) != "[lint] [] [] [main] 1" {
			t.Errorf("it tells %+v", d)
		}
		if len(d.Needs) != 1 || d.Needs[0].Body != "stop" || !d.Fresh[w.main()] {
			t.Errorf("it tells %+v", d)
		}
		if d := digest(time.Now().Add(time.Second)); !d.Empty() || len(d.Needs) != 1 || d.Letters != 0 {
			t.Errorf("later it tells %+v", d)
		}
		ms, err := w.pool.Ledger.Urgent(t.Context())
		check(t, err)
		if len(ms) != 1 || ms[0].Body != "stop" {
			t.Fatalf("urgent are %+v", ms)
		}
		check(t, w.pool.Letters.Dismiss(t.Context(), w.main(), ms[0].ID))
		if ms, err := w.pool.Ledger.Urgent(t.Context()); err != nil || len(ms) != 0 || w.info("main").Urgent != 1 {
			t.Errorf("%v, urgent are %+v, %d are counted", err, ms, w.info("main").Urgent)
		}
	})
}
