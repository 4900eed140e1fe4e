package agents_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/tools"
)

// listed tells main's queue: `name state outcome`, in its order.
func (w *world) listed() string {
	w.T.Helper()
	q, err := w.Pool.Queue(w.T.Context(), w.Main())
	check(w.T, err)
	var s []string
	for _, t := range q.Tasks {
		s = append(s, strings.TrimSpace(t.Name+" "+t.State+" "+t.Outcome))
	}
	return strings.Join(s, ", ")
}

func (w *world) task(t tools.Task) tasks.Task {
	w.T.Helper()
	row, err := w.Pool.Tasks.Push(w.T.Context(), w.Main(), t)
	check(w.T, err)
	return row
}

func refuses(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got the error %v, want it to say %q", err, want)
	}
}

// Spec.
func TestQueue_changesWhatIsQueued(t *testing.T) {
	w, ctx := open(t, &model{Reply: briefed}, setting{}), t.Context()
	for _, n := range []string{"a", "b", "c", "d"} {
		w.Push(n, "does "+n)
	}
	for _, c := range []struct {
		name   string
		to, at int
		want   string
	}{
		{"d", 1, 1, "d queued, a queued, b queued, c queued"},
		{"d", 3, 3, "a queued, b queued, d queued, c queued"},
		{"a", 99, 4, "b queued, d queued, c queued, a queued"},
	} {
		at, err := w.Pool.Tasks.Move(ctx, c.name, c.to)
		check(t, err)
		if got := w.listed(); at != c.at || got != c.want {
			t.Errorf("%s to %d: at %d: %s", c.name, c.to, at, got)
		}
	}
	check(t, w.Pool.Tasks.Remove(ctx, "d"))
	check(t, w.Pool.Tasks.Edit(ctx, "c", "does\nsomething else"))
	if text, err := w.Pool.Tasks.Typed(ctx, "c"); err != nil || text != "does\nsomething else" {
		t.Errorf("c is %q, %v", text, err)
	}
	refuses(t, w.Pool.Tasks.Edit(ctx, "c", "!rm"), "can't change between")
	refuses(t, w.Pool.Tasks.Edit(ctx, "c", " "), "needs a prompt")
	var order []string
	w.Run(1)
	w.Settle()
	ms, err := w.Pool.Letters.Inbox(ctx, w.Main())
	check(t, err)
	for _, m := range ms {
		order = append(order, m.From+": "+strings.TrimSpace(m.Body))
	}
	if got := strings.Join(order, "; "); got != "b: answer to does b; c: answer to does\nsomething else; a: answer to does a" {
		t.Errorf("they ran as %q", got)
	}
	for _, err := range []error{w.Pool.Tasks.Remove(ctx, "a"), w.Pool.Tasks.Edit(ctx, "a", "x")} {
		refuses(t, err, "a has ended (completed); /retry a")
	}
	w.Push("e", "endless")
	w.Run(0)
	w.State("e", event.Running)
	_, err = w.Pool.Tasks.Move(ctx, "e", 1)
	for _, err := range []error{err, w.Pool.Tasks.Remove(ctx, "e"), w.Pool.Tasks.Edit(ctx, "e", "x")} {
		refuses(t, err, "e has started; /kill e ends it")
	}
	refuses(t, w.Pool.Tasks.Remove(ctx, "nobody"), "there is no task nobody")
	check(t, w.Pool.Kill(ctx, "e", false))
}

