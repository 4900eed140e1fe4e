package agents_test

import (
	"context"
	_ "embed"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
)

//go:embed testdata/forged.sql
var forgeries string

// forge writes to the database by a connection of its own, as an agent's command could, and says nothing of it.
func (w *world) forge(name string) {
	w.T.Helper()
	_, rest, ok := strings.Cut(forgeries, "-- "+name+"\n")
	if !ok {
		w.T.Fatalf("no forgery %s", name)
	}
	statement, _, _ := strings.Cut(rest, "\n")
	db, err := store.Open(context.Background(), filepath.Join(w.Dir, "fantail.db"), store.Options{})
	check(w.T, err)
	defer db.Close()
	check(w.T, db.Write(context.Background(), "forge", func(tx *store.Tx) error {
		_, err := tx.Exec(statement)
		return err
	}))
}

func names(es []agents.QuarantineEntered) (ns []string) {
	for _, e := range es {
		ns = append(ns, e.Name)
	}
	return ns
}

// carriedOut are the prompts that reached a model.
func carriedOut(m *model) (ps []string) {
	for _, r := range m.Seen() {
		ps = append(ps, asked(r))
	}
	slices.Sort(ps)
	return ps
}

// What another hand wrote into the queue does not start, the human is asked about it once, and what this host wrote runs
// beside it without a question. A yes holds for what was shown.
//
// Spec: X-2.
func TestForged_tasks(t *testing.T) {
	t.Parallel()
	for forgery, c := range map[string]struct {
		asked string   // about what
		runs  []string // the prompts of the others
	}{
		"task":      {"forged: forged", []string{"a", "b"}},
		"command":   {"forged: !echo forged", []string{"a", "b"}},
		"lent":      {"forged: forged", []string{"a", "b"}},
		"prompt":    {"b: forged", []string{"a"}},
		"kind":      {"b: !b", []string{"a"}},
		"origin":    {"b: b", []string{"a"}},
		"deliver":   {"b: b", []string{"a"}},
		"needs":     {"b: b", []string{"a"}},
		"once more": {"old: old", []string{"a", "b"}},
	} {
		t.Run(forgery, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}
				w := open(t, m, setting{})
				w.Push("old", "old")
				if r := w.Run(0); len(r.Asked) > 0 {
					t.Errorf("asked about its own: %+v", r.Asked)
				}
				w.Settle()
				w.Push("a", "a")
				w.after("b", "b", "a")
				w.forge(forgery)
				r := w.Run(0)
				w.Settle()
				if len(r.Asked) != 1 || r.Asked[0].Name+": "+r.Asked[0].Asks != c.asked || !strings.Contains(r.String(), c.asked) {
					t.Fatalf("/run says %q", r)
				}
				if got := carriedOut(m); !slices.Equal(got, append(slices.Clone(c.runs), "old")) {
					t.Errorf("carried out %q", got)
				}
				name := r.Asked[0].Name
				if got := w.listed(); !strings.Contains(got, name+" queued") {
					t.Errorf("the queue is %s", got)
				}
				if name == "old" { // an agent has that name
					check(t, w.Pool.Tasks.Remove(t.Context(), name))
				}
				if r = w.Run(0); len(r.Asked) > 0 {
					t.Errorf("asked twice about %+v", r.Asked)
				}
				w.Settle()
				if got := w.listed(); strings.Contains(got, "queued") {
					t.Errorf("after a yes the queue is %s", got)
				}
				w.Close()
				synctest.Wait()
			})
		})
	}
}

// What changes between the question and the yes is asked about anew.
func TestForged_afterTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}
		w := open(t, m, setting{})
		w.Push("b", "b")
		w.forge("deliver")
		w.Run(0)
		w.forge("prompt")
		if r := w.Run(0); len(r.Asked) != 1 || r.Asked[0].Asks != "forged" {
			t.Errorf("asked about %+v", r.Asked)
		}
		w.Settle()
		if got := carriedOut(m); len(got) > 0 {
			t.Errorf("carried out %q", got)
		}
		w.Close()
		synctest.Wait()
	})
}

// A task that was changed while it waited for a slot does not start when that is free, nor does what came into an open
// window by another hand. The tab says so.
func TestForged_underAnOpenWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
			if asked(req) == "first" {
				<-release
			}
			return text("ok"), nil
		}}
		w := open(t, m, setting{})
		for _, name := range []string{"first", "b", "c"} {
			w.Push(name, name)
		}
		w.Run(1)
		w.State("first", event.Running)
		w.forge("prompt")
		w.forge("task")
		close(release)
		w.Settle()
		if got := carriedOut(m); !slices.Equal(got, []string{"c", "first"}) {
			t.Errorf("carried out %q", got)
		}
		var said []string
		for _, e := range w.Entries("main") {
			if e.Kind == history.EntryNotice {
				said = append(said, e.Text)
			}
		}
		if all := strings.Join(said, "\n"); !strings.Contains(all, "b (forged)") || !strings.Contains(all, "forged (forged)") {
			t.Errorf("main reads %q", said)
		}
		if r := w.Run(0); !slices.Equal(names(r.Asked), []string{"b", "forged"}) && !slices.Equal(names(r.Asked), []string{"forged", "b"}) {
			t.Errorf("asked about %+v", r.Asked)
		}
		w.Close()
		synctest.Wait()
	})
}

