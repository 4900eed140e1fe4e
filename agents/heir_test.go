package agents_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/agents/roster"
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
	w.t.Helper()
	l, err := w.pool.Queue(w.t.Context(), w.main())
	check(w.t, err)
	return roster.QueueText(l, time.Now(), 0)
}

// TestPass_whatIsNotStarted: tasks of an agent that ends, however it ends, pass to
// who dispatched it, who can start them and gets their results.
func TestPass_whatIsNotStarted(t *testing.T) {
	for name, c := range map[string]struct {
		prompt string
		waits  bool
		end    func(w *world) *world
	}{
		"ended": {"leaves", false, func(w *world) *world {
			w.settle()
			return w
		}},
		"killed": {"leaves endless", false, func(w *world) *world {
			w.until("left is queued", func() bool { return w.tally.Queued == 1 && w.info("boss").Doing == "streaming" })
			check(w.t, w.pool.Kill(w.t.Context(), "boss", false))
			return w
		}},
		"tab closed": {"leaves", false, func(w *world) *world {
			w.settle()
			check(w.t, w.pool.CloseTab(w.t.Context(), "boss"))
			w.close()
			return open(w.t, &model{reply: bosses}, setting{dir: w.dir})
		}},
		"crashed": {"leaves endless", true, func(w *world) *world {
			w.until("left is queued", func() bool { return w.tally.Queued == 1 && w.info("boss").Doing == "streaming" })
			w.fault("ends")
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			check(w.t, w.pool.Close(ctx))
			w.fault("none")
			w.close()
			return open(w.t, &model{reply: bosses}, setting{dir: w.dir})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, &model{reply: bosses}, setting{})
			w.push("boss", c.prompt)
			w.run(0)
			w = c.end(w)
			if got := w.queued(); c.waits && !strings.Contains(got, "Queued:\n  - left") {
				t.Errorf("main's queue:\n%s", got)
			}
			w.consent(0) // or main's window was open
			w.settle()
			if got := w.queued(); !strings.Contains(got, "left (completed") {
				t.Errorf("main's queue:\n%s", got)
			}
			ms, _, err := w.pool.Pickup.Check(t.Context(), w.main(), inbox.Query{From: "left"})
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
	w := open(t, &model{reply: bosses}, setting{})
	w.push("boss", "over all endless")
	w.run(0)
	w.until("kid runs", func() bool { return w.info("kid").Doing == "streaming" })
	w.state("lead", event.Waiting)
	check(t, w.pool.Kill(t.Context(), "lead", false))
	check(t, w.pool.CloseTab(t.Context(), "lead"))
	boss := w.info("boss").ID
	check(t, w.pool.Kill(t.Context(), "kid", false))
	ms, err := inbox.New(w.db, nil).List(t.Context(), inbox.Query{Recipient: boss})
	check(t, err)
	var from []string
	for _, m := range ms {
		from = append(from, m.From)
	}
	if strings.Join(from, " ") != "lead kid" {
		t.Errorf("boss has mail from %v", from)
	}
}
