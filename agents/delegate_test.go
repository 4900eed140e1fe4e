package agents_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/llm/builtin"
	"fantail/inbox"
	"fantail/tools"
	"fantail/tools/permission"
)

// counted is the built-in engine, and how many requests each agent made.
func counted() *model {
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) (parts []llm.Part, err error) {
		for p, e := range builtin.New().Stream(ctx, req) {
			if e != nil {
				return parts, e
			}
			parts = append(parts, p)
		}
		return parts, nil
	}
	return m
}

// result is the nth result of an agent's transcript, from 0 on.
func (w *world) result(name string, n int) history.Entry {
	w.T.Helper()
	for _, e := range w.Entries(name) {
		if e.Kind == history.EntryResult {
			if n == 0 {
				return e
			}
			n--
		}
	}
	w.T.Fatalf("%s has no such result: %s", name, kinds(w.Entries(name)))
	return history.Entry{}
}

// rest waits until nothing is under way, for up to a day of fake time.
func (w *world) rest() {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), 24*time.Hour)
	defer cancel()
	check(w.T, w.Pool.Settled(ctx))
}

// play runs f over a pool in fake time.
func play(t *testing.T, m *model, s setting, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, m, s)
		f(w)
		w.Close()
		synctest.Wait()
	})
}

// Spec: N-2, N-4, O-3, O-81, Q-8, Q-53, R-19.
func TestDelegate_syncAnswersTheCall(t *testing.T) {
	m := counted()
	play(t, m, setting{}, func(w *world) {
		w.Prompt("delegate sync kid: say it is three")
		w.rest()
		es := w.Entries("main")
		if got := kinds(es); got != "prompt call delegated result text ended" {
			t.Fatalf("entries: %s", got)
		}
		r := es[3]
		if len(r.Messages) != 1 || r.By != "delegate" || r.Result.Error || !strings.Contains(r.Result.Text, "it is three") {
			t.Errorf("result %+v", r)
		}
		if es[2].Call.ID != r.Result.ID || es[2].Task != r.Messages[0].Task {
			t.Errorf("the link is %+v", es[2])
		}
		w.Until("kid is known", func() bool { return w.Info("kid").State == event.Done })
		if i := w.Info("kid"); i.Task != es[2].Task || i.Attempt != 1 || w.Info("main").Pending != 0 {
			t.Errorf("kid %+v, %d pending", i, w.Info("main").Pending)
		}
		if n := len(m.Seen()); n != 3 {
			t.Errorf("%d requests, want two of main and one of kid", n)
		}
		for _, req := range m.Seen() {
			check(t, valid(req.Messages))
			if asked(req) == "say it is three" && (len(req.Messages) != 1 || len(req.Messages[0].Parts) != 1 || req.System != "You are kid") {
				t.Errorf("kid was sent more than its task: %+v", req)
			}
		}
	})
}

// Spec: N-1, N-3, N-5, N-31, O-18, O-19, O-77, R-1.
func TestDelegate_asyncAnswersAtOnce(t *testing.T) {
	m := counted()
	play(t, m, setting{}, func(w *world) {
		w.Prompt("delegate kid: wait 1m then say done at last")
		w.Until("main rests", func() bool { return w.Info("main").Outcome != "" })
		w.Until("kid is known", func() bool { return w.Info("kid").Task != 0 })
		r := w.result("main", 0).Result
		first, rest, _ := strings.Cut(r.Text, "\n")
		if first != fmt.Sprintf("Task dispatched to 'kid' (session: %d)", w.Info("kid").Task) || !strings.Contains(rest, "don't poll") {
			t.Errorf("the call's result is %q", r.Text)
		}
		w.rest()
		w.Until("it waits", func() bool { return w.Info("main").Pending == 1 })
		w.Prompt("say and now?")
		w.rest()
		if got := kinds(w.Entries("main")); got != "prompt call result text ended message prompt text ended" {
			t.Errorf("entries: %s", got)
		}
	})
	// Where nobody watches, the default is to wait.
	play(t, counted(), setting{}, func(w *world) {
		c := w.Unattended(w.T.Context(), agents.Unattended{})
		check(t, c.Prompt(w.T.Context(), "delegate kid: say hi"))
		w.rest()
		if got := kinds(w.Entries(c.Info.Name)); got != "prompt call delegated result text ended" {
			t.Errorf("entries: %s", got)
		}
	})
}

