package agents_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// TestPool_recorded: what agents that end with their turn leave in the database is, byte for byte, what it was before
// there were others. FANTAIL_TEST_UPDATE=1 records it anew.
// Spec: C-10.
func TestPool_recorded(t *testing.T) {
	var got string
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: recorded}, setting{})
		w.Settle() // the first look at all mail must not come upon a result, as main would look whether it starts a turn
		do := func(what string) {
			w.Push("", what)
			w.Consent(0)
			w.Settle()
		}
		do("say: a plain answer")
		do("fail: the model refuses")
		do("step: a tool, then an answer")
		do("send: mail to main")
		do("delegate: sync")
		do("push: a child that reports while it waits")
		w.Push("told", "hold: until it is told")
		w.Run(0)
		w.Until("it streams", func() bool { return w.Info("told").Doing == "streaming" })
		check(t, w.Pool.Tell(context.Background(), "told", "go: on"))
		check(t, w.Pool.WrapUp(context.Background(), "told"))
		w.Settle()
		w.Push("killed", "hold: until it is killed")
		w.Run(0)
		w.Until("it streams", func() bool { return w.Info("killed").Doing == "streaming" })
		check(t, w.Pool.Kill(context.Background(), "killed", false))
		_, err := w.Pool.Tasks.Push(context.Background(), w.Main(), tools.Task{Name: "killed", Prompt: "say: resumed", Resume: true, Start: true})
		check(t, err)
		w.Settle()
		_, _, err = w.Pool.Tasks.Retry(context.Background(), w.Main(), "told", "with a hint")
		check(t, err)
		w.Until("it is queued", func() bool { return w.Tally.Queued == 1 })
		check(t, w.Pool.Tasks.Remove(context.Background(), "told"))
		_, _, err = w.Pool.Pickup.Check(context.Background(), w.Main(), inbox.Query{})
		check(t, err)
		got = w.rows()
	})
	golden := filepath.Join("testdata", "recorded.golden")
	if os.Getenv("FANTAIL_TEST_UPDATE") != "" {
		check(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	check(t, err)
	if got != string(want) {
		a, b := strings.Split(string(want), "\n"), strings.Split(got, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				at := 0
				for at < min(len(a[i]), len(b[i])) && a[i][at] == b[i][at] {
					at++
				}
				at = max(0, at-200)
				t.Fatalf("row %d was\n…%s\nand is\n…%s", i, a[i][at:], b[i][at:])
			}
		}
		t.Fatalf("%d rows, there were %d", len(b), len(a))
	}
}

// recorded is a model that does what the word before the colon says.
func recorded(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
	word, _, _ := strings.Cut(asked(req), ":")
	done := len(results(req)) > 0
	switch {
	case word == "fail":
		return text("so far"), &llm.Error{Kind: llm.BadRequest, Provider: "test", Message: "it will not do"}
	case word == "hold":
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
		return text("held"), nil
	case word == "step" && !done:
		return call("c", "glob", `{"pattern":"*.go"}`), nil
	case word == "send" && !done:
		return call("c", "send", `{"to":"main","message":"hello"}`), nil
	case word == "delegate" && !done:
		return call("c", "delegate", `{"prompt":"say: a child","mode":"sync","name":"child"}`), nil
	case word == "push" && !done:
		return call("c", "push", `{"name":"kid","prompt":"hold: a kid","start":true}`), nil
	}
	return text("said by " + word), nil
}

// rows returns what the database says of everything agents did, a row in a line; not in which order those that work at
// once wrote.
func (w *world) rows() string {
	w.T.Helper()
	var b strings.Builder
	check(w.T, w.DB.Read(context.Background(), func(rx *store.Rx) error {
		as, err := rx.Agents()
		if err != nil {
			return err
		}
		for _, a := range as {
			fmt.Fprintln(&b, "agent", a.ID, a.Name, a.Kind, a.Trust, a.Parent, a.Task, a.Model, a.State, a.Created, a.Ended)
			es, err := rx.EntriesAfter(a.ID, 0, 0)
			if err != nil {
				return err
			}
			for _, e := range es {
				fmt.Fprintln(&b, "entry", e.Turn, e.Kind, e.Data, e.Created)
			}
			us, err := rx.Turns(a.ID)
			if err != nil {
				return err
			}
			for _, u := range us {
				fmt.Fprintln(&b, "turn", u.ID, u.Parent, u.Conversation, u.SpawnedBy, u.Kind, u.Outcome, u.Error, u.Steps,
					u.Started, u.Ended)
			}
			ts, err := rx.Tasks(a.ID)
			if err != nil {
				return err
			}
			for _, t := range ts {
				fmt.Fprintln(&b, "task", t.ID, t.Name, t.Prompt, t.Kind, t.Deliver, t.Timeout, t.State, t.Outcome, t.Error,
					t.Agent, t.Resumes, t.Started, t.Finished)
			}
		}
		for id, ok := int64(1), true; ok; id++ {
			var m inbox.Message
			if m, ok, err = inbox.Find(&rx.View, id); err != nil {
				return err
			}
			if ok {
				fmt.Fprintln(&b, "message", m.ID, m.Recipient, m.Sender, m.From, m.Kind, m.Deliver, m.Subject, m.Body, m.Outcome,
					m.Error, m.Partial, m.Task, m.Created, m.Taken, m.TakenBy, m.Entry != 0)
			}
		}
		return nil
	}))
	return marks.ReplaceAllString(b.String(), "mark")
}

// marks are what envelopes are told by, which nobody can foresee.
var marks = regexp.MustCompile(`mark=\\"[a-z0-9]+\\"`)
