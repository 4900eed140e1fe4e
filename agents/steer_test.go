package agents_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/llm/builtin"
	"fantail/inbox"
	"fantail/tools"
)

// wraps is a model that works in steps until it is asked to wrap up.
func wraps(first func(ctx context.Context) []llm.Part) *model {
	return &model{Reply: func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if strings.HasPrefix(asked(req), "Wrap up now") {
			return text("what there is"), nil
		}
		return first(ctx), nil
	}}
}

// wrapped fails unless the agent ended with what it had and its transcript says
// who asked for that.
func (w *world) wrapped(name string) {
	w.T.Helper()
	w.State(name, event.Done)
	by := ""
	es := w.Entries(name)
	for _, e := range es {
		if e.Kind == history.EntryPrompt && strings.HasPrefix(e.Text, "Wrap up now") {
			by = e.By
		}
	}
	if by != "user" {
		w.T.Errorf("the transcript of %s names %q for the prompt to wrap up: %s", name, by, kinds(es))
	}
	if es[0].By != "" {
		w.T.Errorf("the task of %s stands as written by %q", name, es[0].By)
	}
}

// atGate is a workspace whose agent job runs a command that waits at a pipe called gate, and its model.
func atGate(t *testing.T) (*world, *model) {
	t.Helper()
	m := wraps(func(context.Context) []llm.Part {
		return call("c", "bash", `{"command":"mkfifo gate; echo begun; read x < gate"}`)
	})
	w := open(t, m, setting{})
	w.Push("job", "work on and on")
	w.Run(0)
	w.State("job", event.Running)
	w.Output("job", "begun")
	return w, m
}

// TestWrapUp_entersAtTheNextSeam: the prompt enters behind the tool that runs,
// and the turn ends with the reply to it.
func TestWrapUp_entersAtTheNextSeam(t *testing.T) {
	w, m := atGate(t)
	check(t, w.Pool.WrapUp(t.Context(), "job"))
	if err := w.Pool.WrapUp(t.Context(), "job"); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("asked twice: %v", err)
	}
	w.Until("the prompt shows as queued", func() bool { return len(w.Info("job").Prompts) == 1 })
	if n := len(m.Seen()); n != 1 {
		t.Fatalf("%d requests before the seam", n)
	}
	check(t, os.WriteFile(filepath.Join(w.Dir, "gate"), []byte("go\n"), 0o600))
	w.wrapped("job")
	if n := len(m.Seen()); n != 2 {
		t.Errorf("%d requests, want the task's and the one that wraps up", n)
	}
}

// TestWrapUp_endsAWait: who waits for a message that will not come goes on.
func TestWrapUp_endsAWait(t *testing.T) {
	w := open(t, wraps(func(context.Context) []llm.Part { return call("c", "receive", `{}`) }), setting{})
	w.Push("job", "wait for somebody")
	w.Run(0)
	w.State("job", event.Waiting)
	check(t, w.Pool.WrapUp(t.Context(), "job"))
	w.wrapped("job")
	for _, e := range w.Entries("job") {
		if e.Kind == history.EntryResult && !strings.Contains(e.Result.Text, "the user wrote to you meanwhile") {
			t.Errorf("the call ended with %q", e.Result.Text)
		}
	}
}

// TestWrapUp_leavesTheWork: an agent that waits for its own work ends without it,
// and the work reports to who is above.
func TestWrapUp_leavesTheWork(t *testing.T) {
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		switch a := asked(req); {
		case strings.HasPrefix(a, "Wrap up now"):
			return text("without the kid"), nil
		case a == "long":
			return call("k", "bash", `{"command":"mkfifo gate; read x < gate"}`), nil
		case len(results(req)) == 0:
			return call("c", "push", `{"name":"kid","prompt":"long","start":true}`), nil
		}
		return text("dispatched"), nil
	}
	w := open(t, m, setting{})
	w.Push("job", "delegate it")
	w.Run(0)
	w.State("job", event.Waiting)
	check(t, w.Pool.WrapUp(t.Context(), "job"))
	w.wrapped("job")
	w.State("kid", event.Running)
	check(t, w.Pool.Kill(t.Context(), "kid", false))
	w.Until("main has both", func() bool { return w.Info("main").Pending == 2 })
}