// Spec: O-13, O-15, O-16, O-78.
func TestDelegate_activeNotifyStartsATurn(t *testing.T) {
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "go" && len(results(req)) == 0 {
			return call("d", "sub_agent", `{"name":"kid","task":"work","async":true,"active_notify":true}`), nil
		}
		return text("ok"), nil
	}
	play(t, m, setting{}, func(w *world) {
		w.Prompt("go")
		w.Until("a turn started", func() bool {
			return strings.HasSuffix(kinds(w.Entries("main")), "text ended message text ended")
		})
	})
}

// Spec: R-11, N-34, E-20, O-20.
func TestDelegate_timesOut(t *testing.T) {
	for mode, limit := range map[string]time.Duration{"sync": 120 * time.Second, "async": 300 * time.Second} {
		t.Run(mode, func(t *testing.T) {
			m := &model{}
			m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
				if asked(req) == "hang" {
					<-ctx.Done()
					return text("so far"), nil
				}
				if len(results(req)) == 0 {
					return call("d", "delegate", `{"name":"kid","prompt":"hang","mode":"`+mode+`"}`), nil
				}
				return text("ok"), nil
			}
			play(t, m, setting{}, func(w *world) {
				began := time.Now()
				w.Prompt("go")
				w.State("kid", event.Running)
				w.rest()
				if d := time.Since(began).Round(time.Second); d != limit || w.Pool.Infos()[1].Outcome != history.TimedOut {
					t.Errorf("it ended after %s, as %s", d, w.Pool.Infos()[1].Outcome)
				}
				if r := w.result("main", 0); mode == "sync" && (!r.Result.Error || !strings.Contains(r.Result.Text, "timed out after 2m0s") || !strings.Contains(r.Result.Text, "so far")) {
					t.Errorf("result %+v", r.Result)
				}
				if ms, err := w.Pool.Letters.Inbox(w.T.Context(), w.Main()); err != nil || len(ms) != map[string]int{"sync": 0, "async": 1}[mode] {
					t.Errorf("inbox %+v, %v", ms, err)
				}
			})
		})
	}
}

// TestDelegate_stoppedParent: Esc ends the wait and not the child; its result comes
// like that of an async one, once.
// Spec: N-37, R-56, E-25.
func TestDelegate_stoppedParent(t *testing.T) {
	play(t, counted(), setting{}, func(w *world) {
		w.Prompt("delegate sync kid: wait 1m then say late answer")
		w.State("main", event.Waiting)
		w.State("kid", event.Running)
		w.Pool.Stop(w.Main())
		w.State("main", event.Idle)
		if r := w.result("main", 0).Result; !r.Error || !strings.Contains(r.Text, "goes on, and its result arrives") {
			t.Errorf("result %+v", r)
		}
		w.rest()
		if i := w.Info("main"); i.Outcome != history.Interrupted {
			t.Errorf("main %+v", i)
		}
		w.Until("it waits", func() bool { return w.Info("main").Pending == 1 && w.Info("kid").State == event.Done })
		w.Prompt("say hello")
		w.rest()
		es := w.Entries("main")
		if got := kinds(es); got != "prompt call delegated result ended message prompt text ended" || !strings.Contains(es[5].Text, "late answer") {
			t.Errorf("entries: %s", got)
		}
	})
}