// Spec.
func TestRun_onceLeavesTheRest(t *testing.T) {
	w, ctx := open(t, &model{Reply: briefed}, setting{}), t.Context()
	for _, n := range []string{"a", "b", "c", "d"} {
		w.Push(n, "does "+n)
	}
	w.after("e", "x", "d")
	if _, err := w.Pool.Tasks.Move(ctx, "e", 1); err != nil {
		t.Fatal(err)
	}
	r, err := w.Pool.Run(ctx, w.Main(), tools.Start{Count: 2, Once: true})
	check(t, err)
	if r.String() != "Running 2 of 5 (3 queued)" {
		t.Errorf("run says %q", r)
	}
	w.Settle()
	if got := w.listed(); got != "e queued, a finished completed, b finished completed, c queued, d queued" {
		t.Errorf("the queue is %s", got)
	}
	w.Push("late", "x") // joins no window
	r, err = w.Pool.Run(ctx, w.Main(), tools.Start{Once: true})
	check(t, err)
	w.Settle()
	if r.Running != 3 || strings.Contains(w.listed(), "queued") {
		t.Errorf("ran %+v: %s", r, w.listed())
	}
}

// Spec, E-20.
func TestRun_timeoutIsForThoseWithoutOne(t *testing.T) {
	t.Parallel()
	w, ctx := open(t, &model{Reply: briefed}, setting{Cap: 1}), t.Context()
	// A busy machine may need longer than the first of these to start a shell.
	for limit := 200 * time.Millisecond; ; limit *= 5 {
		own, none := "own"+limit.String(), "none"+limit.String()
		w.task(tools.Task{Name: own, Prompt: fmt.Sprintf("!sleep %.1f", 1.5*limit.Seconds()), Timeout: time.Minute})
		w.task(tools.Task{Name: none, Prompt: "!trap '' TERM; echo deaf; echo $$ > pid; while :; do sleep 0.05; done"})
		_, err := w.Pool.Run(ctx, w.Main(), tools.Start{Timeout: limit})
		check(t, err)
		w.Settle()
		o, n := w.mail()[own], w.mail()[none]
		if _, err := os.Stat(filepath.Join(w.Dir, "pid")); err != nil && limit < 10*time.Second {
			continue
		}
		if o.Outcome != "completed" || n.Outcome != "timed_out" || n.Error != "timed out after "+limit.String() || !strings.Contains(n.Partial, "deaf") {
			t.Errorf("they ended with %+v\n%+v", o, n)
		}
		break
	}
	w.dead("pid")
}

// dead checks that no process has the number that a file holds.
func (w *world) dead(file string) {
	w.T.Helper()
	raw, err := os.ReadFile(filepath.Join(w.Dir, file))
	check(w.T, err)
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(raw)) + "/stat")
	if err == nil && !strings.Contains(string(stat), ") Z ") {
		w.T.Errorf("the process of %s lives: %s", file, stat)
	}
}

// TestKill_leavesTimeToTidyUp: what is killed and what its time-out ends may put
// its things in order for two seconds, and is of its task as long; only then is
// its name free. Closing the program does not wait for that.
// Spec: E-19, Q-14, Q-56, R-11.
func TestKill_leavesTimeToTidyUp(t *testing.T) {
	t.Parallel()
	w := open(t, &model{Reply: briefed}, setting{})
	for _, pipe := range []string{"go", "idle"} {
		check(t, syscall.Mkfifo(filepath.Join(w.Dir, pipe), 0o600))
	}
	gate, err := os.OpenFile(filepath.Join(w.Dir, "go"), os.O_RDWR, 0)
	check(t, err)
	defer gate.Close()
	// A signal that comes right before a read is seen behind it: so none is long.
	tidies := "!trap 'echo asked; read -r _ <go; echo tidied up; exit 3' TERM; echo ready; while :; do read -rt 0.1 _ <>idle; done"
	w.Push("victim", tidies)
	w.Run(0)
	w.Output("victim", "ready")
	// A busy machine may need longer than the first of these to set the trap.
	late := ""
	for limit := 300 * time.Millisecond; ; limit *= 5 {
		late = "late" + limit.String()
		w.task(tools.Task{Name: late, Prompt: tidies, Timeout: limit})
		w.Run(0)
		asked := false
		w.Until(late+" is asked to end, or ended", func() bool {
			asked = strings.Contains(w.Shown[w.Info(late).ID], "asked")
			return asked || w.Info(late).State.Terminal()
		})
		if asked {
			break
		}
	}
	killed := make(chan error, 1)
	go func() { killed <- w.Pool.Kill(context.WithoutCancel(t.Context()), "victim", false) }()
	for _, name := range []string{"victim", late} {
		w.Output(name, "asked")
		if i := w.Info(name); i.State != event.Running || i.Doing != "ending" {
			t.Errorf("%s is %s, %q", name, i.State, i.Doing)
		}
	}
	_, err = w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "victim", Prompt: "x"})
	refuses(t, err, `a task "victim" is queued or runs already`)
	<-time.After(300 * time.Millisecond) // longer than those are given that somebody waits for
	_, err = gate.WriteString("now\nnow\n")
	check(t, err)
	check(t, <-killed)
	w.Settle()
	for name, outcome := range map[string]string{"victim": "killed", late: "timed_out"} {
		if m := w.mail()[name]; m.Outcome != outcome || !strings.Contains(m.Partial, "tidied up") {
			t.Errorf("%s ended with %+v", name, m)
		}
	}

	w.Push("victim", tidies)
	w.Run(0)
	w.Output("victim", "ready")
	go func() { killed <- w.Pool.Kill(context.WithoutCancel(t.Context()), "victim", false) }()
	w.Output("victim", "asked")
	w.Close()
	check(t, <-killed)
}

