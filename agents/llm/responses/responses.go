// Package responses speaks the Responses API of OpenAI.
//
// Does: send a request and yield its streamed reply as parts: text, summaries of reasoning, whole tool
// calls, usage. Encrypted reasoning is sent back to the model that produced it.
//
// Does not: retry (see [llm.Retry]), read the environment, or let the server keep a conversation.
package responses

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	"fantail/agents/llm"
)

const defaultBase = "https://api.openai.com/v1"

// Options configure a [Provider].
type Options struct {
	Name        string        // in errors and as the first half of Thinking.Model; "openai" if empty
	Key         string        // sent as Authorization: Bearer
	KeyVariable string        // named in errors; OPENAI_API_KEY if empty
	KeyHelp     string        // how to set the key, in a sentence; empty: "Set" and the variable
	BaseURL     string        // with /v1 where the server has it; the vendor's if empty
	HTTPClient  *http.Client  // for tests and proxies; its redirect rule is replaced
	FirstByte   time.Duration // how long the server may take to say a first word; 0: as is usual
}

// Provider is the [llm.Provider]. It is safe for concurrent use.
type Provider struct {
	name, key string
	client    *llm.HTTPClient
}

var _ llm.Provider = (*Provider)(nil)

// New returns a provider. If the options are wrong, each stream ends with an error of
// kind [llm.NotConfigured].
func New(o Options) *Provider {
	p := &Provider{name: cmp.Or(o.Name, "openai"), key: strings.TrimSpace(o.Key)}
	base := cmp.Or(o.BaseURL, defaultBase)
	p.client = llm.NewClient(llm.Endpoint{
		Name: p.name, KeyVariable: cmp.Or(o.KeyVariable, "OPENAI_API_KEY"), KeyHelp: o.KeyHelp, BaseURL: base,
		Secrets: []string{p.key}, ReplyField: "output", FirstByte: o.FirstByte,
	}, o.HTTPClient)
	if base == defaultBase {
		p.client.RequireKey()
	}
	return p
}

// Stream sends req and yields the parts of the reply. It yields calls, usage and stop
// when the reply has ended.
func (p *Provider) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
	headers := http.Header{}
	if p.key != "" {
		headers.Set("Authorization", "Bearer "+p.key)
	}
	return p.client.Stream(ctx, req, llm.HTTPProtocol{Path: "responses", Headers: headers, Body: p.requestBody, Read: newReplyReader})
}
