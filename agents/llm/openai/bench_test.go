package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"fantail/agents/llm/llmtest"
)

// BenchmarkReply is the cost of a reply of 20,000 events to this adapter alone.
func BenchmarkReply(b *testing.B) {
	var events []string
	for _, token := range llmtest.Tokens(llmtest.Lorem(20000)) {
		q, _ := json.Marshal(token)
		events = append(events, fmt.Sprintf(`{"id":"chatcmpl-CfT1vY","object":"chat.completion.chunk","created":1763712345,"model":"m","choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}],"usage":null}`, q))
	}
	raw := body(append(events, ends("stop"), "[DONE]")...)
	b.SetBytes(int64(len(raw)))
	llmtest.Measure(b, canned(raw), llmtest.Ask("x"))
}

// BenchmarkRequest is the cost of sending a conversation of a megabyte again, as a
// retry does.
func BenchmarkRequest(b *testing.B) {
	llmtest.Measure(b, canned(body(ends("stop"), "[DONE]")), llmtest.Megabyte())
}

// canned is a provider whose every reply is that stream.
func canned(raw string) *Provider {
	return New(Options{Key: "k", BaseURL: "http://fake", HTTPClient: &http.Client{Transport: llmtest.Canned(raw)}})
}