// Spec: E-19, Q-56.
func TestKill_whatIgnoresSignals(t *testing.T) {
	t.Parallel()
	reply := func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "again" {
			return text("here"), nil
		}
		return append(text("I begin."), call("a", "bash", `{"command":"trap '' TERM INT HUP; echo $$ > pid; echo still here; while :; do sleep 0.05; done"}`)...), nil
	}
	w := open(t, &model{Reply: reply}, setting{})
	w.Push("deaf", "go")
	w.Run(0)
	w.Output("deaf", "still here")
	check(t, w.Pool.Kill(t.Context(), "deaf", false))
	w.dead("pid")
	m := w.mail()["deaf"]
	if m.Outcome != "killed" || m.Error != "killed" || !strings.Contains(m.Partial, "I begin.") || !strings.Contains(m.Partial, "still here") {
		t.Errorf("it ended with %+v", m)
	}
	w.Push("deaf", "again") // the name is free
	w.Run(0)
	w.Settle()
	w.State("deaf", event.Done)
	w.State("deaf·1", event.Killed)
	refuses(t, w.Pool.Kill(t.Context(), "main", true), "can't be killed")
}

// family is a model whose agents start one below them and wait for it: `dig 3`
// digs three deep, and then is endless.
func family(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
	var n int
	prompt := asked(req)
	if _, err := fmt.Sscanf(prompt, "dig %d", &n); err == nil && len(results(req)) == 0 {
		next := fmt.Sprintf(`{"name":"d%d","prompt":"dig %d","start":true}`, n-1, n-1)
		if n == 1 {
			next = `{"name":"d0","prompt":"endless","start":true}`
		}
		parts := call("p", "push", next)
		return append(parts, call("q", "push", fmt.Sprintf(`{"name":"later%d","prompt":"never"}`, n))...), nil
	}
	if prompt == "endless" {
		<-ctx.Done()
	}
	return text("done: " + prompt), nil
}

// Spec: R-56, N-37.
func TestKill_cascade(t *testing.T) {
	w, ctx := open(t, &model{Reply: family}, setting{Cap: 2}), t.Context()
	w.Push("d3", "dig 3")
	w.Run(0)
	w.Until("the deepest runs", func() bool { return w.Info("d0").Doing == "streaming" && w.Info("d1").State == event.Waiting })
	check(t, w.Pool.Kill(ctx, "d2", true))
	for name, want := range map[string]event.State{"d2": event.Killed, "d1": event.Killed, "d0": event.Killed, "d3": event.Done} {
		w.State(name, want)
	}
	w.Settle()
	// What they had queued is gone; what the one above had joined main's window.
	if got := w.listed(); got != "d3 finished completed, later3 finished completed" {
		t.Errorf("main's queue is %s", got)
	}
	var below []string
	es := w.Entries("d3")
	for _, e := range es {
		for _, m := range e.Messages {
			below = append(below, m.From+" "+m.Outcome)
		}
	}
	if got := strings.Join(below, ", "); !strings.Contains(got, "d2 killed") {
		t.Errorf("d3 was told %q", got)
	}
}

