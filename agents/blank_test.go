package agents_test

import (
	"reflect"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/agents/llm/anthropic"
	"fantail/agents/llm/llmtest"
	"fantail/agents/turn"
)

// TestSub_startsBlank looks at what reaches a real model: a sub-agent is sent its
// own name, the host's words and its task, nothing of who dispatched it, and has
// the same tools; its own sub-agents likewise. Names travel only in prompts.
// Spec.
func TestSub_startsBlank(t *testing.T) {
	s := &llmtest.Server{Answer: func(req llmtest.Request) llmtest.Reply {
		last := req.Messages[len(req.Messages)-1]
		switch text := req.LastText(); {
		case strings.HasPrefix(text, "The secret") && len(req.Messages) == 1:
			return llmtest.Call("c1", "delegate", `{"name":"worker","prompt":"Tell the agent boss-7 what you find.","mode":"sync"}`)
		case strings.HasPrefix(text, "Tell") && len(last.Parts) == 1 && len(req.Messages) == 1:
			return llmtest.Call("c2", "delegate", `{"name":"helper","prompt":"Look; boss-7 wants it.","mode":"sync"}`)
		}
		return llmtest.Say("found")
	}}
	base, stop, err := s.Start()
	check(t, err)
	defer stop()
	w := open(t, anthropic.New(anthropic.Options{Key: "k", BaseURL: base}), setting{System: func(i event.Info) string {
		text, err := turn.SystemPrompt(turn.PromptFacts{Name: i.Name, Sub: i.Kind == event.Sub, Dir: "/srv/shop"})
		check(t, err)
		return text
	}})
	w.Prompt("The secret is MARMALADE. Have it looked into.")
	w.Settle()
	reqs := s.Requests()
	if len(reqs) != 5 {
		t.Fatalf("%d requests, want two of main, two of worker, one of helper", len(reqs))
	}
	for i, want := range map[int]string{1: "Tell the agent boss-7 what you find.", 2: "Look; boss-7 wants it."} {
		r := reqs[i]
		name := map[int]string{1: "worker", 2: "helper"}[i]
		if len(r.Messages) != 1 || len(r.Messages[0].Parts) != 1 || r.Messages[0].Parts[0].(llm.Text).Text != want {
			t.Errorf("%s was sent %+v", name, r.Messages)
		}
		if strings.Contains(string(r.Body), "MARMALADE") || strings.Contains(r.System+want, "main") {
			t.Errorf("%s was told of its parent: %s", name, r.Body)
		}
		if !strings.HasPrefix(r.System, "You are "+name+",") || !strings.Contains(r.System, "final message is delivered automatically") || !strings.Contains(r.System, "# Safety") {
			t.Errorf("%s was told %s", name, r.System)
		}
		if !reflect.DeepEqual(r.Tools, reqs[0].Tools) {
			t.Errorf("%s has other tools than main", name)
		}
	}
}
