// Package sampling lets a server of the Model Context Protocol ask a model, where its user said that it may.
//
// Does: read what a server asks, bounded, and write what it is answered.
//
// Does not: let a server, ask the human, know a model. Of the conversation nothing is read, whatever includeContext says.
//
// Imports: tools/sample.
package sampling

//lint:file-ignore SA1019 servers of the older protocol ask a model

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools/sample"
)

const (
	mostMessages = 100
	mostBytes    = 256 << 10 // of all that is asked
	mostStops    = 16
)

var (
	errNothing = errors.New("there is nothing to ask")
	errNoText  = errors.New("only text can be asked")
)

// Read reads what the server of that name asks.
func Read(server string, p *mcp.CreateMessageParams) (q sample.Request, err error) {
	switch {
	case p == nil || len(p.Messages) == 0:
		return q, errNothing
	case len(p.Messages) > mostMessages:
		return q, fmt.Errorf("at most %d messages can be asked, these are %d", mostMessages, len(p.Messages))
	case p.MaxTokens < 1:
		return q, errors.New("maxTokens is missing: how long the answer may be")
	}
	q = sample.Request{From: server, System: p.SystemPrompt, Most: int(min(p.MaxTokens, 1<<20))}
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
		q.Said = append(q.Said, sample.Said{ByModel: m.Role == "assistant", Text: t.Text})
	}
	if size > mostBytes {
		return q, fmt.Errorf("at most %d bytes can be asked, these are %d", mostBytes, size)
	}
	for _, stop := range p.StopSequences {
		if stop != "" && len(q.Stops) < mostStops {
			q.Stops = append(q.Stops, stop)
		}
	}
	return q, nil
}

// Write is a reply as the server gets it.
func Write(r sample.Reply) *mcp.CreateMessageResult {
	reason := "endTurn"
	switch {
	case r.Stopped:
		reason = "stopSequence"
	case r.Cut:
		reason = "maxTokens"
	}
	return &mcp.CreateMessageResult{Content: &mcp.TextContent{Text: r.Text}, Model: r.Model, Role: "assistant", StopReason: reason}
}

// Answers returns what answers the requests of the server of that name. who is who asks the model; nil: nobody is there.
// begins says whether one more may be asked now, and ends that it is answered.
func Answers(server string, who func() func(context.Context, sample.Request) (sample.Reply, error), begins func() bool, ends func()) func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return func(ctx context.Context, m *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		q, err := Read(server, m.Params)
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
		return Write(r), nil
	}
}