// Spec: R-27.
func TestCap_showsWhatItHoldsBack(t *testing.T) {
	w := open(t, &model{Reply: briefed}, setting{Cap: 2, AtOnce: map[string]int{"test/slow": 1}})
	w.task(tools.Task{Name: "s1", Prompt: "endless", Model: "test/slow"})
	w.task(tools.Task{Name: "s2", Prompt: "x", Model: "test/slow"})
	w.Push("a", "endless")
	w.Push("b", "x")
	w.after("c", "y", "b")
	w.Run(0)
	w.State("s1", event.Running)
	w.State("a", event.Running)
	want := "Queued:\n  - s2: queued (cap)\n  - b: queued (cap)\n  - c (after b)\n"
	if got := w.queued(); !strings.HasPrefix(got, want) {
		t.Errorf("queue:\n%s\nwant\n%s", got, want)
	}
	check(t, w.Pool.Kill(t.Context(), "a", false))
	w.State("c", event.Done) // s2 does not hold them up
	if got := w.queued(); !strings.HasPrefix(got, "Queued:\n  - s2: queued (slow)\n") {
		t.Errorf("queue:\n%s", got)
	}
	check(t, w.Pool.Kill(t.Context(), "s1", false))
	w.Settle()
	w.State("s2", event.Done)
}

// TestVendorWindow: a wider window of the human's own is right as well, and told.
//
// Spec: E-35.
func TestVendorWindow(t *testing.T) {
	play(t, counted(), setting{AtOnce: map[string]int{"test/one": 1}}, func(w *world) {
		for i := range 4 {
			w.Push(fmt.Sprint("t", i), "wait 10s then say done")
		}
		began := time.Now()
		if r := w.Run(3).String(); r != "Running 1 of 4 (window 3, 3 queued)" {
			t.Errorf("run says %q", r)
		}
		w.Until("the first waits", func() bool { return w.Info("t0").Doing == "streaming" })
		if got := w.queued(); strings.Count(got, ": queued (one)") != 3 {
			t.Errorf("queue:\n%s", got)
		}
		w.rest()
		if d := time.Since(began).Round(time.Second); d != 40*time.Second || len(w.mail()) != 4 {
			t.Errorf("it took %s for %d results", d, len(w.mail()))
		}
	})
}

// Spec: R-27.
func TestSpawns_areBoundedForAgentsOnly(t *testing.T) {
	var mu sync.Mutex
	var said []string
	reply := func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		rs := results(req)
		var n int
		if _, err := fmt.Sscanf(asked(req), "push %d", &n); err == nil && len(rs) == 0 {
			var parts []llm.Part
			for i := range n {
				parts = append(parts, call(fmt.Sprint("p", i), "push", fmt.Sprintf(`{"prompt":"x %d"}`, i))...)
			}
			return parts, nil
		}
		mu.Lock()
		defer mu.Unlock()
		said = append(said, rs[len(rs)-1].Text)
		return text("ok"), nil
	}
	w := open(t, &model{Reply: reply}, setting{})
	w.Prompt("push 101")
	w.Settle()
	for range 3 {
		w.Push("", "typed by the human")
	}
	w.Prompt("push 1")
	w.Settle()
	if len(said) != 2 || !strings.Contains(said[1], "Tasks in your queue: 104") ||
		!strings.Contains(said[0], "you among them, pushed 100 tasks within an hour, which is the limit; the next is possible in ") {
		t.Errorf("it was told %q", said)
	}
	q, err := w.Pool.Queue(t.Context(), w.Main())
	check(t, err)
	origins := map[string]int{}
	for _, task := range q.Tasks {
		origins[task.Origin]++
	}
	if origins["agent"] != 101 || origins["human"] != 3 {
		t.Errorf("origins %v", origins)
	}
}

