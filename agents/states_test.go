package agents_test

import (
	"context"
	"iter"
	"os"
	"strings"
	"syscall"
	"testing"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/inbox"
)

// steps is a provider whose stream goes on only when it is told to: first a text
// and a call, then the answer.
type steps struct{ on chan struct{} }

func (s steps) Stream(_ context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		<-s.on
		if len(results(req)) > 0 {
			_ = yield(llm.Text{Text: "read"}, nil) && yield(llm.Stop{Reason: llm.EndTurn}, nil)
			return
		}
		if !yield(llm.Text{Text: "I look"}, nil) {
			return
		}
		<-s.on
		_ = yield(call("c", "bash", `{"command":"cat pipe"}`)[0], nil) && yield(llm.Stop{Reason: llm.ToolUse}, nil)
	}
}

// TestTurn_states: idle, running: streaming, executing a tool, streaming again, and
// idle; each can be seen while it lasts.
// Spec: O-7, R-62.
func TestTurn_states(t *testing.T) {
	s := steps{make(chan struct{})}
	w := open(t, s, setting{})
	pipe := w.Dir + "/pipe"
	check(t, syscall.Mkfifo(pipe, 0o600))
	does := func(state event.State, doing string) {
		t.Helper()
		w.Until(string(state)+" "+doing, func() bool {
			i := w.Info("main")
			if (i.Call != "") != (i.Doing == "tool bash") {
				t.Errorf("while it does %q its call is %q", i.Doing, i.Call)
			}
			return i.State == state && i.Doing == doing
		})
	}
	w.Main()
	does(event.Idle, "")
	w.Prompt("look")
	does(event.Running, "streaming") // from the request on
	s.on <- struct{}{}
	s.on <- struct{}{}
	does(event.Running, "tool bash")
	if c := w.Info("main").Call; c != "bash cat pipe" {
		t.Errorf("the call that runs is %q", c)
	}
	check(t, os.WriteFile(pipe, []byte("x"), 0o600))
	does(event.Running, "streaming")
	s.on <- struct{}{}
	does(event.Idle, "")
	if got := kinds(w.Entries("main")); got != "prompt text call started result text ended" {
		t.Errorf("entries %s", got)
	}
}

// TestTask_thatSaysNothing is delivered all the same.
// Spec: E-9, Q-37, Q-38.
func TestTask_thatSaysNothing(t *testing.T) {
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return nil, nil }}
	w := open(t, m, setting{})
	w.Push("mute", "say nothing")
	w.Run(0)
	w.Settle()
	ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
	check(t, err)
	if len(ms) != 1 || ms[0].Kind != inbox.Result || ms[0].Body != "(no output)" || ms[0].Outcome != "completed" {
		t.Errorf("messages %+v", ms)
	}
	if got := w.Entries("main"); len(got) != 1 || !strings.Contains(got[0].Text, "(no output)") {
		t.Errorf("the model reads %+v", got)
	}
}
