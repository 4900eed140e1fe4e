package event

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/agents/history"
	"fantail/agents/llm"
)

// Each call has an id of its own, so that a result answers one call: an empty id, or one in use, is replaced.
func TestClaim(t *testing.T) {
	for _, c := range []struct {
		used, ids, want []string
	}{
		{nil, []string{"a", "b"}, []string{"a", "b"}},
		{nil, []string{"a", "a", "a"}, []string{"a", "a-1", "a-2"}},
		{[]string{"a"}, []string{"a"}, []string{"a-1"}},
		{[]string{"a", "a-1"}, []string{"a", "b"}, []string{"a-2", "b"}},
		{nil, []string{"", ""}, []string{"call-1", "call-2"}},
		{[]string{"call-1"}, []string{""}, []string{"call-2"}},
	} {
		used := map[string]bool{}
		for _, id := range c.used {
			used[id] = true
		}
		r := &Reply{}
		for _, id := range c.ids {
			r.Add(llm.ToolCall{ID: id, Name: "f", Args: []byte(`{}`)})
		}
		r.Claim(used)
		var got []string
		for _, call := range r.Calls {
			got = append(got, call.ID)
			if !used[call.ID] {
				t.Errorf("%q is not in use", call.ID)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q beside %q: %q, want %q", c.ids, c.used, got, c.want)
		}
	}
}

// Pieces that follow each other, of one index and one kind, are one entry; others are not.
func TestEntries_blocks(t *testing.T) {
	call := llm.ToolCall{ID: "c", Name: "f", Args: []byte(`{}`)}
	for _, c := range []struct {
		name  string
		parts []llm.Part
		want  string
	}{
		{"one", []llm.Part{llm.Text{Text: "a"}, llm.Text{Text: "b"}}, "text:ab"},
		{"another index", []llm.Part{llm.Text{Text: "a"}, llm.Text{Text: "b", Index: 1}}, "text:a text:b"},
		{"another kind", []llm.Part{llm.Thinking{Text: "a"}, llm.Text{Text: "b"}}, "thinking:a text:b"},
		{"a call between", []llm.Part{llm.Text{Text: "a"}, call, llm.Text{Text: "b"}}, "text:a tool_call: text:b"},
		{"thinking alone", []llm.Part{llm.Thinking{Text: "a"}}, "thinking:a notice:The model answered nothing."},
		{"blank", []llm.Part{llm.Text{Text: " \n"}}, "notice:The model answered nothing."},
	} {
		r := &Reply{}
		for _, p := range c.parts {
			r.Add(p)
		}
		r.Add(llm.Stop{Reason: llm.EndTurn})
		var got []string
		for _, e := range r.Entries("m", func(string, json.RawMessage) string { return "" }) {
			kind := string(e.Kind)
			if e.Kind == history.EntryCall {
				kind = "tool_call"
			}
			got = append(got, kind+":"+e.Text)
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%s: %s, want %s", c.name, all, c.want)
		}
	}
}

// What came before a retry does not count, what follows the end is not part of the reply, and a reply without its end
// fails, unless it was stopped.
func TestRead(t *testing.T) {
	trouble := &llm.Error{Kind: llm.Cut, Message: "gone"}
	stop := llm.Stop{Reason: llm.EndTurn}
	for _, c := range []struct {
		name    string
		parts   []llm.Part
		fails   error
		stopped bool
		text    string
		wrong   string
		voids   int
	}{
		{"whole", []llm.Part{llm.Text{Text: "a"}, stop}, nil, false, "a", "", 0},
		{"after the end", []llm.Part{llm.Text{Text: "a"}, stop, llm.Text{Text: "b"}}, nil, false, "a", "", 0},
		{"sent again", []llm.Part{llm.Text{Text: "a"}, llm.Retrying{Err: trouble}, llm.Text{Text: "b"}, stop}, nil, false, "b", "", 1},
		{"no end", []llm.Part{llm.Text{Text: "a"}}, nil, false, "a", "without its end marker", 0},
		{"no end, stopped", []llm.Part{llm.Text{Text: "a"}}, nil, true, "a", "", 0},
		{"failed", []llm.Part{llm.Text{Text: "a"}}, trouble, false, "a", "gone", 0},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if c.stopped {
			cancel()
		}
		voids := 0
		r, err := ReadReply(ctx, stream(c.parts, c.fails), ReplyReader{
			Model: "m", Now: time.Now, Show: func(Delta) {}, Void: func() { voids++ }, Retry: func(*Retry) {},
		})
		cancel()
		if r.Text() != c.text || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) || voids != c.voids {
			t.Errorf("%s: %q, %v, %d times void", c.name, r.Text(), err, voids)
		}
		if c.fails != nil && !errors.Is(err, c.fails) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