func TestRetry(t *testing.T) {
	w, ctx := open(t, &model{Reply: briefed}, setting{}), t.Context()
	first := w.task(tools.Task{Name: "a", Prompt: "fails at first", Timeout: time.Minute, Deliver: "next"})
	w.Run(0)
	w.Settle()
	again, before, err := w.Pool.Tasks.Retry(ctx, w.Main(), "a", "mind the gap")
	check(t, err)
	if again.Name != "a" || again.Timeout != first.Timeout || again.Deliver != "next" || again.Model != first.Model || before != history.OutFailed {
		t.Errorf("again %+v after %s", again, before)
	}
	refusesRetry := func(name, hint, want string) {
		t.Helper()
		_, _, err := w.Pool.Tasks.Retry(ctx, w.Main(), name, hint)
		refuses(t, err, want)
	}
	refusesRetry("a", "", "a has not ended")
	refusesRetry("b", "", "there is no task b; /queue --all lists them")
	check(t, w.Pool.Tasks.Edit(ctx, "a", "works now"))
	w.Run(0)
	w.Settle()
	ms, err := w.Pool.Letters.Inbox(ctx, w.Main())
	check(t, err)
	last := ms[len(ms)-1]
	for _, want := range []string{"answer to works now", "boom", "so far", "mind the gap"} {
		if last.From != "a" || !strings.Contains(last.Body, want) {
			t.Errorf("the second attempt lacks %q: %+v", want, last)
		}
	}
	w.State("a·1", event.Failed)
	_, before, err = w.Pool.Tasks.Retry(ctx, w.Main(), "a", "")
	check(t, err)
	if before != history.Completed {
		t.Errorf("it had ended as %s", before)
	}
	w.Push("cmd", "!exit 4")
	w.Run(0)
	w.Settle()
	refusesRetry("cmd", "hint", "takes no hint")
	_, _, err = w.Pool.Tasks.Retry(ctx, w.Main(), "cmd", "")
	check(t, err)
	w.Run(0)
	w.Settle()
	w.State("cmd·1", event.Failed)
	if m := w.mail()["cmd"]; m.Error != "exit 4" {
		t.Errorf("cmd ended with %+v", m)
	}
}

// A model's tools push no commands, and tell of what they remove.
func TestQueueTool(t *testing.T) {
	var told []string
	reply := func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		rs := results(req)
		if len(rs) == 0 {
			var parts []llm.Part
			for i, c := range []string{`push {"prompt":"!rm x"}`, `push {"prompt":"x","name":"own"}`, `queue {"remove":"own"}`, `queue {"remove":"typed"}`, `queue {"remove":"none"}`} {
				name, args, _ := strings.Cut(c, " ")
				parts = append(parts, call(fmt.Sprint(i), name, args)...)
			}
			return parts, nil
		}
		for _, r := range rs {
			told = append(told, r.Text)
		}
		return text("ok"), nil
	}
	w := open(t, &model{Reply: reply}, setting{})
	w.Push("typed", "by the human")
	w.Prompt("go")
	w.Settle()
	if len(told) != 5 || !strings.Contains(told[0], "only the human can push a command") || !strings.Contains(told[4], "there is no task none") || !strings.HasPrefix(told[3], "Removed 'typed'.") || strings.Contains(told[3], "- typed") {
		t.Errorf("it was told %q", told)
	}
	ms, err := w.Pool.Letters.Inbox(t.Context(), w.Main())
	check(t, err)
	if len(ms) != 1 || ms[0].Kind != inbox.Notice || !strings.Contains(ms[0].Body, "removed the task typed") || !strings.Contains(ms[0].Body, "by the human") {
		t.Errorf("inbox %+v", ms)
	}
}

