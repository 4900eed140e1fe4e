package agents_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/agents/tasks"
	"fantail/inbox"
)

// bosses is a model whose agents push what their prompt names, and then end,
// fail or go on until they are stopped.
func bosses(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
	prompt := asked(req)
	if len(results(req)) == 0 {
		switch {
		case strings.HasPrefix(prompt, "leaves"):
			return call("p", "push", `{"name":"left","prompt":"quick"}`), nil
		case strings.HasPrefix(prompt, "over"):
			return call("p", "push", `{"name":"lead","prompt":"starts kid","start":true}`), nil
		case strings.HasPrefix(prompt, "starts"):
			return call("p", "push", `{"name":"kid","prompt":"endless","start":true}`), nil
		}
	}
	if strings.HasSuffix(prompt, "less") {
		<-ctx.Done()
	}
	return text("said by " + prompt), nil
}

// queued lists main's queue.
func (w *world) queued() string {
	w.T.Helper()
	l, err := w.Pool.Queue(w.T.Context(), w.Main())
	check(w.T, err)
	return tasks.QueueText(l, time.Now(), 0)
}

// TestPass_whatIsNotStarted: tasks of an agent that ends, however it ends, pass to
// who dispatched it, who can start them and gets their results.
func TestPass_whatIsNotStarted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prompt string
		waits  bool
		end    func(w *world) *world
	}{
		"ended": {"leaves", false, func(w *world) *world {
			w.Settle()
			return w
		}},
		"killed": {"leaves endless", false, func(w *world) *world {
			w.Until("left is queued", func() bool { return w.Tally.Queued == 1 && w.Info("boss").Doing == "streaming" })
			check(w.T, w.Pool.Kill(w.T.Context(), "boss", false))
			return w
		}},
		"tab closed": {"leaves", false, func(w *world) *world {
			w.Settle()
			check(w.T, w.Pool.CloseTab(w.T.Context(), "boss"))
			w.Close()
			return open(w.T, &model{Reply: bosses}, setting{Dir: w.Dir})
		}},
		"crashed": {"leaves endless", true, func(w *world) *world {
			w.Until("left is queued", func() bool { return w.Tally.Queued == 1 && w.Info("boss").Doing == "streaming" })
			w.fault("ends")
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			check(w.T, w.Pool.Close(ctx))
			w.fault("none")
			w.Close()
			return open(w.T, &model{Reply: bosses}, setting{Dir: w.Dir})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, &model{Reply: bosses}, setting{})
			w.Push("boss", c.prompt)
			w.Run(0)
			w = c.end(w)
			if got := w.queued(); c.waits && !strings.Contains(got, "Queued:\n  - left") {
				t.Errorf("main's queue:\n%s", got)
			}
			w.Consent(0) // or main's window was open
			w.Settle()
			if got := w.queued(); !strings.Contains(got, "left (completed") {
				t.Errorf("main's queue:\n%s", got)
			}
			ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{From: "left"})
			check(t, err)
			if len(ms) != 1 || ms[0].Body != "said by quick" {
				t.Errorf("messages of left: %+v", ms)
			}
		})
	}
}

// TestPass_whatRuns: the result of work whose dispatcher was killed goes to the
// nearest agent above that lives, though the tab between them is closed.
func TestPass_whatRuns(t *testing.T) {
	w := open(t, &model{Reply: bosses}, setting{})
	w.Push("boss", "over all endless")
	w.Run(0)
	w.Until("kid runs", func() bool { return w.Info("kid").Doing == "streaming" })
	w.State("lead", event.Waiting)
	check(t, w.Pool.Kill(t.Context(), "lead", false))
	check(t, w.Pool.CloseTab(t.Context(), "lead"))
	boss := w.Info("boss").ID
	check(t, w.Pool.Kill(t.Context(), "kid", false))
	ms, err := inbox.New(w.DB, nil).List(t.Context(), inbox.Query{Recipient: boss})
	check(t, err)
	var from []string
	for _, m := range ms {
		from = append(from, m.From)
	}
	if strings.Join(from, " ") != "lead kid" {
		t.Errorf("boss has mail from %v", from)
	}
}
