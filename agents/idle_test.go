package agents_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fantail/.ci/long"
	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/tools"
	"fantail/tools/permission"
)

// echoes is a model that says what it was told, the prompts of the whole conversation in a row.
func echoes(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
	var told []string
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if t, ok := p.(llm.Text); ok && t.From == llm.FromPrompt {
				told = append(told, t.Text)
			}
		}
	}
	last := told[len(told)-1]
	switch {
	case strings.HasPrefix(last, "fail"):
		return text("so far"), &llm.Error{Kind: llm.BadRequest, Provider: "test", Message: "it will not do"}
	case strings.HasPrefix(last, "long"):
		select {
		case <-ctx.Done():
			return text("cut"), nil
		case <-time.After(15 * time.Second):
		}
	}
	return text(strings.Join(told, ", ")), nil
}

// interactive pushes an agent that awaits input, and starts it.
func (w *world) interactive(name, prompt string, idle time.Duration) {
	w.T.Helper()
	_, err := w.Pool.Tasks.Push(context.Background(), w.Main(), tools.Task{
		Name: name, Prompt: prompt, Interactive: true, Idle: idle, Start: true,
	})
	check(w.T, err)
}

// idles waits until the agent is idle for input.
func (w *world) idles(name string) event.Info {
	w.T.Helper()
	w.Until(name+" is idle", func() bool {
		i := w.Info(name)
		return i.State == event.Idle && len(i.Prompts) == 0
	})
	return w.Info(name)
}

// reports lists main's results and failures, oldest first.
func (w *world) reports() (all []string) {
	w.T.Helper()
	ms, err := w.Pool.Letters.Inbox(context.Background(), w.Main())
	check(w.T, err)
	for _, m := range ms {
		all = append(all, fmt.Sprintf("%s %s: %s%s", m.From, m.Outcome, m.Body, m.Partial))
	}
	slices.Sort(all)
	return all
}

// TestIdle: an agent that awaits input reports after each turn, knows the whole conversation in the next, and ends as
// done after its time, exactly, without another message. One that does not ends with its turn.
// Spec: C-1, C-3, C-5, C-6, C-15, C-16, C-22, C-29, E-13.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{})
		w.interactive("auth", "one", 7*time.Second)
		w.Push("plain", "alone")
		w.Consent(0)
		began := time.Now()
		i := w.idles("auth")
		w.State("plain", event.Done)
		if left, counts := i.Await.Left(time.Now()); left != 7*time.Second || !counts || i.Gist != "one" {
			t.Errorf("idle with %s left (%t), gist %q", left, counts, i.Gist)
		}
		time.Sleep(6 * time.Second)
		check(t, w.Pool.Tell(context.Background(), "auth", "two"))
		w.Until("it reported again", func() bool { return w.Info("main").Pending == 3 })
		i = w.idles("auth")
		if left, _ := i.Await.Left(time.Now()); left != 7*time.Second {
			t.Errorf("after the second turn %s are left", left)
		}
		time.Sleep(7*time.Second - time.Millisecond)
		synctest.Wait()
		if i := w.Pool.Infos(); i[1].State != event.Idle {
			t.Errorf("before its time it is %s", i[1].State)
		}
		w.State("auth", event.Done)
		if took := time.Since(began); took != 13*time.Second {
			t.Errorf("it ended after %s", took)
		}
		w.Settle()
		want := []string{"auth completed: one", "auth completed: one, two", "plain completed: alone"}
		if got := w.reports(); !slices.Equal(got, want) {
			t.Errorf("reported %q", got)
		}
		by := ""
		for _, e := range w.Entries("auth") {
			if e.Kind == history.EntryPrompt && e.Text == "two" {
				by = e.By
			}
		}
		if by != "user" {
			t.Errorf("what it was told stands as written by %q", by)
		}
		w.Balanced()
	})
}