// TestRetry_keepsTrust: what somebody outside asked for stays so however often it
// is tried, and so does what its agent pushed.
func TestRetry_keepsTrust(t *testing.T) {
	w, ctx := open(t, counted(), setting{}), t.Context()
	w.outside("push", "out", "push kid: say x\nfail on purpose")
	w.Push("own", "say mine")
	w.Consent(0)
	w.Settle()
	for name, want := range map[string]string{"out": "cli", "kid": "cli", "own": "human"} {
		row, _, err := w.Pool.Tasks.Retry(ctx, w.Main(), name, "")
		check(t, err)
		if row.Origin != want {
			t.Errorf("%s is asked for by %s, want %s", name, row.Origin, want)
		}
	}
	// Only the human's own /run starts them, one that is carried out.
	if r, err := w.Pool.Run(ctx, w.Main(), tools.Start{Count: -1}); err == nil || len(r.Outside) > 0 {
		t.Errorf("run let in %v, %v", r.Outside, err)
	}
	r := w.Run(0)
	if len(r.Outside) != 2 || r.Outside[0].Asks == "" {
		t.Errorf("run let in %v", r.Outside)
	}
	w.Settle()
	for _, name := range []string{"out", "kid"} {
		w.Until(name+" is judged strictly", func() bool { return w.Info(name).State.Terminal() && w.Info(name).Outside })
	}
}

// TestQueue_showsThoseThatFinishedLast: what was pushed early and took long is
// among them, wherever it stands in the queue.
// Spec.
func TestQueue_showsThoseThatFinishedLast(t *testing.T) {
	now := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	var q tasks.QueueView
	for i, name := range []string{"slow", "a", "b", "c"} {
		at := now.Add(time.Duration(i-9) * time.Minute)
		if name == "slow" {
			at = now.Add(-time.Second)
		}
		q.Tasks = append(q.Tasks, tasks.Task{ID: int64(i + 1), Name: name, State: "finished", Outcome: "completed", Finished: at})
	}
	want := "Finished:\n  - c (completed 6m ago)\n  - slow (completed 1s ago)\n  (+2 older, /queue --all)"
	if got := tasks.QueueText(q, now, 2); got != want {
		t.Errorf("the queue reads %q, want %q", got, want)
	}
}

// TestOpen_tellsWhatIsStillQueued: the next start carries out nothing by itself,
// and says so where it stands, once.
// Spec: E-1, R-38.
func TestOpen_tellsWhatIsStillQueued(t *testing.T) {
	dir := t.TempDir()
	start := func() *world { return open(t, &model{Reply: briefed}, setting{Dir: dir, Cap: 1}) }
	notices := func(w *world, agent string) (texts []string) {
		for _, e := range w.Entries(agent) {
			if e.Kind == history.EntryNotice {
				texts = append(texts, e.Text)
			}
		}
		return texts
	}
	w := start()
	h, err := w.Pool.NewHelper(t.Context(), "aide", "")
	check(t, err)
	for i := range 7 {
		w.Push(fmt.Sprint("t", i), "x")
	}
	_, err = w.Pool.Tasks.Push(t.Context(), h.ID, tools.Task{Name: "own", Prompt: "x"})
	check(t, err)
	w.Close()
	for range 2 {
		w = start()
		if got := notices(w, "main"); len(got) != 1 || got[0] != "7 tasks are queued: t0, t1, t2, t3, t4 and 2 more. /run shows what they say, and asks before they start; /queue shows more." {
			t.Errorf("main reads %q", got)
		}
		if got := notices(w, "aide"); len(got) != 1 || got[0] != "1 task is queued: own. /run shows what it says, and asks before it starts; /queue shows more." {
			t.Errorf("the helper reads %q", got)
		}
		w.Close()
	}
	w = start()
	w.Consent(0)
	w.Settle()
	w.Close()
	if got := notices(start(), "main"); len(got) != 1 {
		t.Errorf("after all ran main reads %q", got)
	}
}
