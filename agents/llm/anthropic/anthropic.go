// Package anthropic speaks the Messages API.
//
// Does: send a request, with prompt caching, and
// yield its streamed reply as parts: text, thinking (kept so that it can be
// sent back unchanged to the model that produced it), whole tool calls, usage.
//
// It tolerates what gateways to other vendors' models leave out or repeat.
//
// Does not: retry (see [llm.Retry]), count money, or read the environment.
package anthropic

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	"fantail/agents/llm"
)

const defaultBase = "https://api.anthropic.com"

// Adaptive lets the model decide how much it thinks.
const Adaptive = -1

// Options configure a [Provider].
type Options struct {
	Name        string        // in errors and as the first half of Thinking.Model; "anthropic" if empty
	Key         string        // sent as X-Api-Key
	AuthToken   string        // sent as Authorization: Bearer
	KeyVariable string        // named in errors; found out if empty
	KeyHelp     string        // how to set the key, in a sentence; empty: "Set" and the variable
	BaseURL     string        // without /v1; the vendor's if empty
	HTTPClient  *http.Client  // for tests and proxies; its redirect rule is replaced
	Headers     http.Header   // added to each request
	FirstByte   time.Duration // how long the server may take to say a first word; 0: as is usual

	// ThinkingBudget asks for extended thinking of at most so many tokens, or
	// for as much as the model likes if it is [Adaptive]. 0 is off.
	ThinkingBudget int
}

// Provider is the [llm.Provider]. It is safe for concurrent use.
type Provider struct {
	o      Options
	client *llm.HTTPClient
}

var _ llm.Provider = (*Provider)(nil)

// New returns a provider. If the options are wrong, each stream ends with an error of
// kind [llm.NotConfigured].
func New(o Options) *Provider {
	o.Key, o.AuthToken = strings.TrimSpace(o.Key), strings.TrimSpace(o.AuthToken)
	o.Name, o.BaseURL = cmp.Or(o.Name, "anthropic"), cmp.Or(o.BaseURL, defaultBase)
	p := &Provider{o: o, client: llm.NewClient(llm.Endpoint{
		Name: o.Name, KeyVariable: o.keyVariable(), KeyHelp: o.KeyHelp, BaseURL: strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1"),
		Secrets: []string{o.Key, o.AuthToken}, Headers: o.Headers, ReplyField: "content", FirstByte: o.FirstByte,
	}, o.HTTPClient)}
	vendor := p.client.BaseURL() == defaultBase
	if vendor {
		p.client.RequireKey()
	}
	p.client.ThinkTags = !vendor // tags in the text of the vendor's models are text
	return p
}

// keyVariable returns the environment variable that errors name.
func (o Options) keyVariable() string {
	switch {
	case o.KeyVariable != "":
		return o.KeyVariable
	case o.Key == "" && o.AuthToken != "":
		return "ANTHROPIC_AUTH_TOKEN"
	}
	return "ANTHROPIC_API_KEY"
}

// Stream sends req and yields the parts of the reply. It yields a call when its
// block ends, and usage and stop when the message ends.
func (p *Provider) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
	return p.client.Stream(ctx, req, llm.HTTPProtocol{Path: "v1/messages", Headers: p.headers(), Body: p.requestBody, Read: newReplyReader})
}

// headers returns those of the version and the keys.
func (p *Provider) headers() http.Header {
	h := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if p.o.Key != "" {
		h.Set("X-Api-Key", p.o.Key)
	}
	if p.o.AuthToken != "" {
		h.Set("Authorization", "Bearer "+p.o.AuthToken)
	}
	return h
}