// TestBackground: Ctrl+B makes what runs in sync delegations async, without
// starting it again; every one's result comes later, and it has an async one's time.
// Spec: N-3, N-5.
func TestBackground(t *testing.T) {
	m := counted()
	play(t, m, setting{}, func(w *world) {
		w.Prompt("delegate sync a: wait 200s then say A\ndelegate sync b: wait 10s then say B")
		w.State("b", event.Running)
		w.State("a", event.Running)
		w.Until("main waits for both", func() bool { // whose call began to wait first
			return slices.Contains([]string{"waiting for a, b", "waiting for b, a"}, w.Info("main").Why)
		})
		<-time.After(5 * time.Second)
		if names := w.Pool.Background(w.Main()); len(names) != 2 {
			t.Errorf("moved %v", names)
		}
		w.Until("main goes on", func() bool { return w.Info("main").State == event.Idle })
		both := w.result("main", 0).Result.Text + w.result("main", 1).Result.Text
		for _, name := range []string{"a", "b"} {
			want := fmt.Sprintf("Task dispatched to '%s' (session: %d)\nThe user moved it to the background.", name, w.Info(name).Task)
			if !strings.Contains(both, want) {
				t.Errorf("results %q, want %q…", both, want)
			}
		}
		if w.Pool.Background(w.Main()) != nil {
			t.Error("there was something to move twice")
		}
		w.rest()
		w.Until("both wait", func() bool { return w.Info("main").Pending == 2 })
		for _, name := range []string{"a", "b"} {
			if i := w.Info(name); i.State != event.Done || i.Attempt != 1 {
				t.Errorf("%s is %+v", name, i)
			}
		}
		if n := len(m.Seen()); n != 4 {
			t.Errorf("%d requests, want two of main and one of each child", n)
		}
	})
}

// TestDelegate_sideBySide: sync delegations of one reply run at the same time, in
// order; the agent goes on when all have ended, also where one slot is all there is.
// Spec: O-5, R-27.
func TestDelegate_sideBySide(t *testing.T) {
	for _, slots := range []int{8, 1} {
		play(t, counted(), setting{Cap: slots}, func(w *world) {
			began := time.Now()
			w.Prompt("delegate sync boss: delegate sync a: wait 30s then say A")
			w.rest()
			w.Prompt("delegate sync lead: push x: say x\ndelegate sync c: wait 20s then say C\ndelegate sync d: wait 10s then say D")
			w.rest()
			want := 50 * time.Second
			if slots == 1 {
				want = 60 * time.Second
			}
			if d := time.Since(began).Round(time.Second); d != want {
				t.Errorf("cap %d: it took %s, want %s", slots, d, want)
			}
			if r := w.result("main", 0).Result; !strings.Contains(r.Text, "A") {
				t.Errorf("result %q", r.Text)
			}
			tasks := map[string]int64{}
			for _, i := range w.Pool.Infos() {
				tasks[i.Name] = i.Task
			}
			if !(tasks["lead"] < tasks["c"] && tasks["c"] < tasks["d"]) {
				t.Errorf("the order is %v", tasks)
			}
		})
	}
}

// TestDelegate_deep: there is no limit on depth, and who waits holds no slot.
// Spec.
func TestDelegate_deep(t *testing.T) {
	for mode, want := range map[string]string{"sync ": "delegate k2", "": "Task dispatched"} {
		m := counted()
		play(t, m, setting{}, func(w *world) {
			prompt := "say at the bottom"
			for n := 12; n > 0; n-- {
				prompt = fmt.Sprintf("delegate %sk%d: %s", mode, n, prompt)
			}
			w.Prompt(prompt)
			w.rest()
			if r := w.result("main", 0).Result; r.Error || !strings.Contains(r.Text, want) {
				t.Errorf("result %q", r.Text)
			}
			for _, i := range w.Pool.Infos()[1:] {
				if i.State != event.Done || len(w.Pool.Infos()) != 13 {
					t.Errorf("%s is %s (%s)", i.Name, i.State, i.Why)
				}
			}
		})
	}
}

