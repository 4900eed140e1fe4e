package agents_test

import (
	"context"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/tools"
)

// briefed answers a prompt with what it was told beside it; `fails` fails and
// `endless` ends when it is stopped.
func briefed(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
	prompt := asked(req)
	switch {
	case strings.HasPrefix(prompt, "fails"):
		return text("so far"), &llm.Error{Kind: llm.BadRequest, Provider: "test", Message: "boom"}
	case strings.HasPrefix(prompt, "endless"):
		<-ctx.Done()
	}
	var told []string
	for _, m := range req.Messages {
		for _, part := range m.Parts {
			if t, ok := part.(llm.Text); ok && t.From == llm.FromMessage {
				told = append(told, t.Text)
			}
		}
	}
	return text("answer to " + prompt + " " + strings.Join(told, "\n")), nil
}

func (w *world) after(name, prompt string, needs ...string) {
	w.T.Helper()
	_, err := w.Pool.Tasks.Push(w.T.Context(), w.Main(), tools.Task{Name: name, Prompt: prompt, After: needs})
	check(w.T, err)
}

// mail is main's pending messages, by sender.
func (w *world) mail() map[string]inbox.Message {
	w.T.Helper()
	ms, err := w.Pool.Letters.Inbox(w.T.Context(), w.Main())
	check(w.T, err)
	by := map[string]inbox.Message{}
	for _, m := range ms {
		by[m.From] = m
	}
	return by
}

func TestAfter_startsWithTheResults(t *testing.T) {
	w := open(t, &model{Reply: briefed}, setting{})
	w.Push("a", "first")
	w.Push("b", "second")
	w.after("c", "third", "a", "b")
	if got := w.queued(); !strings.Contains(got, "  - c (after a, b)") {
		t.Errorf("queue:\n%s", got)
	}
	w.Run(1)
	w.Settle()
	c := w.mail()["c"]
	for _, want := range []string{"answer to third", "answer to first", "answer to second", `from="a"`} {
		if !strings.Contains(c.Body, want) {
			t.Errorf("the result lacks %q: %+v", want, c)
		}
	}
	// One that ended long ago is there as well.
	w.after("d", "fourth", "a")
	w.Run(0)
	w.Settle()
	if d := w.mail()["d"]; !strings.Contains(d.Body, "answer to first") {
		t.Errorf("the result of d: %+v", d)
	}
}

func TestAfter_doesNotHoldUpOthers(t *testing.T) {
	w := open(t, &model{Reply: briefed}, setting{})
	w.Push("a", "endless")
	w.after("b", "late", "a")
	w.Push("c", "quick")
	w.Run(2)
	w.State("c", event.Done)
	if got := w.queued(); !strings.Contains(got, "  - b (after a)") {
		t.Errorf("queue:\n%s", got)
	}
	check(t, w.Pool.Kill(t.Context(), "a", false))
	w.Settle()
	if b := w.mail()["b"]; b.Kind != inbox.Failure || b.Error != "not started: a killed" {
		t.Errorf("b ended with %+v", b)
	}
}

func TestAfter_failureCascades(t *testing.T) {
	w := open(t, &model{Reply: briefed}, setting{})
	w.Push("a", "fails")
	w.after("b", "x", "a")
	w.after("c", "y", "b")
	w.Push("r", "endless")
	w.after("s", "z", "r")
	w.Run(0)
	check(t, w.Pool.Kill(t.Context(), "r", false))
	w.Settle()
	for name, want := range map[string]string{
		"a": "boom", "b": "not started: a failed: ", "c": "not started: b failed: not started: a failed: ", "s": "not started: r ",
	} {
		if m := w.mail()[name]; m.Kind != inbox.Failure || !strings.Contains(m.Error, want) {
			t.Errorf("%s ended with %+v", name, m)
		}
	}
	for _, name := range []string{"b", "a,nobody"} {
		_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Prompt: "x", After: strings.Split(name, ",")})
		if err == nil || !strings.Contains(err.Error(), "after=") {
			t.Errorf("after=%s: %v", name, err)
		}
	}
}

func TestCommand(t *testing.T) {
	w := open(t, &model{Reply: briefed}, setting{Mode: "ask"})
	w.Push("ok", "!seq 1 30; echo $((40+2))")
	w.Push("bad", "!echo before; exit 3")
	w.Run(0)
	w.Settle()
	ok, bad := w.mail()["ok"], w.mail()["bad"]
	if ok.Kind != inbox.Result || !strings.HasPrefix(ok.Body, "exit 0, took ") || !strings.HasSuffix(ok.Body, "\n29\n30\n42\n```") || ok.Subject != "!seq 1 30; echo $((40+2))" || strings.Contains(ok.Body, "\n11\n") {
		t.Errorf("ok ended with %+v", ok)
	}
	if bad.Kind != inbox.Failure || bad.Error != "exit 3" || !strings.Contains(bad.Partial, "before") || !strings.HasPrefix(bad.Partial, "took ") || strings.Contains(bad.Partial, "exit") {
		t.Errorf("bad ended with %+v", bad)
	}
	if i := w.Info("ok"); i.Model != "" || !strings.HasPrefix(i.Prompt, "!seq") {
		t.Errorf("ok is %+v", i)
	}
	w.Push("long", "!echo begun; sleep 600")
	w.Run(0)
	w.Output("long", "begun")
	check(t, w.Pool.Kill(t.Context(), "long", false))
	if m := w.mail()["long"]; m.Outcome != "killed" || !strings.Contains(m.Partial, "begun") {
		t.Errorf("long ended with %+v", m)
	}
}

