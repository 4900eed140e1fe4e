package agents_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	"fantail/tools/permit"
)

// counted is the built-in engine, and how many requests each agent made.
func counted() *model {
	m := &model{}
	m.reply = func(ctx context.Context, req *llm.Request) (parts []llm.Part, err error) {
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
	w.t.Helper()
	for _, e := range w.entries(name) {
		if e.Kind == history.EntryResult {
			if n == 0 {
				return e
			}
			n--
		}
	}
	w.t.Fatalf("%s has no such result: %s", name, kinds(w.entries(name)))
	return history.Entry{}
}

// rest waits until nothing is under way, for up to a day of fake time.
func (w *world) rest() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 24*time.Hour)
	defer cancel()
	check(w.t, w.pool.Settled(ctx))
}

// play runs f over a pool in fake time.
func play(t *testing.T, m *model, s setting, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, m, s)
		f(w)
		w.close()
		synctest.Wait()
	})
}

// Spec: N-2, N-4, O-3, O-81, Q-8, Q-53, R-19.
func TestDelegate_syncAnswersTheCall(t *testing.T) {
	m := counted()
	play(t, m, setting{}, func(w *world) {
		w.prompt("delegate sync kid: say it is three")
		w.rest()
		es := w.entries("main")
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
		w.until("kid is known", func() bool { return w.info("kid").State == event.Done })
		if i := w.info("kid"); i.Task != es[2].Task || i.Attempt != 1 || w.info("main").Pending != 0 {
			t.Errorf("kid %+v, %d pending", i, w.info("main").Pending)
		}
		if n := len(m.seen()); n != 3 {
			t.Errorf("%d requests, want two of main and one of kid", n)
		}
		for _, req := range m.seen() {
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
		w.prompt("delegate kid: wait 1m then say done at last")
		w.until("main rests", func() bool { return w.info("main").Outcome != "" })
		w.until("kid is known", func() bool { return w.info("kid").Task != 0 })
		r := w.result("main", 0).Result
		first, rest, _ := strings.Cut(r.Text, "\n")
		if first != fmt.Sprintf("Task dispatched to 'kid' (session: %d)", w.info("kid").Task) || !strings.Contains(rest, "don't poll") {
			t.Errorf("the call's result is %q", r.Text)
		}
		w.rest()
		w.until("it waits", func() bool { return w.info("main").Pending == 1 })
		w.prompt("say and now?")
		w.rest()
		if got := kinds(w.entries("main")); got != "prompt call result text ended message prompt text ended" {
			t.Errorf("entries: %s", got)
		}
	})
	// Where nobody watches, the default is to wait.
	play(t, counted(), setting{}, func(w *world) {
		c := w.unattended(w.t.Context(), agents.Unattended{})
		check(t, c.Prompt(w.t.Context(), "delegate kid: say hi"))
		w.rest()
		if got := kinds(w.entries(c.Info.Name)); got != "prompt call delegated result text ended" {
			t.Errorf("entries: %s", got)
		}
	})
}

// Spec: O-13, O-15, O-16, O-78.
func TestDelegate_activeNotifyStartsATurn(t *testing.T) {
	m := &model{}
	m.reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "go" && len(results(req)) == 0 {
			return call("d", "sub_agent", `{"name":"kid","task":"work","async":true,"active_notify":true}`), nil
		}
		return text("ok"), nil
	}
	play(t, m, setting{}, func(w *world) {
		w.prompt("go")
		w.until("a turn started", func() bool {
			return strings.HasSuffix(kinds(w.entries("main")), "text ended message text ended")
		})
	})
}