// TestDelegate_waitingCostsNothing: ten agents run or wait for an hour, and no
// request is made but those that begin and end their work.
// Spec: O-76, Q-54.
func TestDelegate_waitingCostsNothing(t *testing.T) {
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		switch prompt := asked(req); {
		case prompt == "idle hands": // a request that is under way for an hour
			select {
			case <-time.After(time.Hour):
			case <-ctx.Done():
			}
		case strings.HasPrefix(prompt, "wait below") && len(results(req)) == 0:
			return call("d", "delegate", `{"prompt":"idle hands","mode":"sync","timeout":7200}`), nil
		case prompt == "go" && len(results(req)) == 0:
			var ps []llm.Part
			for n := range 5 {
				ps = append(ps, call(fmt.Sprint("d", n), "delegate", fmt.Sprintf(`{"prompt":"wait below %d","mode":"sync","timeout":7200}`, n))...)
			}
			return ps, nil
		}
		return text("done"), nil
	}
	play(t, m, setting{}, func(w *world) {
		w.Prompt("go")
		w.Until("all are there", func() bool { return w.Tally.Running == 10 })
		<-time.After(59 * time.Minute)
		if n := len(m.Seen()); n != 11 {
			t.Errorf("%d requests after an hour, want 11", n)
		}
		w.rest()
		if n := len(m.Seen()); n != 17 {
			t.Errorf("%d requests, want 2 of main, 2 of each that waits, 1 of each that works", n)
		}
	})
}

// TestDelegate_takenElsewhere: the human takes the result at the very moment it
// comes; it stands in the conversation once.
// Spec: E-5.
func TestDelegate_takenElsewhere(t *testing.T) {
	t.Parallel()
	for range 5 {
		w := open(t, counted(), setting{})
		w.Prompt("delegate sync kid: wait 0.2s then say only once")
		w.State("main", event.Waiting)
		got := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		home := w.Main()
		go func() {
			_, err := w.Pool.Pickup.Receive(ctx, home, inbox.Query{From: "kid"})
			got <- err
		}()
		w.Until("kid is done", func() bool { return w.Info("kid").State.Terminal() })
		w.Settle()
		cancel()
		theirs := <-got == nil
		taken := 0
		for _, e := range w.Entries("main") {
			taken += len(e.Messages)
		}
		r := w.result("main", 0)
		if taken != 1 || theirs != (len(r.Messages) == 0) {
			t.Fatalf("taken %d times; the human's: %v; the call's result %+v", taken, theirs, r)
		}
		if theirs && !strings.Contains(r.Result.Text, "taken out of your inbox before this call could") {
			t.Errorf("result %q", r.Result.Text)
		}
		w.Close()
	}
}

func TestDelegate_removedFromTheQueue(t *testing.T) {
	play(t, counted(), setting{Cap: 1}, func(w *world) {
		w.Push("first", "wait 1m then say first")
		w.Run(0)
		w.State("first", event.Running)
		w.Prompt("delegate sync kid: say never")
		w.State("main", event.Waiting)
		check(t, w.Pool.Kill(w.T.Context(), "kid", false))
		w.rest()
		if r := w.result("main", 0).Result; !r.Error || !strings.Contains(r.Text, "removed from the queue") {
			t.Errorf("result %+v", r)
		}
	})
}

// TestDelegate_waitsForEachOther: a child that waits for the parent that waits for
// it learns that nothing can come.
// Spec: R-21.
func TestDelegate_waitsForEachOther(t *testing.T) {
	play(t, counted(), setting{}, func(w *world) {
		w.Prompt("delegate sync kid: receive from main")
		w.rest()
		if r := w.result("main", 0).Result; !r.Error && !strings.Contains(r.Text, "nothing can arrive") {
			t.Errorf("result %+v", r)
		}
	})
}

// TestTimeout_standsStillWhileItAsks: a task's time does not pass while its
// question waits for the human, and goes on behind it.
// Spec: R-11, E-17.
func TestTimeout_standsStillWhileItAsks(t *testing.T) {
	play(t, counted(), setting{Mode: permission.Ask}, func(w *world) {
		w.Prompt("delegate sync kid: run touch asked\nwait 100s\nread nothing.txt\nsay too late")
		w.State("kid", event.Asking)
		<-time.After(time.Hour)
		if i := w.Pool.Infos()[1]; i.State != event.Asking {
			t.Fatalf("kid is %s (%s)", i.State, i.Why)
		}
		if !w.Answer(w.Info("kid").Question.ID, permission.No) {
			t.Error("the question is gone")
		}
		w.rest()
		if r := w.result("main", 0).Result; strings.Contains(r.Text, "timed out") {
			t.Errorf("result %q", r.Text)
		}
	})
}

