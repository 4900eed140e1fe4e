package event

import (
	"strings"
	"testing"

	"fantail/agents/history"
	"fantail/agents/llm"
)

// TestCallsAreKeptValid: a call's arguments from a model are stored as JSON that every server accepts.
func TestCallsAreKeptValid(t *testing.T) {
	for args, want := range map[string]string{
		`{"a":"\ud83d"}`: `{"a":"` + "\uFFFD" + `"}`, `{"a":"\u0000"}`: `{"a":"` + "\uFFFD" + `"}`, `{"a":1,"a":2}`: `{"a":2}`,
		`{"a":1e999}`: `{"a":1.7976931348623157e+308}`, "{\"a\":\"\xff\"}": `{"a":"` + "\uFFFD" + `"}`, `{"a": "x"}`: `{"a": "x"}`,
	} {
		r := &Reply{}
		r.Add(llm.ToolCall{ID: "c", Name: "f", Args: []byte(args)})
		if got := string(r.Calls[0].Args); got != want {
			t.Errorf("%q: %q", args, got)
		}
	}
}

// TestIncomplete: a reply that may be incomplete is stored and marked, and no agent that waits for it takes it for
// done.
func TestIncomplete(t *testing.T) {
	r := &Reply{}
	r.Add(llm.Text{Text: "Hi"})
	r.Add(llm.Stop{Reason: llm.Incomplete, Told: []string{"The server refused the tool f."}})
	var got []string
	for _, e := range r.Entries("m", nil) {
		got = append(got, string(e.Kind)+": "+e.Text)
	}
	all := strings.Join(got, "\n")
	if len(got) != 3 || got[0] != string(history.EntryText)+": Hi" || !strings.Contains(all, "notice: The server refused the tool f.") || !strings.Contains(all, "may be incomplete") {
		t.Errorf("%s", all)
	}
	if !strings.Contains(r.Short(), "may be incomplete") {
		t.Errorf("%q", r.Short())
	}
}