// TestIdle_stays: the time does not run while somebody looks at the tab or a program is attached, and is whole again
// afterwards. Without end it never runs.
// Spec: C-20, E-15.
func TestIdle_stays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{})
		w.interactive("auth", "one", 7*time.Second)
		w.interactive("ever", "one", tools.Forever)
		i := w.idles("auth")
		w.idles("ever")
		h := w.Human()
		h.Looks(i.ID)
		stays := func(what string) {
			t.Helper()
			w.Until("it stays as "+what, func() bool { _, counts := w.Info("auth").Await.Left(time.Now()); return !counts })
			time.Sleep(time.Hour)
			synctest.Wait()
			if s := w.Pool.Infos()[1].State; s != event.Idle {
				t.Fatalf("%s, and it is %s", what, s)
			}
		}
		stays("somebody looks")
		_, detach, err := w.Pool.Attach(context.Background(), "auth")
		check(t, err)
		h.Looks(1)
		w.Until("one is attached", func() bool { return w.Info("auth").Await.Attached == 1 })
		stays("a program is attached")
		check(t, w.Pool.Tell(context.Background(), "ever", "two")) // it has left memory long ago
		w.Until("it reported", func() bool { return w.Info("main").Pending == 3 })
		if got := w.reports(); !slices.Contains(got, "ever completed: one, two") {
			t.Errorf("reported %q", got)
		}
		began := time.Now()
		detach()
		detach()
		w.State("auth", event.Done)
		if took := time.Since(began); took != 7*time.Second {
			t.Errorf("then it stayed %s", took)
		}
		if s := w.Info("ever").State; s != event.Idle {
			t.Errorf("the one without a time is %s", s)
		}
		w.Balanced()
	})
}

// TestIdle_end: told to end, an agent that works ends after its turn, with one result; one that is idle at once, with
// none; what it was told before that it does first.
// Spec: C-7, C-19.
func TestIdle_end(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{})
		ctx := context.Background()
		w.interactive("idle", "one", time.Hour)
		w.interactive("works", "long", time.Hour)
		w.idles("idle")
		w.Until("it works", func() bool { return w.Info("works").Doing == "streaming" })
		check(t, w.Pool.Tell(ctx, "works", "and this"))
		check(t, w.Pool.End(ctx, "works"))
		if err := w.Pool.End(ctx, "works"); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("told twice: %v", err)
		}
		check(t, w.Pool.End(ctx, "idle"))
		w.State("idle", event.Done)
		w.State("works", event.Done)
		ended := (*event.EndedError)(nil)
		if err := w.Pool.Tell(ctx, "idle", "late"); !errors.As(err, &ended) {
			t.Errorf("told after its end: %v", err)
		}
		w.Push("plain", "long")
		w.Run(0)
		w.Until("it runs", func() bool { return w.Info("plain").Doing == "streaming" })
		if err := w.Pool.End(ctx, "plain"); err == nil || !strings.Contains(err.Error(), "by itself") {
			t.Errorf("a plain one: %v", err)
		}
		w.Settle()
		want := []string{"idle completed: one", "plain completed: long", "works completed: long, and this"}
		if got := w.reports(); !slices.Equal(got, want) {
			t.Errorf("reported %q", got)
		}
		w.Balanced()
	})
}

// TestIdle_killed: a kill ends an idle agent with one failure; one that works too, with what it had. A failure ends it.
// After none of them it waits.
// Spec: C-21.
func TestIdle_killed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{})
		ctx := context.Background()
		for name, prompt := range map[string]string{"idle": "one", "works": "long", "fails": "one"} {
			w.interactive(name, prompt, time.Hour)
		}
		w.idles("idle")
		w.idles("fails")
		w.Until("it works", func() bool { return w.Info("works").Doing == "streaming" })
		w.Pool.Stop(w.Info("idle").ID) // there is nothing to stop
		check(t, w.Pool.Kill(ctx, "idle", false))
		check(t, w.Pool.Kill(ctx, "works", false))
		check(t, w.Pool.Tell(ctx, "fails", "fail"))
		w.State("fails", event.Failed)
		w.State("idle", event.Killed)
		w.State("works", event.Killed)
		w.Settle()
		want := []string{"fails completed: one", "fails failed: so far", "idle completed: one", "idle killed: ", "works killed: cut"}
		if got := w.reports(); !slices.Equal(got, want) {
			t.Errorf("reported %q", got)
		}
		w.Balanced()
	})
}

