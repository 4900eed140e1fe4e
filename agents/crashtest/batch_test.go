package crashtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"fantail/.ci/long"
	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/inbox"
)

// mailing is a model that asks for a batch of tools with receive in its middle.
func mailing(_ context.Context, req *llm.Request) ([]llm.Part, error) {
	if agentstest.Asked(req) != "go" || len(agentstest.Results(req)) > 0 {
		return agentstest.Text("ok"), nil
	}
	parts := agentstest.Text("I look.")
	for i, c := range []string{"list_files", "receive", "queue", "receive", "list_files"} {
		parts = append(parts, agentstest.Call(fmt.Sprint("c", i), c, `{}`)...)
	}
	return parts, nil
}

// batch carries out such a batch and dies by its own hand after the statement
// whose number it was given.
func batch(t *testing.T, dir, argument string) {
	var armed atomic.Bool
	var after int64
	_, err := fmt.Sscan(argument, &after)
	agentstest.Check(t, err)
	var ran atomic.Int64
	w := agentstest.Open(t, &agentstest.Model{Reply: mailing}, agentstest.Setting{Dir: dir, Trace: func(string) {
		if armed.Load() && ran.Add(1) == after {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}})
	for i := range 3 {
		_, err := inbox.New(w.DB, nil).Deposit(t.Context(), inbox.Message{
			Recipient: w.Main(), From: "outside", Deliver: inbox.Hold, Body: fmt.Sprint("note ", i),
		})
		agentstest.Check(t, err)
	}
	armed.Store(true)
	w.Prompt("go")
	w.Settle()
	fmt.Println("ran", ran.Load())
}

// TestKill_inABatchThatTakes: after whichever statement the program dies in a
// batch of tools that takes mail, each message is pending or stands in exactly
// one entry, in order, and the history that is left makes a valid request.
// Spec: E-2, E-3, O-11, N-19.
func TestKill_inABatchThatTakes(t *testing.T) {
	t.Parallel()
	all := 0
	agentstest.Lived(t, "batch", t.TempDir(), 0, func(line string) bool {
		_, err := fmt.Sscanf(line, "ran %d", &all)
		return err == nil
	})
	if all < 20 {
		t.Fatalf("the batch has only %d statements", all)
	}
	tried := rand.Perm(all)[:min(all, long.Times(4, 1000))]
	for _, before := range tried {
		after, dir := before+1, t.TempDir()
		if !agentstest.Lived(t, "batch", dir, after, func(string) bool { return false }) {
			continue // it had fewer statements this time
		}
		m := &agentstest.Model{Reply: mailing}
		w := agentstest.Open(t, m, agentstest.Setting{Dir: dir})
		l, err := w.Pool.Records.Balance(t.Context())
		agentstest.Check(t, err)
		ms, err := w.Pool.Letters.Inbox(t.Context(), w.Main())
		agentstest.Check(t, err)
		if l.Taken+len(ms) != 3 || len(l.Wrong) > 0 {
			t.Errorf("after statement %d: %s", after, l)
		}
		var got []string
		for _, e := range w.Entries("main") {
			for _, m := range e.Messages {
				got = append(got, m.Body)
			}
		}
		for _, m := range ms {
			got = append(got, m.Body)
		}
		if strings.Join(got, " ") != "note 0 note 1 note 2" {
			t.Errorf("after statement %d: %q", after, got)
		}
		w.Prompt("more")
		w.Settle()
		for _, req := range m.Seen() {
			if err := agentstest.Valid(req.Messages); err != nil {
				t.Errorf("after statement %d: %v", after, err)
			}
		}
		w.State("main", event.Idle)
		w.Close()
	}
	t.Logf("after %d of %d statements", len(tried), all)
}
