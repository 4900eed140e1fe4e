package anthropic

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
)

// canned answers every request with the same stream, without a network.
type canned string

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(c))),
	}, nil
}

// BenchmarkReply is the cost of a reply of 20,000 events to this adapter alone.
func BenchmarkReply(b *testing.B) {
	events := []string{begin, textBlock}
	for _, token := range llmtest.Tokens(llmtest.Lorem(20000)) {
		q, _ := json.Marshal(token)
		events = append(events, fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`, q))
	}
	raw := body(append(events, closing(0), ends("end_turn"), over)...)
	p := New(Options{Key: "k", BaseURL: "http://fake", HTTPClient: &http.Client{Transport: canned(raw)}})
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, stop, err := read(b, p, ask("x")); stop == nil || err != nil {
			b.Fatal(err)
		}
	}
}

func read(b *testing.B, p llm.Provider, req *llm.Request) (n int, stop *llm.Stop, failed error) {
	for part, err := range p.Stream(b.Context(), req) {
		if err != nil {
			return n, nil, err
		}
		if s, ok := part.(llm.Stop); ok {
			stop = &s
		}
		n++
	}
	return n, stop, nil
}

// BenchmarkRequest is the cost of sending a conversation of a megabyte.
func BenchmarkRequest(b *testing.B) {
	req := &llm.Request{Model: "m"}
	for i := range 500 {
		id := fmt.Sprintf("call_%d", i)
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{Text: strings.Repeat("Please do this. ", 30)}}},
			llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolCall{ID: id, Name: "f", Args: json.RawMessage(`{"path":"a/b/c.go"}`)}}},
			llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: id, Text: strings.Repeat("if x < y && z {\n", 100)}}},
			llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{Text: "Done."}}},
		)
	}
	p := New(Options{Key: "k", BaseURL: "http://fake", HTTPClient: &http.Client{Transport: canned(body(begin, ends("end_turn"), over))}})
	b.ReportAllocs()
	for b.Loop() {
		if _, stop, err := read(b, p, req); stop == nil || err != nil {
			b.Fatal(err)
		}
	}
}