// TestIdle_restart: an idle agent is idle after a crash with what is left of its time, what it was told before the
// crash wakes it, and its time runs while no program does. One that worked has crashed, with one failure.
func TestIdle_restart(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	again := func(after time.Duration, f func(w *world)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(after)
			w := open(t, &model{Reply: echoes}, setting{Dir: dir})
			f(w)
			w.Close()
		})
	}
	again(0, func(w *world) {
		w.interactive("short", "one", 10*time.Second)
		w.interactive("ever", "one", tools.Forever)
		w.idles("short")
		w.idles("ever")
	})
	again(4*time.Second, func(w *world) { // the clock of each bubble begins anew
		i := w.idles("short")
		if left, counts := i.Await.Left(time.Now()); left != 6*time.Second || !counts || i.Gist != "one" {
			t.Errorf("%s left (%t), gist %q", left, counts, i.Gist)
		}
		check(t, w.Pool.Tell(ctx, "ever", "two"))
		w.Until("it reported", func() bool { return w.Info("main").Pending == 3 })
		w.idles("ever")
		w.State("short", event.Done)
		if want := []string{"ever completed: one", "ever completed: one, two", "short completed: one"}; !slices.Equal(w.reports(), want) {
			t.Errorf("reported %q", w.reports())
		}
		w.Balanced()
	})
}

// TestIdle_slot: idle agents hold no slot, and count as alive.
func TestIdle_slot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{Cap: 1})
		for n := range 64 {
			w.interactive(fmt.Sprint("a", n), "one", tools.Forever)
		}
		for n := range 64 {
			w.idles(fmt.Sprint("a", n))
		}
		_, err := w.Pool.Tasks.Push(context.Background(), w.Main(), tools.Task{Prompt: "one more", Start: true})
		if err == nil || !strings.Contains(err.Error(), "64 agents live already") {
			t.Errorf("one more: %v", err)
		}
		check(t, w.Pool.Tell(context.Background(), "a7", "long"))
		check(t, w.Pool.Tell(context.Background(), "a8", "two"))
		w.Until("both reported", func() bool { return w.Info("main").Pending == 66 })
		w.Balanced()
	})
}

// scripted is an input that was written before.
type scripted struct {
	tell  func(text string)
	lines []string
}

func (s *scripted) Next(context.Context, *agents.Loop) bool {
	if len(s.lines) == 0 {
		return false
	}
	s.tell(s.lines[0])
	s.lines = s.lines[1:]
	return true
}

// TestIdle_scripted: the same seam serves a script, which is asked only where a turn ended by itself.
// Spec: C-4, C-8, C-24, E-16.
func TestIdle_scripted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{})
		w.Pool.Script(func(i event.Info) agents.Input {
			return &scripted{
				tell:  func(text string) { check(t, w.Pool.Tell(context.Background(), i.Name, text)) },
				lines: []string{"two", "three", "four", "five", "six"},
			}
		})
		w.interactive("job", "one", time.Second)
		w.State("job", event.Done)
		w.Settle()
		if got := w.reports(); len(got) != 6 || got[5] != "job completed: one, two, three, four, five, six" {
			t.Errorf("reported %q", got)
		}
		w.Balanced()
	})
}

// TestIdle_wakes: mail that asks for a turn begins one; mail that does not waits for the next.
func TestIdle_wakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{})
		w.interactive("auth", "one", time.Hour)
		w.idles("auth")
		send := func(d inbox.Deliver) {
			_, err := w.Pool.Deposit(inbox.Message{Recipient: w.Info("auth").ID, From: "cli", Body: "mail", Deliver: d})
			check(t, err)
		}
		send(inbox.Next)
		time.Sleep(10 * time.Second)
		if n := w.Pool.Infos()[0].Pending; n != 1 {
			t.Errorf("%d reports after mail that waits", n)
		}
		send(inbox.Wake)
		w.Until("it reported", func() bool { return w.Info("main").Pending == 2 })
		w.idles("auth")
		if n := w.Info("auth").Pending; n != 0 {
			t.Errorf("%d messages did not enter", n)
		}
		w.Balanced()
	})
}

// TestIdle_faults: a turn that can't begin is tried again, and what the agent was told waits for it. An end that can't
// be written is written later.
func TestIdle_faults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{})
		w.interactive("auth", "one", time.Hour)
		w.idles("auth")
		w.fault("turns")
		check(t, w.Pool.Tell(context.Background(), "auth", "two"))
		w.why("auth", "fault in turns")
		w.fault("none")
		w.Until("it reported", func() bool { return w.Info("main").Pending == 2 })
		if i := w.idles("auth"); i.Why != "" {
			t.Errorf("it still says %q", i.Why)
		}
		w.fault("states")
		check(t, w.Pool.End(context.Background(), "auth"))
		w.why("auth", "fault in states")
		if s := w.Info("auth").State; s.Terminal() {
			t.Errorf("it is %s, and its row does not say so", s)
		}
		w.fault("none")
		w.State("auth", event.Done)
		if want := []string{"auth completed: one", "auth completed: one, two"}; !slices.Equal(w.reports(), want) {
			t.Errorf("reported %q", w.reports())
		}
		w.Balanced()
	})
}