// TestReceive_fromOneThatWaits: who waits for a task that waits for another is
// told whether it can still come.
//
// Spec: R-21.
func TestReceive_fromOneThatWaits(t *testing.T) {
	w := open(t, &model{Reply: briefed}, setting{})
	receive := func(from string) (inbox.Message, error) {
		return w.Pool.Pickup.Receive(t.Context(), w.Main(), inbox.Query{From: from})
	}
	w.Push("a", "first")
	w.after("b", "second", "a")
	_, err := receive("b")
	refuses(t, err, "b is queued and waits for a, which can't go on: /queue")
	_, err = receive("")
	refuses(t, err, "2 tasks are queued, none runs: /run")
	w.Run(1)
	if m, err := receive("b"); err != nil || m.From != "b" {
		t.Errorf("received %+v, %v", m, err)
	}
	w.State("b", event.Done) // and with it the run
	// The needed task runs, but what waits for it was never started.
	w.Push("c", "endless")
	w.after("d", "x", "c")
	if _, err := w.Pool.Run(t.Context(), w.Main(), tools.Start{Count: 1, Once: true}); err != nil {
		t.Fatal(err)
	}
	w.State("c", event.Running)
	_, err = receive("d")
	refuses(t, err, "d is queued and waits for c")
	check(t, w.Pool.Kill(t.Context(), "c", false))
	if m, err := receive("d"); err != nil || m.Error != "not started: c killed" {
		t.Errorf("received %+v, %v", m, err)
	}
}

// TestAwait_whatWaitsForItself: agents that started work which waits for them end
// without waiting for it, and it starts with their results.
func TestAwait_whatWaitsForItself(t *testing.T) {
	reply := func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if name, other, ok := strings.Cut(asked(req), " starts what waits for "); ok {
			if len(results(req)) == 0 {
				return call("p", "push", `{"name":"of-`+name+`","prompt":"late","after":["`+other+`"],"start":true}`), nil
			}
			return text("done " + name), nil
		}
		return briefed(ctx, req)
	}
	w := open(t, &model{Reply: reply}, setting{})
	w.Push("own", "own starts what waits for own")
	w.Push("x", "x starts what waits for y")
	w.Push("y", "y starts what waits for x")
	w.Run(0)
	for _, name := range []string{"own", "x", "y", "of-own", "of-x", "of-y"} {
		w.State(name, event.Done)
	}
	w.Settle()
	if m := w.mail()["of-own"]; !strings.Contains(m.Body, "done own") {
		t.Errorf("it ended with %+v", m)
	}
}

// TestNames_ofOneUsedAgain: a name that is used again is a new agent; the old one
// keeps its tab and its mail.
//
// Spec: E-21, Q-7.
func TestNames_ofOneUsedAgain(t *testing.T) {
	w, ctx := open(t, &model{Reply: briefed}, setting{}), t.Context()
	again := func(want string) {
		t.Helper()
		_, err := w.Pool.Tasks.Push(ctx, w.Main(), tools.Task{Name: "tests", Prompt: "x"})
		refuses(t, err, want)
	}
	w.Push("tests", "endless one")
	again("queued or runs already") // queued + queued
	w.Run(0)
	w.Until("the first runs", func() bool { return w.Info("tests").Doing == "streaming" })
	again("queued or runs already") // running + queued
	_, err := w.Pool.Letters.Send(ctx, w.Main(), "tests", "for the first", "")
	check(t, err)
	first := w.Info("tests").ID
	check(t, w.Pool.Kill(ctx, "tests", false))
	w.Push("tests", "endless two") // finished + fresh
	w.Run(0)
	w.Until("the second runs", func() bool { return w.Info("tests").Doing == "streaming" })
	if old := w.Info("tests·1"); old.ID != first || old.State != event.Killed {
		t.Errorf("the first is %+v", old)
	}
	second := w.Info("tests").ID
	_, err = w.Pool.Letters.Send(ctx, w.Main(), "tests", "for the second", "")
	check(t, err)
	for id, want := range map[int64]string{first: "for the first", second: "for the second"} {
		ms, err := w.Pool.Letters.Inbox(ctx, id)
		check(t, err)
		if len(ms) != 1 || ms[0].Body != want {
			t.Errorf("the inbox of %d holds %+v", id, ms)
		}
	}
	check(t, w.Pool.Kill(ctx, "tests", false))
	w.Push("tests", "quick three")
	w.Run(0)
	w.Settle()
	w.Until("the third has ended", func() bool { return w.Info("tests").State == event.Done })
	for name, want := range map[string]string{"tests": "quick three", "tests·2": "endless two", "tests·1": "endless one"} {
		if i := w.Info(name); i.Prompt != want {
			t.Errorf("%s is %+v", name, i)
		}
	}
}
