package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"fantail/agents/llm/llmtest"
)

// BenchmarkReply is the cost of a reply of 20,000 events to this adapter alone.
func BenchmarkReply(b *testing.B) {
	events := []string{begin, textBlockStart}
	for _, token := range llmtest.Tokens(llmtest.Lorem(20000)) {
		q, _ := json.Marshal(token)
		events = append(events, fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`, q))
	}
	raw := body(append(events, closing(0), ends("end_turn"), over)...)
	b.SetBytes(int64(len(raw)))
	llmtest.Measure(b, canned(raw), llmtest.Ask("x"))
}

// BenchmarkRequest is the cost of sending a conversation of a megabyte again, as a
// retry does.
func BenchmarkRequest(b *testing.B) {
	llmtest.Measure(b, canned(body(begin, ends("end_turn"), over)), llmtest.Megabyte())
}

// canned is a provider whose every reply is that stream.
func canned(raw string) *Provider {
	return New(Options{Key: "k", BaseURL: "http://fake", HTTPClient: &http.Client{Transport: llmtest.Canned(raw)}})
}