// What an earlier host left, what came while none ran and what another hand wrote are asked about together, once; what
// this host writes is not.
//
// Spec: E-1.
func TestForged_overARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}
		w := open(t, m, setting{})
		for _, name := range []string{"a", "b", "c"} {
			w.Push(name, name)
		}
		w.Close()
		check(t, comeBy(w.Dir, "push", "outer", "outer"))
		w = open(t, m, setting{Dir: w.Dir})
		w.forge("task")
		w.Push("mine", "mine")
		r := w.Run(0)
		w.Settle()
		got := names(r.Asked)
		slices.Sort(got)
		if !slices.Equal(got, []string{"a", "b", "c", "forged", "outer"}) {
			t.Errorf("asked about %q", got)
		}
		if got := carriedOut(m); !slices.Equal(got, []string{"mine"}) {
			t.Errorf("carried out %q", got)
		}
		if r = w.Run(0); len(r.Asked) > 0 || !slices.Equal(names(r.Outside), []string{"outer"}) {
			t.Errorf("then %+v", r)
		}
		w.Settle()
		if got := carriedOut(m); !slices.Equal(got, []string{"a", "b", "c", "forged", "mine", "outer"}) {
			t.Errorf("carried out %q", got)
		}
		w.Close()
		synctest.Wait()
	})
}

// A name says nothing of what is to be done again: a row that was changed is asked about, one that was not starts.
func TestForged_retry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}
		w := open(t, m, setting{})
		for _, name := range []string{"old", "b"} {
			w.Push(name, name)
		}
		w.Run(0)
		w.Settle()
		w.forge("retried")
		for _, name := range []string{"old", "b"} {
			_, _, err := w.Pool.Tasks.Retry(t.Context(), w.Main(), name, "")
			check(t, err)
		}
		if r := w.Run(0); len(r.Asked) != 1 || r.Asked[0] != (agents.QuarantineEntered{Name: "old", Asks: "forged"}) {
			t.Errorf("asked about %+v", r.Asked)
		}
		w.Settle()
		if got := carriedOut(m); !slices.Equal(got, []string{"b", "b", "old"}) {
			t.Errorf("carried out %q", got)
		}
		w.Close()
		synctest.Wait()
	})
}

// A task that passes to another queue, is edited or moved by the human stays this host's.
func TestSealed_stays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}
		w, ctx := open(t, m, setting{}), t.Context()
		h, err := w.Pool.NewHelper(ctx, "aide", "")
		check(t, err)
		_, err = w.Pool.Tasks.Push(ctx, h.ID, tools.Task{Name: "passed", Prompt: "passed"})
		check(t, err)
		check(t, w.Pool.CloseHelper(ctx, "aide", true))
		w.Push("edited", "x")
		check(t, w.Pool.Tasks.Edit(ctx, "edited", "edited"))
		_, err = w.Pool.Tasks.Move(ctx, "edited", 1)
		check(t, err)
		if r := w.Run(0); len(r.Asked) > 0 {
			t.Errorf("asked about %+v", r.Asked)
		}
		w.Settle()
		if got := carriedOut(m); !slices.Equal(got, []string{"edited", "passed"}) {
			t.Errorf("carried out %q", got)
		}
		w.Close()
		synctest.Wait()
	})
}

// An answer that another hand writes into the row of an open question lets nothing run: the question stays, and the
// human's answer counts.
//
// Spec: X-4.
func TestForged_answer(t *testing.T) {
	for _, c := range []struct {
		choice permission.Choice
		ran    int
	}{{permission.No, 0}, {permission.Once, 1}} {
		synctest.Test(t, func(t *testing.T) {
			w := open(t, &model{Reply: asking}, setting{Mode: permission.Ask})
			w.Push("job", "run made")
			w.Run(0)
			q := w.asks("job")
			w.forge("yes")
			w.Pool.Refresh(t.Context())
			synctest.Wait()
			if i := w.Info("job"); i.State != event.Asking || w.ran("made") != 0 {
				t.Errorf("it is %s, and ran %d times", i.State, w.ran("made"))
			}
			if _, err := w.Pool.Asks.Asked(t.Context(), q.Message); err != nil {
				t.Errorf("what is asked: %v", err)
			}
			if !w.Answer(q.ID, c.choice) {
				t.Error("it can't be answered")
			}
			w.State("job", event.Done)
			if a, _ := w.row(q.ID); w.ran("made") != c.ran || event.AnswerOf(a).Choice != c.choice {
				t.Errorf("it ran %d times, the row is %+v", w.ran("made"), a)
			}
			w.Close()
			synctest.Wait()
		})
	}
}

// What is answered is what the agent asks, not what another hand made of its row: neither what the human sees nor the
// rule that they allow for the session.
func TestForged_question(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
			switch len(results(req)) {
			case 0:
				return call("a", "bash", `{"command":"mkdir one"}`), nil
			case 1:
				return call("b", "bash", `{"command":"touch two"}`), nil
			}
			return text("done"), nil
		}}
		w := open(t, m, setting{Mode: permission.Ask})
		w.Push("job", "x")
		w.Run(0)
		q := w.asks("job")
		w.forge("less")
		if seen, err := w.Pool.Asks.Asked(t.Context(), q.Message); err != nil || seen.Action.Command != "mkdir one" || seen.Rule != q.Rule {
			t.Errorf("the human sees %+v, %v", seen, err)
		}
		w.Answer(q.ID, permission.Session)
		w.Until("it asks about the next command", func() bool {
			now := w.Info("job").Question
			return w.Info("job").State.Terminal() || now != nil && now.ID != q.ID
		})
		if w.Info("job").State.Terminal() {
			t.Fatal("a rule that nobody saw was allowed")
		}
		w.Answer(w.Info("job").Question.ID, permission.No)
		w.Settle()
		w.Close()
		synctest.Wait()
	})
}