// TestWrapUp_builtin: the engine without a model begins nothing more.
func TestWrapUp_builtin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, builtin.New(), setting{})
		w.Push("job", "say one then wait 10s then run echo early then run echo late then say two")
		w.Run(0)
		w.State("job", event.Running)
		time.Sleep(time.Second)
		check(t, w.Pool.WrapUp(t.Context(), "job"))
		w.wrapped("job")
		es := w.Entries("job")
		if s := es[len(es)-2].Text; !strings.Contains(s, "one") || !strings.Contains(s, "Not done: ") || !strings.Contains(s, "run echo late") {
			t.Errorf("it answered %q", s)
		}
		w.Close()
	})
}

// TestWrapUp_builtinRepeatsItself: an engine that has answered and waits for its
// work says again what it said: that is its result.
func TestWrapUp_builtinRepeatsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, builtin.New(), setting{})
		w.Push("job", "delegate kid: wait 1h")
		w.Run(0)
		w.State("job", event.Waiting)
		check(t, w.Pool.WrapUp(t.Context(), "job"))
		w.wrapped("job")
		es := w.Entries("job")
		if s := es[len(es)-2].Text; !strings.Contains(s, "delegate kid") || strings.Contains(s, "No language model") {
			t.Errorf("it answered %q", s)
		}
		check(t, w.Pool.Kill(t.Context(), "kid", false))
		w.Close()
	})
}

// TestWrapUp_endsWithTheAgent: one that did not enter before the agent was killed
// shows no longer, and does not come up when the agent goes on later.
func TestWrapUp_endsWithTheAgent(t *testing.T) {
	w, m := atGate(t)
	check(t, w.Pool.WrapUp(t.Context(), "job"))
	check(t, w.Pool.Kill(t.Context(), "job", false))
	w.State("job", event.Killed)
	if n := len(w.Info("job").Prompts); n != 0 {
		t.Errorf("%d prompts stand as queued", n)
	}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) { return text("to " + asked(req)), nil }
	_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "job", Prompt: "go on", Resume: true})
	check(t, err)
	w.Run(0)
	w.State("job", event.Done)
	if es := w.Entries("job"); es[len(es)-2].Text != "to go on" {
		t.Errorf("it answered %q", es[len(es)-2].Text)
	}
}

func TestWrapUp_refusals(t *testing.T) {
	w := open(t, wraps(func(context.Context) []llm.Part { return text("done") }), setting{})
	w.Push("later", "not started")
	for name, want := range map[string]string{"main": "runs no turn", "later": "has not started", "nobody": "no such agent"} {
		if err := w.Pool.WrapUp(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	w.Run(0)
	w.State("later", event.Done)
	if err := w.Pool.WrapUp(t.Context(), "later"); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("an ended agent: %v", err)
	}
}

// TestWrapUp_putsAsideWhatItDelegated: an agent that waits for a sync delegation
// goes on without it.
func TestWrapUp_putsAsideWhatItDelegated(t *testing.T) {
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		switch a := asked(req); {
		case strings.HasPrefix(a, "Wrap up now"):
			return text("without the kid"), nil
		case a == "long":
			return call("k", "bash", `{"command":"mkfifo gate; read x < gate"}`), nil
		}
		return call("c", "delegate", `{"name":"kid","prompt":"long","mode":"sync"}`), nil
	}
	w := open(t, m, setting{})
	w.Push("job", "delegate it")
	w.Run(0)
	w.State("job", event.Waiting)
	w.State("kid", event.Running)
	check(t, w.Pool.WrapUp(t.Context(), "job"))
	w.wrapped("job")
	w.State("kid", event.Running)
	check(t, w.Pool.Kill(t.Context(), "kid", false))
}

// told tells an agent something, which must work.
func (w *world) told(name, text string) {
	w.T.Helper()
	check(w.T, w.Pool.Tell(w.T.Context(), name, text))
}

// hears is a model that repeats the last prompt. It takes from the gate that it is asked to begin, and waits until that
// is closed.
func hears(gate chan struct{}) *model {
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "begin" {
			gate <- struct{}{}
			select {
			case <-gate:
			case <-ctx.Done():
			}
		}
		return text("heard: " + asked(req)), nil
	}
	return m
}

// What a human tells an agent at work is a prompt of theirs, attributed, in its present turn, however often they do.
// Spec: R-50, E-13, E-14.
func TestTell_enters(t *testing.T) {
	gate := make(chan struct{})
	w := open(t, hears(gate), setting{})
	w.Push("job", "begin")
	w.Run(0)
	<-gate
	w.told("job", "now also this")
	w.told("jo", "and that") // its name's beginning means it too
	w.Until("they show as queued", func() bool { return len(w.Info("job").Prompts) == 2 })
	close(gate)
	w.State("job", event.Done)
	var got []string
	for _, e := range w.Entries("job") {
		if e.Kind == history.EntryPrompt || e.Kind == history.EntryText {
			got = append(got, e.By+":"+e.Text)
		}
	}
	if want := []string{":begin", ":heard: begin", "user:now also this", "user:and that", ":heard: and that"}; !slices.Equal(got, want) {
		t.Errorf("it had %q", got)
	}
	ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
	if err != nil || len(ms) != 1 || !strings.Contains(ms[0].Body, "heard: and that") {
		t.Errorf("it reported %+v, %v", ms, err)
	}
}

