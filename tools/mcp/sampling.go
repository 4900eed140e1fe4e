package mcp

import (
	"fantail/tools"
)

//lint:file-ignore SA1019 servers of the older protocol ask a model

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxMessages = 100
	maxBytes    = 256 << 10 // of all texts of a request
	maxStops    = 16
)

var (
	errNothing = errors.New("there is nothing to ask")
	errNoText  = errors.New("only text can be asked")
)

// readSampling converts the request of the server of that name.
func readSampling(server string, p *mcp.CreateMessageParams) (q tools.SampleRequest, err error) {
	switch {
	case p == nil || len(p.Messages) == 0:
		return q, errNothing
	case len(p.Messages) > maxMessages:
		return q, fmt.Errorf("at most %d messages can be asked, these are %d", maxMessages, len(p.Messages))
	case p.MaxTokens < 1:
		return q, errors.New("maxTokens is missing: how long the answer may be")
	}
	q = tools.SampleRequest{From: server, System: p.SystemPrompt, Most: int(min(p.MaxTokens, 1<<20))}
	size := len(q.System)
	for _, m := range p.Messages {
		if m == nil {
			return q, errNoText
		}
		t, is := m.Content.(*mcp.TextContent)
		if !is || t == nil || m.Role != "user" && m.Role != "assistant" {
			return q, errNoText
		}
		size += len(t.Text)
		q.Said = append(q.Said, tools.SampleMessage{ByModel: m.Role == "assistant", Text: t.Text})
	}
	if size > maxBytes {
		return q, fmt.Errorf("at most %d bytes can be asked, these are %d", maxBytes, size)
	}
	for _, stop := range p.StopSequences {
		if stop != "" && len(q.Stops) < maxStops {
			q.Stops = append(q.Stops, stop)
		}
	}
	return q, nil
}

// writeSampling converts the reply for the server.
func writeSampling(r tools.SampleReply) *mcp.CreateMessageResult {
	reason := "endTurn"
	switch {
	case r.Stopped:
		reason = "stopSequence"
	case r.Cut:
		reason = "maxTokens"
	}
	return &mcp.CreateMessageResult{Content: &mcp.TextContent{Text: r.Text}, Model: r.Model, Role: "assistant", StopReason: reason}
}

// answerSampling returns a handler for the sampling requests of the server of that name. who
// returns the function that asks the model; nil: no human is there. begins reports whether one more
// request may be asked now, and ends notes that it was answered.
func answerSampling(server string, who func() func(context.Context, tools.SampleRequest) (tools.SampleReply, error), begins func() bool, ends func()) func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return func(ctx context.Context, m *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		q, err := readSampling(server, m.Params)
		if err != nil {
			return nil, err
		}
		ask := who()
		switch {
		case ask == nil:
			return nil, errors.New("a model is asked only within a call of a tool, with a human there to say yes")
		case !begins():
			return nil, errors.New("too much is asked at once")
		}
		defer ends()
		r, err := ask(ctx, q)
		if err != nil {
			return nil, err
		}
		return writeSampling(r), nil
	}
}
