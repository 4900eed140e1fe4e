package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"

	"fantail/agents/llm"
)

// Loopback serves s on a loopback port for the length of the test.
func (s *Server) Loopback(t testing.TB) (base string, client *http.Client) {
	t.Helper()
	base, stop, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	client = &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		stop()
	})
	return base, client
}

// Ask is a request of one prompt.
func Ask(text string) *llm.Request {
	return &llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{Text: text}}}}}
}

// Collect reads a reply to its end. The pieces of a block are joined.
func Collect(reply iter.Seq2[llm.Part, error]) (parts []llm.Part, stop *llm.Stop, failed *llm.Error) {
	for part, err := range reply {
		if err != nil {
			return parts, stop, err.(*llm.Error)
		}
		if s, ok := part.(llm.Stop); ok {
			stop = &s
		} else if n := len(parts); n == 0 || !Join(&parts[n-1], part) {
			parts = append(parts, part)
		}
	}
	return parts, stop, nil
}

// Join adds the next piece of last's block to it; false if part is none.
func Join(last *llm.Part, part llm.Part) bool {
	switch was := (*last).(type) {
	case llm.Text:
		next, ok := part.(llm.Text)
		if !ok || next.Index != was.Index {
			return false
		}
		was.Text += next.Text
		*last = was
	case llm.Thinking:
		next, ok := part.(llm.Thinking)
		if !ok || next.Index != was.Index {
			return false
		}
		was.Text, was.Opaque = was.Text+next.Text, next.Opaque
		*last = was
	default:
		return false
	}
	return true
}

// Canned answers every request with the same stream, without a network.
type Canned string

func (c Canned) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(c))),
	}, nil
}

// Measure is the cost of sending req and reading its reply.
func Measure(b *testing.B, p llm.Provider, req *llm.Request) {
	b.ReportAllocs()
	for b.Loop() {
		whole := false
		for part, err := range p.Stream(b.Context(), req) {
			if err != nil {
				b.Fatal(err)
			}
			_, whole = part.(llm.Stop)
		}
		if !whole {
			b.Fatal("no end")
		}
	}
}

// Megabyte is a request with a conversation of that size, which is kept as it is written.
func Megabyte() *llm.Request {
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
	for n := range req.Messages {
		req.Messages[n].Encoded = new(llm.EncodedMessage)
	}
	return req
}

// Split cuts a call's arguments at a byte, or at the end of the character that contains it, because
// a server can't send less.
func Split(args string, at int) []string {
	for at < len(args) && args[at]&0xC0 == 0x80 {
		at++
	}
	return []string{args[:at], args[at:]}
}

// WholeCalls fails where parts hold a call that is none of want: one that did not arrive whole.
func WholeCalls(t testing.TB, parts, want []llm.Part) {
	t.Helper()
	for _, part := range parts {
		call, is := part.(llm.ToolCall)
		if is && !slices.ContainsFunc(want, func(p llm.Part) bool {
			w, is := p.(llm.ToolCall)
			return is && w.Name == call.Name && bytes.Equal(w.Args, call.Args)
		}) {
			t.Errorf("%s %s did not arrive whole", call.Name, call.Args)
		}
	}
}
