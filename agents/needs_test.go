package agents_test

import (
	"context"
	"strings"
	"testing"

	"fantail/agents"
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
	w.t.Helper()
	_, err := w.pool.Push(w.t.Context(), w.main(), tools.Task{Name: name, Prompt: prompt, After: needs})
	check(w.t, err)
}

// mail is main's pending messages, by sender.
func (w *world) mail() map[string]inbox.Message {
	w.t.Helper()
	ms, err := w.pool.Inbox(w.t.Context(), w.main())
	check(w.t, err)
	by := map[string]inbox.Message{}
	for _, m := range ms {
		by[m.From] = m
	}
	return by
}

func TestAfter_startsWithTheResults(t *testing.T) {
	w := open(t, &model{reply: briefed}, setting{})
	w.push("a", "first")
	w.push("b", "second")
	w.after("c", "third", "a", "b")
	if got := w.queued(); !strings.Contains(got, "  - c (after a, b)") {
		t.Errorf("queue:\n%s", got)
	}
	w.run(1)
	w.settle()
	c := w.mail()["c"]
	for _, want := range []string{"answer to third", "answer to first", "answer to second", `from="a"`} {
		if !strings.Contains(c.Body, want) {
			t.Errorf("the result lacks %q: %+v", want, c)
		}
	}
	// One that ended long ago is there as well.
	w.after("d", "fourth", "a")
	w.run(0)
	w.settle()
	if d := w.mail()["d"]; !strings.Contains(d.Body, "answer to first") {
		t.Errorf("the result of d: %+v", d)
	}
}

func TestAfter_doesNotHoldUpOthers(t *testing.T) {
	w := open(t, &model{reply: briefed}, setting{})
	w.push("a", "endless")
	w.after("b", "late", "a")
	w.push("c", "quick")
	w.run(2)
	w.state("c", agents.Done)
	if got := w.queued(); !strings.Contains(got, "  - b (after a)") {
		t.Errorf("queue:\n%s", got)
	}
	check(t, w.pool.Kill(t.Context(), "a", false))
	w.settle()
	if b := w.mail()["b"]; b.Kind != inbox.Failure || b.Error != "not started: a killed" {
		t.Errorf("b ended with %+v", b)
	}
}

func TestAfter_failureCascades(t *testing.T) {
	w := open(t, &model{reply: briefed}, setting{})
	w.push("a", "fails")
	w.after("b", "x", "a")
	w.after("c", "y", "b")
	w.push("r", "quick")
	w.after("s", "z", "r")
	w.run(0)
	check(t, w.pool.Kill(t.Context(), "r", false))
	w.settle()
	for name, want := range map[string]string{
		"a": "boom", "b": "not started: a failed: ", "c": "not started: b failed: not started: a failed: ", "s": "not started: r ",
	} {
		if m := w.mail()[name]; m.Kind != inbox.Failure || !strings.Contains(m.Error, want) {
			t.Errorf("%s ended with %+v", name, m)
		}
	}
	for _, name := range []string{"b", "a,nobody"} {
		_, err := w.pool.Push(t.Context(), w.main(), tools.Task{Prompt: "x", After: strings.Split(name, ",")})
		if err == nil || !strings.Contains(err.Error(), "after=") {
			t.Errorf("after=%s: %v", name, err)
		}
	}
}

func TestCommand(t *testing.T) {
	w := open(t, &model{reply: briefed}, setting{mode: "ask"})
	w.push("ok", "!seq 1 30; echo $((40+2))")
	w.push("bad", "!echo before; exit 3")
	w.run(0)
	w.settle()
	ok, bad := w.mail()["ok"], w.mail()["bad"]
	if ok.Kind != inbox.Result || !strings.HasPrefix(ok.Body, "exit 0, took ") || !strings.HasSuffix(ok.Body, "\n29\n30\n42") || strings.Contains(ok.Body, "\n11\n") {
		t.Errorf("ok ended with %+v", ok)
	}
	if bad.Kind != inbox.Failure || bad.Error != "exit 3" || !strings.Contains(bad.Partial, "before") || !strings.Contains(bad.Partial, "exit 3, took") {
		t.Errorf("bad ended with %+v", bad)
	}
	if i := w.info("ok"); i.Model != "" || !strings.HasPrefix(i.Prompt, "!seq") {
		t.Errorf("ok is %+v", i)
	}
	w.push("long", "!echo begun; sleep 600")
	w.run(0)
	w.output("long", "begun")
	check(t, w.pool.Kill(t.Context(), "long", false))
	if m := w.mail()["long"]; m.Outcome != "killed" || !strings.Contains(m.Partial, "begun") {
		t.Errorf("long ended with %+v", m)
	}
}