// TestIdle_slept: the time runs while the machine sleeps, though timers stand still.
func TestIdle_slept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		wakes := make(chan func(), 1)
		w := open(t, &model{Reply: echoes}, setting{
			Clock: func() time.Time { return time.Now().Add(time.Duration(slept.Load())) },
			Jumps: func(ctx context.Context, tell func()) error {
				wakes <- tell
				<-ctx.Done()
				return nil
			},
		})
		w.interactive("auth", "one", time.Hour)
		w.idles("auth")
		slept.Store(int64(2 * time.Hour))
		began := time.Now()
		(<-wakes)()
		w.State("auth", event.Done)
		if took := time.Since(began); took > time.Second {
			t.Errorf("after two hours of sleep it stayed another %s", took)
		}
	})
}

// TestIdle_gate: a later turn asks as the first one did, under the same rules.
// Spec: C-9, C-23.
func TestIdle_gate(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "write" && len(results(req)) == 0 {
			return call("c", "write_file", `{"path":"new.txt","content":"x"}`), nil
		}
		return text("done"), nil
	}}
	w := open(t, m, setting{Mode: permission.Ask})
	w.interactive("auth", "one", time.Hour)
	w.idles("auth")
	check(t, w.Pool.Tell(t.Context(), "auth", "write"))
	w.State("auth", event.Asking)
	w.Answer(w.Info("auth").Question.ID, permission.No)
	w.Until("it reported", func() bool { return w.Info("main").Pending == 2 })
	w.idles("auth")
	if _, err := os.Stat(filepath.Join(w.Dir, "new.txt")); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
	w.Balanced()
}

// TestIdle_delegated: the call that waits for an agent gets the result of its first turn. What the human has it do later
// arrives by itself, at a seam of a running turn, and the turn's end does not wait for that.
// Spec: C-2.
func TestIdle_delegated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *world
		m := &model{}
		m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
			if !strings.HasPrefix(asked(req), "boss") {
				return echoes(ctx, req)
			}
			switch rs := results(req); len(rs) {
			case 0:
				return call("c", "delegate", `{"name":"kid","prompt":"one","mode":"sync","interactive":true}`), nil
			case 1:
				if !strings.Contains(rs[0].Text, "\none\n") {
					t.Errorf("the call's result is %q", rs[0].Text)
				}
				check(t, w.Pool.Tell(ctx, "kid", "two"))
				time.Sleep(time.Second) // until the kid rests: the clock stands still while anybody works
				return call("d", "glob", `{"pattern":"*.go"}`), nil
			}
			return text("the boss is done"), nil
		}
		w = open(t, m, setting{})
		w.Push("boss", "boss")
		w.Run(0)
		w.State("boss", event.Done)
		w.idles("kid")
		var by []string
		for _, e := range w.Entries("boss") {
			for _, m := range e.Messages {
				by = append(by, string(e.Kind)+" "+m.Body)
			}
		}
		if want := []string{"result one", "message one, two"}; !slices.Equal(by, want) {
			t.Errorf("what entered the boss's turn: %q", by)
		}
		w.Balanced()
	})
}

// TestIdle_forgets: after a minute the conversation of an idle agent is not in memory any more.
func TestIdle_forgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each = 1 << 20
		m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) {
			return text(strings.Repeat("word ", each/5)), nil
		}}
		w := open(t, m, setting{})
		held := func() uint64 {
			m.Forget()
			w.Feed.Take()
			runtime.GC()
			var s runtime.MemStats
			runtime.ReadMemStats(&s)
			return s.HeapAlloc
		}
		agents := long.Times(6, 16)
		for n := range agents {
			name := fmt.Sprint("a", n)
			w.interactive(name, "go", tools.Forever)
			w.idles(name)
			check(t, w.Pool.Tell(context.Background(), name, "again")) // so that it has read what it said
			w.Until("it reported twice", func() bool { return w.Info("main").Pending == 2*(n+1) })
			w.idles(name)
		}
		before := held()
		time.Sleep(inMemory + time.Second)
		synctest.Wait()
		if after := held(); before < after+uint64(agents)*each*3/4 {
			t.Errorf("%d KiB before, %d KiB after", before>>10, after>>10)
		}
	})
}

// inMemory is how long a conversation stays in memory.
const inMemory = time.Minute