// Whatever it waits for, it hears what it is told; and what it waited for is still waited for after.
func TestTell_endsAWait(t *testing.T) {
	w := open(t, builtin.New(), setting{})
	w.Push("job", "delegate async kid: run echo on; sleep 600")
	w.Run(0)
	w.Output("kid", "on")
	w.State("job", event.Waiting)
	w.told("job", "say still here")
	w.Until("it answered", func() bool {
		return strings.Contains(fmt.Sprint(w.Entries("job")), "still here")
	})
	w.State("job", event.Waiting)
	check(t, w.Pool.Kill(t.Context(), "kid", false))
	w.State("job", event.Done)
}

// Told to wrap up and told something else, it does both.
func TestTell_besideWrapUp(t *testing.T) {
	gate := make(chan struct{})
	w := open(t, hears(gate), setting{})
	w.Push("job", "begin")
	w.Run(0)
	<-gate
	w.told("job", "this first")
	check(t, w.Pool.WrapUp(t.Context(), "job"))
	if err := w.Pool.WrapUp(t.Context(), "job"); err == nil {
		t.Error("asked to wrap up twice")
	}
	w.told("job", "and this")
	close(gate)
	w.State("job", event.Done)
	if all := fmt.Sprint(w.Entries("job")); !strings.Contains(all, "this first") || !strings.Contains(all, "Wrap up now") || !strings.Contains(all, "and this") {
		t.Errorf("it had %s", all)
	}
}

// An agent that rests begins a turn with what it is told. Who can't be told is named, and why.
// Spec: E-13.
func TestTell_refuses(t *testing.T) {
	w := open(t, builtin.New(), setting{})
	_, err := w.Pool.NewHelper(t.Context(), "aide", "")
	check(t, err)
	w.told("aide", "say yes")
	w.Until("it answered", func() bool { return strings.Contains(fmt.Sprint(w.Entries("aide")), "yes") })
	w.Push("done", "say done")
	w.Push("cmd", "!echo on; sleep 600")
	w.after("later", "say later", "cmd")
	w.Run(0)
	w.Output("cmd", "on")
	w.State("done", event.Done)
	for name, want := range map[string]string{
		"later": "has not started", "cmd": "a command, which reads nothing", "nobody": "no such agent", "done": "has ended already (done)",
	} {
		err := w.Pool.Tell(t.Context(), name, "hm")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		var ended *event.EndedError
		if errors.As(err, &ended) != (name == "done") {
			t.Errorf("%s has ended: %v", name, err)
		}
	}
	if err := w.Pool.Tell(t.Context(), "aide", " \n"); err == nil {
		t.Error("it is told nothing")
	}
}

// What an agent was told and did not read before it ended, however that came, stands in its transcript.
func TestTell_unread(t *testing.T) {
	for _, how := range []string{"killed", "failed", "crashed"} {
		t.Run(how, func(t *testing.T) {
			gate := make(chan struct{})
			m := hears(gate)
			if how == "failed" {
				reply := m.Reply
				m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
					_, _ = reply(ctx, req)
					return nil, &llm.Error{Kind: llm.BadRequest, Message: "no"}
				}
			}
			s := setting{Dir: t.TempDir()}
			w := open(t, m, s)
			w.Push("job", "begin")
			w.Run(0)
			<-gate
			w.told("job", "remember me")
			switch how {
			case "killed":
				check(t, w.Pool.Kill(t.Context(), "job", false))
			case "failed":
				close(gate)
				w.State("job", event.Failed)
			case "crashed":
				check(t, w.DB.Close()) // nothing more is written
				_ = w.Pool.Close(t.Context())
				w.Feed.Close()
				w.DB = nil
				w = open(t, m, s)
			}
			notes := 0
			for _, e := range w.Entries("job") {
				if e.Kind == history.EntryNotice && strings.Contains(e.Text, "remember me") && strings.Contains(e.Text, "/resume job") {
					notes++
				}
			}
			if notes != 1 {
				t.Errorf("%d notices: %+v", notes, w.Entries("job"))
			}
		})
	}
}
