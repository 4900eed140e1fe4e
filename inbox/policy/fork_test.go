package policy

import (
	"strings"
	"testing"
	"time"

	"fantail/inbox"
)

// TestFork_whatItWroteIsNotForked: under any rule that forks.
// Spec.
func TestFork_whatItWroteIsNotForked(t *testing.T) {
	for name, p := range map[string]Policy{
		"default": {Rules: Rules{Default: Fork}},
		"from":    {Human: Overrides{From: map[string]Mode{"main-fork-*": Fork}}},
		"urgent":  {Rules: Rules{Priority: map[inbox.Priority]Mode{inbox.Urgent: Fork}}},
	} {
		m := inbox.Message{ID: 1, From: "main-fork-1", Kind: inbox.Mail, Deliver: inbox.Next, Priority: inbox.Urgent}
		if d := Decide(m, p, Recipient{Doing: Streaming, Prompt: true}, time.Now()); d.When != Forked {
			t.Errorf("%s: not forked: %+v", name, d)
		}
		m.ByFork = true
		if d := Decide(m, p, Recipient{Doing: Streaming, Prompt: true}, time.Now()); d.When != WithPrompt || !strings.HasSuffix(d.Rule, "what a fork wrote is not forked again") {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
