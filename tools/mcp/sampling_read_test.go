package mcp

import (
	"fantail/tools"
)

//lint:file-ignore SA1019 servers of the older protocol ask a model

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func samplingMessage(role mcp.Role, text string) *mcp.SamplingMessage {
	return &mcp.SamplingMessage{Role: role, Content: &mcp.TextContent{Text: text}}
}

func TestReadSampling(t *testing.T) {
	q, err := readSampling("db", &mcp.CreateMessageParams{
		SystemPrompt: "Be short.", MaxTokens: 1 << 40, IncludeContext: "allServers", StopSequences: []string{"", "END"},
		Messages:         []*mcp.SamplingMessage{samplingMessage("user", "hello"), samplingMessage("assistant", "hi")},
		ModelPreferences: &mcp.ModelPreferences{Hints: []*mcp.ModelHint{nil, {Name: " sonnet "}, {}}},
	})
	if err != nil || q.From != "db" || q.System != "Be short." || q.Most != 1<<20 || len(q.Said) != 2 || q.Said[0].ByModel || !q.Said[1].ByModel ||
		len(q.Stops) != 1 {
		t.Errorf("%+v %v", q, err)
	}
	one := []*mcp.SamplingMessage{samplingMessage("user", "x")}
	var many []*mcp.SamplingMessage
	for range maxMessages + 1 {
		many = append(many, one[0])
	}
	for name, p := range map[string]*mcp.CreateMessageParams{
		"there is nothing to ask":        nil,
		"maxTokens is missing":           {Messages: one},
		"only text can be asked":         {MaxTokens: 1, Messages: []*mcp.SamplingMessage{nil}},
		"only text":                      {MaxTokens: 1, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.ImageContent{}}}},
		"only text can":                  {MaxTokens: 1, Messages: []*mcp.SamplingMessage{samplingMessage("system", "x")}},
		"only":                           {MaxTokens: 1, Messages: []*mcp.SamplingMessage{{Role: "user"}}},
		"at most 100 messages":           {MaxTokens: 1, Messages: many},
		"at most 262144 bytes can be as": {MaxTokens: 1, SystemPrompt: strings.Repeat("x", maxBytes), Messages: one},
	} {
		if _, err := readSampling("db", p); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	open, asked := 0, tools.SampleRequest{}
	full := errors.New("no")
	var ask func(context.Context, tools.SampleRequest) (tools.SampleReply, error)
	answers := answerSampling("db", func() func(context.Context, tools.SampleRequest) (tools.SampleReply, error) { return ask },
		func() bool { open++; return open < 2 }, func() { open-- })
	req := &mcp.CreateMessageRequest{Params: &mcp.CreateMessageParams{MaxTokens: 5, Messages: []*mcp.SamplingMessage{samplingMessage("user", "hello")}}}
	if _, err := answers(t.Context(), req); err == nil || !strings.Contains(err.Error(), "only within a call") || open != 0 {
		t.Error(err, open)
	}
	for _, c := range []struct {
		r    tools.SampleReply
		why  string
		fail error
	}{
		{r: tools.SampleReply{Text: "hi", Model: "a/b"}, why: "endTurn"},
		{r: tools.SampleReply{Text: "hi", Model: "a/b", Cut: true}, why: "maxTokens"},
		{r: tools.SampleReply{Text: "hi", Model: "a/b", Cut: true, Stopped: true}, why: "stopSequence"},
		{fail: full},
	} {
		ask = func(_ context.Context, q tools.SampleRequest) (tools.SampleReply, error) {
			asked = q
			return c.r, c.fail
		}
		res, err := answers(t.Context(), req)
		if c.fail != nil {
			if !errors.Is(err, c.fail) || open != 0 {
				t.Error(err, open)
			}
			continue
		}
		if err != nil || res.Content.(*mcp.TextContent).Text != "hi" || res.Model != "a/b" || res.Role != "assistant" || res.StopReason != c.why || asked.Most != 5 || open != 0 {
			t.Errorf("%+v %v %+v", res, err, asked)
		}
	}
	open = 1
	if _, err := answers(t.Context(), req); err == nil || !strings.Contains(err.Error(), "too much is asked at once") {
		t.Error(err)
	}
}
