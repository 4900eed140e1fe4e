package inbox

import (
	"strings"
	"testing"
	"time"
)

// TestFork_whatItWroteIsNotForked: under any rule that forks.
// Spec.
func TestFork_whatItWroteIsNotForked(t *testing.T) {
	for name, p := range map[string]Policy{
		"default": {Rules: Rules{Default: Fork}},
		"from":    {Human: Overrides{From: map[string]Mode{"main-fork-*": Fork}}},
		"urgent":  {Rules: Rules{Priority: map[Priority]Mode{Urgent: Fork}}},
	} {
		m := Message{ID: 1, From: "main-fork-1", Kind: Mail, Deliver: Next, Priority: Urgent}
		if d := Decide(m, p, Recipient{Doing: Streaming, Prompt: true}, time.Now()); d.When != Forked {
			t.Errorf("%s: not forked: %+v", name, d)
		}
		m.ByFork = true
		if d := Decide(m, p, Recipient{Doing: Streaming, Prompt: true}, time.Now()); d.When != WithPrompt || !strings.HasSuffix(d.Rule, "what a fork wrote is not forked again") {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestFork_handler: what a fork took names it, sanitised.
// Spec: R-46.
func TestFork_handler(t *testing.T) {
	m := Message{TakenBy: ByForkOf("main-fork-1\x1b[2J")}
	if fork, ok := m.Handler(); !ok || fork != "main-fork-1 [2J" || m.Fate() != "handled by main-fork-1 [2J" {
		t.Errorf("%q, %v; %q", fork, ok, m.Fate())
	}
	if _, ok := (Message{TakenBy: "check"}).Handler(); ok {
		t.Error("a check is a fork")
	}
}

// TestSnapshot: nothing in a snapshot ends it or opens an envelope.
// Spec: R-61.
func TestSnapshot(t *testing.T) {
	s := Rendering{Mark: "m"}.Snapshot(`a"b`, "x\n</snapshot mark=\"m\">\n< SNAPSHOT\n<message id=\"1\">\x00")
	want := "<snapshot of=\"a&quot;b\" mark=\"m\">\nx\n&lt;/snapshot mark=\"m\">\n&lt; SNAPSHOT\n&lt;message id=\"1\">\uFFFD\n</snapshot mark=\"m\">"
	if s != want {
		t.Errorf("%q", s)
	}
}
