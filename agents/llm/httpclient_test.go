package llm

import (
	"encoding/json"
	"strings"
	"testing"
)

// A request that no server takes is refused before it is encoded, wherever its bytes stand.
func TestFits(t *testing.T) {
	half := strings.Repeat("x", requestLimit/2+1)
	for name, parts := range map[string][]Part{
		"text":     {Text{Text: half}, Text{Text: half}},
		"thinking": {Thinking{Text: half, Opaque: half}},
		"call":     {ToolCall{Args: json.RawMessage(half)}, Text{Text: half}},
		"result":   {ToolResult{Text: half}, Text{Text: half}},
	} {
		k := NewClient(Endpoint{Name: "fake"}, nil).Call(t.Context())
		defer k.Close()
		err := k.checkSize(&Request{Messages: []Message{{Role: User, Parts: parts}}})
		if err == nil || err.Kind != ContextTooLong || !strings.Contains(err.Message, "32 MB") {
			t.Errorf("%s: %v", name, err)
		}
		if err := k.checkSize(&Request{System: half, Messages: []Message{{Role: User, Parts: parts[:0]}}}); err != nil {
			t.Errorf("half of %s: %v", name, err)
		}
	}
	k := NewClient(Endpoint{Name: "fake"}, nil).Call(t.Context())
	defer k.Close()
	if err := k.checkSize(&Request{System: half + half}); err == nil {
		t.Error("system: it fits")
	}
}
