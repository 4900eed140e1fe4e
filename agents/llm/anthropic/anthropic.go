// Package anthropic speaks the Messages API.
//
// Does: send a request through the vendor's library, with prompt caching, and
// yield its streamed reply as parts: text, thinking (kept so that it can be
// sent back unchanged to the model that produced it), whole tool calls, usage.
//
// It tolerates what gateways to other vendors' models leave out or repeat.
//
// Does not: retry (see [llm.Retry]), count money, or read the environment. The
// library's own event decoder is not used: it needs four times the processor
// time, and takes the end of a connection for the end of a reply.
package anthropic

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

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
	opts   []option.RequestOption // of every call
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
	// The options are given one by one: the library's defaults read keys from the environment and from files.
	p.opts = []option.RequestOption{option.WithBaseURL(p.client.BaseURL()), option.WithMaxRetries(0)}
	if o.Key != "" {
		p.opts = append(p.opts, option.WithAPIKey(o.Key))
	}
	if o.AuthToken != "" {
		p.opts = append(p.opts, option.WithAuthToken(o.AuthToken))
	}
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
	return p.client.Stream(ctx, req, llm.HTTPProtocol{Body: p.requestBody, Post: p.post, Read: newReplyReader})
}

// post sends a call.
func (p *Provider) post(call *llm.HTTPCall) error {
	var res *http.Response
	// Not a field: through the provider's type, which reflection can reach, every
	// service of the SDK would be linked.
	client := sdk.Client{Options: p.opts}
	return client.Post(call.Context(), "v1/messages", nil, &res, option.WithHTTPClient(call))
}
