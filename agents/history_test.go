package agents

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"fantail/agents/history"
	"fantail/agents/llm"
)

// TestMessages_anyCutIsRepaired: whatever a crash, a stop or a human's take
// left, a request made of it is one a provider accepts.
func TestMessages_anyCutIsRepaired(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		es := []history.Entry{}
		n := rapid.IntRange(0, 12).Draw(rt, "replies")
		id := 0
		for range n {
			for range rapid.IntRange(0, 2).Draw(rt, "prompts") {
				es = append(es, heard(rt))
			}
			if rapid.Bool().Draw(rt, "thinks") {
				es = append(es, history.Entry{Kind: history.EntryThinking, Text: "t", Opaque: rapid.SampledFrom([]string{"", "o"}).Draw(rt, "opaque"), Model: "m"})
			}
			if rapid.Bool().Draw(rt, "speaks") {
				es = append(es, history.Entry{Kind: history.EntryText, Text: "x"})
			}
			var calls []string
			for range rapid.IntRange(0, 3).Draw(rt, "calls") {
				id++
				name := fmt.Sprintf("c%d", id%rapid.SampledFrom([]int{1 << 30, 7}).Draw(rt, "reuse"))
				calls = append(calls, name)
				es = append(es, history.Entry{Kind: history.EntryCall, Call: &history.Call{ID: name, Name: "bash", Args: json.RawMessage(`{}`)}})
			}
			cut := false // no reply follows a call without a result before the turn's end
			for _, c := range calls {
				if rapid.Bool().Draw(rt, "inside") {
					es = append(es, heard(rt))
				}
				if rapid.Bool().Draw(rt, "answered") {
					es = append(es, history.Entry{Kind: history.EntryResult, Result: &history.Result{ID: c, Text: rapid.SampledFrom([]string{"", "r"}).Draw(rt, "text")}})
				} else {
					cut = true
				}
			}
			if cut || rapid.Bool().Draw(rt, "ended") {
				es = append(es, history.Entry{Kind: history.EntryEnded, End: &history.End{Outcome: rapid.SampledFrom([]history.Outcome{history.Completed, history.Interrupted, history.OutCrashed}).Draw(rt, "outcome")}})
			}
		}
		es = es[:rapid.IntRange(0, len(es)).Draw(rt, "cut")]
		es = append(es, history.Entry{Kind: history.EntryPrompt, Text: "go on"})
		if err := accepted(history.Request(es, "m")); err != nil {
			rt.Fatalf("%v\nentries %+v", err, es)
		}
	})
}

func heard(rt *rapid.T) history.Entry {
	return rapid.SampledFrom([]history.Entry{
		{Kind: history.EntryPrompt, Text: "p"},
		{Kind: history.EntryMessage, Text: "m"},
		{Kind: history.EntryHost, Text: "h"},
		{Kind: history.EntryNotice, Text: "n"},
		{Kind: history.EntryShell, Shell: &history.Shell{Command: "c"}},
		{Kind: history.EntryStarted},
	}).Draw(rt, "heard")
}

// accepted holds messages to what the strictest provider wants.
func accepted(ms []llm.Message) error {
	var open []string
	for i, m := range ms {
		if i == 0 && m.Role != llm.User || i > 0 && m.Role == ms[i-1].Role {
			return fmt.Errorf("message %d is out of turn", i)
		}
		if len(m.Parts) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		var calls []string
		answered, spoke := 0, false
		seen := map[string]bool{}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolCall:
				if seen[p.ID] {
					return fmt.Errorf("message %d calls %s twice", i, p.ID)
				}
				seen[p.ID] = true
				calls = append(calls, p.ID)
			case llm.ToolResult:
				if spoke || answered >= len(open) || open[answered] != p.ID || p.Text == "" {
					return fmt.Errorf("message %d: result of %s is out of place", i, p.ID)
				}
				answered++
			default:
				spoke = true
			}
		}
		if answered != len(open) {
			return fmt.Errorf("message %d answers %d of %d calls", i, answered, len(open))
		}
		open = calls
	}
	if len(open) != 0 {
		return fmt.Errorf("calls %v are not answered", open)
	}
	return nil
}
