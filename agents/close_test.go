package agents_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools/permission"
)

// busy is a way for a task to be under way.
type busy struct {
	set   setting
	reply func(ctx context.Context, req *llm.Request) ([]llm.Part, error)
	until func(w *world)
	open  bool // the task is found by the next start
	kept  bool // it awaits an answer, and goes on after the next start
}

// ways are all of them.
func ways() map[string]busy {
	stubborn := `{"command":"trap '' TERM; echo begun; while :; do sleep 600; done"}`
	return map[string]busy{
		"streaming": {
			reply: func(ctx context.Context, _ *llm.Request) ([]llm.Part, error) {
				<-ctx.Done()
				return text("half"), nil
			},
			until: func(w *world) {
				w.Until("it streams", func() bool { return w.Info("job").Doing == "streaming" })
			},
		},
		"a tool that ignores TERM": {
			reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return call("a", "bash", stubborn), nil },
			until: func(w *world) { w.Output("job", "begun") },
		},
		"asking": {
			set: setting{Mode: permission.Ask},
			reply: func(context.Context, *llm.Request) ([]llm.Part, error) {
				return call("a", "bash", `{"command":"touch f"}`), nil
			},
			until: func(w *world) { w.State("job", event.Asking) },
			kept:  true,
		},
		"waiting": {
			reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return call("a", "receive", `{}`), nil },
			until: func(w *world) { w.State("job", event.Waiting) },
		},
		"waiting for its own work": {
			reply: func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
				switch {
				case asked(req) == "child":
					<-ctx.Done()
				case len(results(req)) == 0:
					return call("a", "push", `{"name":"kid","prompt":"child","start":true}`), nil
				}
				return text("dispatched"), nil
			},
			until: func(w *world) { w.State("job", event.Waiting) },
		},
		"waiting for a slot": {
			set: setting{Cap: 1, Mode: permission.Ask},
			reply: func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
				if asked(req) == "other" {
					<-ctx.Done()
					return nil, nil
				}
				return call("a", "bash", `{"command":"touch f"}`), nil
			},
			until: func(w *world) {
				w.State("job", event.Asking)
				w.Push("other", "other")
				w.Run(0)
				w.Until("the slot is taken", func() bool { return w.Info("other").Doing == "streaming" })
				w.Answer(w.Info("job").Question.ID, permission.Once)
				w.why("job", "waiting for a slot")
			},
			kept: true,
		},
		"a disk that refuses": {
			reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("done"), nil },
			until: func(w *world) { w.why("job", "trying again") },
			open:  true,
		},
	}
}

// TestClose_isBoundedInEveryState: whatever an agent does, the pool ends within
// the time the program gives it, no task is left running unless the disk refuses or
// it awaits an answer, and each of the others has exactly one message.
func TestClose_isBoundedInEveryState(t *testing.T) {
	for name, c := range ways() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.set.Dir = t.TempDir()
			w := open(t, &model{Reply: c.reply}, c.set)
			w.Push("job", "work")
			if c.open {
				w.fault("ends")
			}
			w.Run(0)
			c.until(w)
			began := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), 1200*time.Millisecond)
			defer cancel()
			if err := w.Pool.Close(ctx); err != nil {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
			check(t, w.DB.Read(context.Background(), func(rx *store.Rx) error {
				ts, err := rx.RunningTasks()
				if (c.open || c.kept) != (len(ts) == 1) {
					t.Errorf("tasks that run: %+v", ts)
				}
				return err
			}))
			if c.kept {
				w.Close()
				w = open(t, &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("done"), nil }}, c.set)
				w.Until("job is done", func() bool {
					if q := w.Info("job").Question; q != nil {
						w.Answer(q.ID, permission.Once)
					}
					return w.Info("job").State == event.Done
				})
				if m := w.mail()["job"]; m.Outcome != "completed" || m.Body != "done" {
					t.Errorf("after the next start: %+v", m)
				}
				if _, err := os.Stat(filepath.Join(w.Dir, "f")); err != nil {
					t.Error(err)
				}
				return
			}
			if !c.open {
				ms, err := inbox.New(w.DB, nil).List(context.Background(), inbox.Query{Recipient: 1, From: "job"})
				check(t, err)
				if len(ms) != 1 || ms[0].Outcome != "interrupted" {
					t.Errorf("messages %+v", ms)
				}
			}
			if c.open {
				w.fault("none")
				w.Close()
				w = open(t, &model{}, c.set)
				if m := w.one(); m.Outcome != "crashed" || m.Partial != "done" {
					t.Errorf("after the next start: %+v", m)
				}
			}
		})
	}
}

// TestClose_endsWhatTheHumanRuns: the command in a tab and the wait in it end
// with the pool, though nobody cancels them.
func TestClose_endsWhatTheHumanRuns(t *testing.T) {
	m := &model{Reply: func(ctx context.Context, _ *llm.Request) ([]llm.Part, error) {
		<-ctx.Done()
		return nil, nil
	}}
	w := open(t, m, setting{Cap: 1})
	w.Push("job", "x")
	w.Push("later", "x") // it does not start, so nothing of it comes
	w.Run(0)
	received, ran := make(chan error, 1), make(chan error, 1)
	home := w.Main()
	go func() {
		_, err := w.Pool.Pickup.Receive(context.Background(), home, inbox.Query{From: "later"})
		received <- err
	}()
	w.State("main", event.Waiting)
	main := w.Main()
	go func() {
		ran <- w.Pool.Shell(context.Background(), main, "trap '' TERM; echo $$ > pid; echo begun; while :; do sleep 600; done")
	}()
	w.Output("main", "begun")
	ctx, cancel := context.WithTimeout(context.Background(), 1200*time.Millisecond)
	defer cancel()
	check(t, w.Pool.Close(ctx))
	if err := <-received; err == nil || !strings.Contains(err.Error(), "the program was closed") {
		t.Errorf("receive: %v", err)
	}
	check(t, <-ran)
	es, err := w.Pool.Records.Page(context.Background(), main, 0, 10)
	check(t, err)
	if got := kinds(es); got != "shell" || !strings.Contains(es[0].Shell.Output, "begun") {
		t.Errorf("entries %s", got)
	}
	pid, err := os.ReadFile(filepath.Join(w.Dir, "pid"))
	check(t, err)
	if stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat"); err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("the command still runs: %s", stat)
	}
	if err := w.Pool.Shell(context.Background(), main, "true"); err == nil {
		t.Error("a closed pool runs commands")
	}
}
