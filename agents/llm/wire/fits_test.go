package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"fantail/agents/llm"
)

// A request that no server takes is refused before it is encoded, wherever its bytes stand.
func TestFits(t *testing.T) {
	half := strings.Repeat("x", requestLimit/2+1)
	for name, parts := range map[string][]llm.Part{
		"text":     {llm.Text{Text: half}, llm.Text{Text: half}},
		"thinking": {llm.Thinking{Text: half, Opaque: half}},
		"call":     {llm.ToolCall{Args: json.RawMessage(half)}, llm.Text{Text: half}},
		"result":   {llm.ToolResult{Text: half}, llm.Text{Text: half}},
	} {
		k := New(Peer{Name: "fake"}, nil).Call(t.Context())
		defer k.Close()
		err := k.Fits(&llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: parts}}})
		if err == nil || err.Kind != llm.ContextTooLong || !strings.Contains(err.Message, "32 MB") {
			t.Errorf("%s: %v", name, err)
		}
		if err := k.Fits(&llm.Request{System: half, Messages: []llm.Message{{Role: llm.User, Parts: parts[:0]}}}); err != nil {
			t.Errorf("half of %s: %v", name, err)
		}
	}
	k := New(Peer{Name: "fake"}, nil).Call(t.Context())
	defer k.Close()
	if err := k.Fits(&llm.Request{System: half + half}); err == nil {
		t.Error("system: it fits")
	}
}