// TestTimeout_standsStillForAQuestionBelow: what waits for an agent whose question
// waits for the human has the time as well, in a call or after its turn; one that
// has work of its own to do has not.
// Spec, E-17.
func TestTimeout_standsStillForAQuestionBelow(t *testing.T) {
	play(t, counted(), setting{Mode: permission.Ask}, func(w *world) {
		for name, prompt := range map[string]string{
			"calls": "delegate sync a: delegate sync b: run touch asked\nwait 5s\nsay called",
			"waits": "delegate c: run touch asked\nsay begun",
			"works": "delegate d: run touch asked\nwait 1h",
		} {
			w.task(tools.Task{Name: name, Prompt: prompt, Timeout: time.Minute, Start: true})
		}
		w.Until("all ask", func() bool { return w.Tally.Asking == 3 })
		<-time.After(30 * time.Second)
		for _, name := range []string{"calls", "a", "waits"} {
			w.State(name, event.Waiting)
		}
		<-time.After(time.Hour)
		w.State("works", event.Failed)
		for _, name := range []string{"b", "c", "d"} {
			if !w.Answer(w.Info(name).Question.ID, permission.Once) {
				t.Errorf("the question of %s is gone", name)
			}
		}
		w.Settle()
		for name, outcome := range map[string]string{"calls": "completed", "waits": "completed", "works": "timed_out"} {
			if m := w.mail()[name]; m.Outcome != outcome {
				t.Errorf("%s ended with %+v", name, m)
			}
		}
	})
}

// TestDelegate_crashWhileItWaits: the next start repairs the conversation, and the
// message of what was cut is in the inbox, once.
// Spec: E-1, N-34.
func TestDelegate_crashWhileItWaits(t *testing.T) {
	w := open(t, counted(), setting{})
	w.Prompt("delegate sync kid: wait 60s then say never")
	w.State("main", event.Waiting)
	w.Until("kid works", func() bool { return w.Info("kid").Doing == "streaming" })
	left := t.TempDir()
	for _, name := range []string{"fantail.db", "fantail.db-wal"} { // as kill -9 leaves them
		b, err := os.ReadFile(filepath.Join(w.Dir, name))
		check(t, err)
		check(t, os.WriteFile(filepath.Join(left, name), b, 0o600))
	}
	check(t, w.Pool.Kill(t.Context(), "kid", false))
	w.Settle()
	w.Close()

	m := counted()
	w = open(t, m, setting{Dir: left})
	w.State("kid", event.Crashed)
	if ms, err := w.Pool.Letters.Inbox(t.Context(), w.Main()); err != nil || len(ms) != 1 || ms[0].Outcome != "crashed" || ms[0].From != "kid" {
		t.Fatalf("inbox %+v, %v", ms, err)
	}
	w.Prompt("say and now?")
	w.Settle()
	reqs := m.Seen()
	check(t, valid(reqs[len(reqs)-1].Messages))
	if got := kinds(w.Entries("main")); got != "prompt call delegated ended notice message prompt text ended" {
		t.Errorf("entries: %s", got)
	}
}

// TestDelegate_mainFails: an agent that fails after it dispatched takes nothing with
// it; the results still come.
// Spec: N-35, N-37.
func TestDelegate_mainFails(t *testing.T) {
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		switch {
		case asked(req) == "child work":
			select {
			case <-time.After(time.Minute):
			case <-ctx.Done():
			}
			return text("landed"), nil
		case len(results(req)) == 0:
			return call("d", "delegate", `{"name":"kid","prompt":"child work"}`), nil
		}
		return nil, &llm.Error{Kind: llm.BadRequest, Message: "broken"}
	}
	play(t, m, setting{}, func(w *world) {
		w.Prompt("go")
		w.Until("main failed", func() bool { return w.Info("main").Outcome == history.OutFailed })
		w.State("kid", event.Running)
		w.rest()
		if ms, err := w.Pool.Letters.Inbox(w.T.Context(), w.Main()); err != nil || len(ms) != 1 || ms[0].Body != "landed" {
			t.Errorf("inbox %+v, %v", ms, err)
		}
	})
}
