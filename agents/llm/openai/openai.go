// Package openai speaks the Chat Completions API, as its vendor and the many
// servers that follow it do: Ollama, LM Studio, llama.cpp, vLLM, OpenRouter and
// others, by their base URL.
//
// Does: send a request and yield its streamed
// reply as parts: text, reasoning (sent back where the server wants that), whole
// tool calls, usage. It tolerates what those servers leave out or repeat.
//
// Does not: retry (see [llm.Retry]) or read the environment.
package openai

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"fantail/agents/llm"
)

const (
	defaultBase = "https://api.openai.com/v1"
	vendorHost  = "api.openai.com"
)

// Options configure a [Provider].
type Options struct {
	Name        string        // "openai", "ollama", …: in errors and as the first half of Thinking.Model; "openai" if empty
	Key         string        // sent as Authorization: Bearer; local servers need none
	KeyVariable string        // named in errors; OPENAI_API_KEY if empty
	KeyHelp     string        // how to set the key, in a sentence; empty: "Set" and the variable
	BaseURL     string        // with /v1 where the server has it; the vendor's if empty
	HTTPClient  *http.Client  // for tests and proxies; its redirect rule is replaced
	Headers     http.Header   // added to each request
	FirstByte   time.Duration // how long the server may take to say a first word; 0: as is usual
}

// Provider is the [llm.Provider]. It is safe for concurrent use.
type Provider struct {
	o                 Options
	vendor            bool // the server is the vendor's, which takes fields that others refuse
	reasoningRequired bool // the host is one of reasoningRequiredHosts
	client            *llm.HTTPClient
}

var _ llm.Provider = (*Provider)(nil)

// New returns a provider. If the options are wrong, each stream ends with an error of
// kind [llm.NotConfigured].
func New(o Options) *Provider {
	o.Key = strings.TrimSpace(o.Key)
	o.Name, o.BaseURL = cmp.Or(o.Name, "openai"), cmp.Or(o.BaseURL, defaultBase)
	o.KeyVariable = cmp.Or(o.KeyVariable, "OPENAI_API_KEY")
	p := &Provider{o: o, client: llm.NewClient(llm.Endpoint{
		Name: o.Name, KeyVariable: o.KeyVariable, KeyHelp: o.KeyHelp, BaseURL: o.BaseURL, Secrets: []string{o.Key}, Headers: o.Headers,
		ReplyField: "choices", FirstByte: o.FirstByte,
	}, o.HTTPClient)}
	if u, err := url.Parse(p.client.BaseURL()); err == nil {
		p.vendor = u.Hostname() == vendorHost
		p.reasoningRequired = slices.Contains(reasoningRequiredHosts, u.Hostname())
	}
	if p.vendor {
		p.client.RequireKey()
	}
	p.client.ThinkTags = !p.vendor
	return p
}

// Stream sends req and yields the parts of the reply. It yields calls, usage and stop
// when the reply has ended.
func (p *Provider) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
	headers := http.Header{}
	if p.o.Key != "" {
		headers.Set("Authorization", "Bearer "+p.o.Key)
	}
	return p.client.Stream(ctx, req, llm.HTTPProtocol{Path: "chat/completions", Headers: headers, Body: p.requestBody, Read: newReplyReader})
}