// Spec: R-11, N-34, E-20, O-20.
func TestDelegate_timesOut(t *testing.T) {
	for mode, limit := range map[string]time.Duration{"sync": 120 * time.Second, "async": 300 * time.Second} {
		t.Run(mode, func(t *testing.T) {
			m := &model{}
			m.reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
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
				w.prompt("go")
				w.state("kid", event.Running)
				w.rest()
				if d := time.Since(began).Round(time.Second); d != limit || w.pool.Infos()[1].Outcome != history.TimedOut {
					t.Errorf("it ended after %s, as %s", d, w.pool.Infos()[1].Outcome)
				}
				if r := w.result("main", 0); mode == "sync" && (!r.Result.Error || !strings.Contains(r.Result.Text, "timed out after 2m0s") || !strings.Contains(r.Result.Text, "so far")) {
					t.Errorf("result %+v", r.Result)
				}
				if ms, err := w.pool.Letters.Inbox(w.t.Context(), w.main()); err != nil || len(ms) != map[string]int{"sync": 0, "async": 1}[mode] {
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
		w.prompt("delegate sync kid: wait 1m then say late answer")
		w.state("main", event.Waiting)
		w.state("kid", event.Running)
		w.pool.Stop(w.main())
		w.state("main", event.Idle)
		if r := w.result("main", 0).Result; !r.Error || !strings.Contains(r.Text, "goes on, and its result arrives") {
			t.Errorf("result %+v", r)
		}
		w.rest()
		if i := w.info("main"); i.Outcome != history.Interrupted {
			t.Errorf("main %+v", i)
		}
		w.until("it waits", func() bool { return w.info("main").Pending == 1 && w.info("kid").State == event.Done })
		w.prompt("say hello")
		w.rest()
		es := w.entries("main")
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
		w.prompt("delegate sync a: wait 200s then say A\ndelegate sync b: wait 10s then say B")
		w.state("b", event.Running)
		w.state("a", event.Running)
		w.until("main waits for both", func() bool { return w.info("main").Why == "waiting for a, b" })
		<-time.After(5 * time.Second)
		if names := w.pool.Background(w.main()); len(names) != 2 {
			t.Errorf("moved %v", names)
		}
		w.until("main goes on", func() bool { return w.info("main").State == event.Idle })
		both := w.result("main", 0).Result.Text + w.result("main", 1).Result.Text
		for _, name := range []string{"a", "b"} {
			want := fmt.Sprintf("Task dispatched to '%s' (session: %d)\nThe user moved it to the background.", name, w.info(name).Task)
			if !strings.Contains(both, want) {
				t.Errorf("results %q, want %q…", both, want)
			}
		}
		if w.pool.Background(w.main()) != nil {
			t.Error("there was something to move twice")
		}
		w.rest()
		w.until("both wait", func() bool { return w.info("main").Pending == 2 })
		for _, name := range []string{"a", "b"} {
			if i := w.info(name); i.State != event.Done || i.Attempt != 1 {
				t.Errorf("%s is %+v", name, i)
			}
		}
		if n := len(m.seen()); n != 4 {
			t.Errorf("%d requests, want two of main and one of each child", n)
		}
	})
}

// TestDelegate_sideBySide: sync delegations of one reply run at the same time, in
// order; the agent goes on when all have ended, also where one slot is all there is.
// Spec: O-5, R-27.
func TestDelegate_sideBySide(t *testing.T) {
	for _, slots := range []int{8, 1} {
		play(t, counted(), setting{cap: slots}, func(w *world) {
			began := time.Now()
			w.prompt("delegate sync boss: delegate sync a: wait 30s then say A")
			w.rest()
			w.prompt("delegate sync lead: push x: say x\ndelegate sync c: wait 20s then say C\ndelegate sync d: wait 10s then say D")
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
			for _, i := range w.pool.Infos() {
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
			w.prompt(prompt)
			w.rest()
			if r := w.result("main", 0).Result; r.Error || !strings.Contains(r.Text, want) {
				t.Errorf("result %q", r.Text)
			}
			for _, i := range w.pool.Infos()[1:] {
				if i.State != event.Done || len(w.pool.Infos()) != 13 {
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
	m.reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
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
		w.prompt("go")
		w.until("all are there", func() bool { return w.tally.Running == 10 })
		<-time.After(59 * time.Minute)
		if n := len(m.seen()); n != 11 {
			t.Errorf("%d requests after an hour, want 11", n)
		}
		w.rest()
		if n := len(m.seen()); n != 17 {
			t.Errorf("%d requests, want 2 of main, 2 of each that waits, 1 of each that works", n)
		}
	})
}

// TestDelegate_takenElsewhere: the human takes the result at the very moment it
// comes; it stands in the conversation once.
// Spec: E-5.
func TestDelegate_takenElsewhere(t *testing.T) {
	for range 5 {
		w := open(t, counted(), setting{})
		w.prompt("delegate sync kid: wait 0.2s then say only once")
		w.state("main", event.Waiting)
		got := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		home := w.main()
		go func() {
			_, err := w.pool.Pickup.Receive(ctx, home, inbox.Query{From: "kid"})
			got <- err
		}()
		w.until("kid is done", func() bool { return w.info("kid").State.Terminal() })
		w.settle()
		cancel()
		theirs := <-got == nil
		taken := 0
		for _, e := range w.entries("main") {
			taken += len(e.Messages)
		}
		r := w.result("main", 0)
		if taken != 1 || theirs != (len(r.Messages) == 0) {
			t.Fatalf("taken %d times; the human's: %v; the call's result %+v", taken, theirs, r)
		}
		if theirs && !strings.Contains(r.Result.Text, "taken out of your inbox before this call could") {
			t.Errorf("result %q", r.Result.Text)
		}
		w.close()
	}
}

func TestDelegate_removedFromTheQueue(t *testing.T) {
	play(t, counted(), setting{cap: 1}, func(w *world) {
		w.push("first", "wait 1m then say first")
		w.run(0)
		w.state("first", event.Running)
		w.prompt("delegate sync kid: say never")
		w.state("main", event.Waiting)
		check(t, w.pool.Kill(w.t.Context(), "kid", false))
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
		w.prompt("delegate sync kid: receive from main")
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
	play(t, counted(), setting{mode: permit.Ask}, func(w *world) {
		w.prompt("delegate sync kid: run touch asked\nwait 100s\nread nothing.txt\nsay too late")
		w.state("kid", event.Asking)
		<-time.After(time.Hour)
		if i := w.pool.Infos()[1]; i.State != event.Asking {
			t.Fatalf("kid is %s (%s)", i.State, i.Why)
		}
		if !w.answer(w.info("kid").Question.ID, permit.No) {
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
	play(t, counted(), setting{mode: permit.Ask}, func(w *world) {
		for name, prompt := range map[string]string{
			"calls": "delegate sync a: delegate sync b: run touch asked\nwait 5s\nsay called",
			"waits": "delegate c: run touch asked\nsay begun",
			"works": "delegate d: run touch asked\nwait 1h",
		} {
			w.task(tools.Task{Name: name, Prompt: prompt, Timeout: time.Minute, Start: true})
		}
		w.until("all ask", func() bool { return w.tally.Asking == 3 })
		<-time.After(30 * time.Second)
		for _, name := range []string{"calls", "a", "waits"} {
			w.state(name, event.Waiting)
		}
		<-time.After(time.Hour)
		w.state("works", event.Failed)
		for _, name := range []string{"b", "c", "d"} {
			if !w.answer(w.info(name).Question.ID, permit.Once) {
				t.Errorf("the question of %s is gone", name)
			}
		}
		w.settle()
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
	w.prompt("delegate sync kid: wait 60s then say never")
	w.state("main", event.Waiting)
	w.until("kid works", func() bool { return w.info("kid").Doing == "streaming" })
	left := t.TempDir()
	for _, name := range []string{"fantail.db", "fantail.db-wal"} { // as kill -9 leaves them
		b, err := os.ReadFile(filepath.Join(w.dir, name))
		check(t, err)
		check(t, os.WriteFile(filepath.Join(left, name), b, 0o600))
	}
	check(t, w.pool.Kill(t.Context(), "kid", false))
	w.settle()
	w.close()

	m := counted()
	w = open(t, m, setting{dir: left})
	w.state("kid", event.Crashed)
	if ms, err := w.pool.Letters.Inbox(t.Context(), w.main()); err != nil || len(ms) != 1 || ms[0].Outcome != "crashed" || ms[0].From != "kid" {
		t.Fatalf("inbox %+v, %v", ms, err)
	}
	w.prompt("say and now?")
	w.settle()
	reqs := m.seen()
	check(t, valid(reqs[len(reqs)-1].Messages))
	if got := kinds(w.entries("main")); got != "prompt call delegated ended notice message prompt text ended" {
		t.Errorf("entries: %s", got)
	}
}

// TestDelegate_mainFails: an agent that fails after it dispatched takes nothing with
// it; the results still come.
// Spec: N-35, N-37.
func TestDelegate_mainFails(t *testing.T) {
	m := &model{}
	m.reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
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
		w.prompt("go")
		w.until("main failed", func() bool { return w.info("main").Outcome == history.OutFailed })
		w.state("kid", event.Running)
		w.rest()
		if ms, err := w.pool.Letters.Inbox(w.t.Context(), w.main()); err != nil || len(ms) != 1 || ms[0].Body != "landed" {
			t.Errorf("inbox %+v, %v", ms, err)
		}
	})
}
