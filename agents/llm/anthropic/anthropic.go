// Package anthropic speaks the Messages API.
//
// Does: send a request through the vendor's library, with prompt caching, and
// yield its streamed reply as parts: text, thinking (kept so that it can be
// sent back unchanged to the model that produced it), whole tool calls, usage.
//
// Does not: retry (see [llm.Retry]), count money, or read the environment. The
// library's own event decoder is not used: it needs four times the processor
// time, and takes the end of a connection for the end of a reply.
//
// Imports: agents/llm, agents/llm/wire.
package anthropic

import (
	"context"
	"iter"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"fantail/agents/llm"
	"fantail/agents/llm/wire"
)

const defaultBase = "https://api.anthropic.com"

// Adaptive lets the model decide how much it thinks.
const Adaptive = -1

// Options configure a [Provider].
type Options struct {
	Name        string       // in errors and as the first half of Thinking.Model; "anthropic" if empty
	Key         string       // sent as X-Api-Key
	AuthToken   string       // sent as Authorization: Bearer
	KeyVariable string       // named in errors; found out if empty
	BaseURL     string       // without /v1; the vendor's if empty
	HTTPClient  *http.Client // for tests and proxies; its redirect rule is replaced
	Headers     http.Header  // added to each request

	// ThinkingBudget asks for extended thinking of at most so many tokens, or
	// for as much as the model likes if it is [Adaptive]. 0 is off.
	ThinkingBudget int
}

// Provider is the [llm.Provider]. It is safe for concurrent use.
type Provider struct {
	o    Options
	wire *wire.Client
	opts []option.RequestOption // of every call
	err  *llm.Error             // of the options; every stream ends with it
}

var _ llm.Provider = (*Provider)(nil)

// New returns a provider. What is wrong with the options is said by each
// stream, as kind [llm.NotConfigured].
func New(o Options) *Provider {
	o.Key, o.AuthToken = strings.TrimSpace(o.Key), strings.TrimSpace(o.AuthToken)
	if o.Name == "" {
		o.Name = "anthropic"
	}
	if o.BaseURL == "" {
		o.BaseURL = defaultBase
	}
	peer := wire.Peer{Name: o.Name, Variable: o.variable()}
	for _, secret := range []string{o.Key, o.AuthToken} {
		if secret != "" {
			peer.Secrets = append(peer.Secrets, secret)
		}
	}
	peer.Secrets = append(peer.Secrets, wire.Secrets(o.Headers)...)
	base, err := peer.Address(strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1"))
	if err == nil && base == defaultBase && len(peer.Secrets) == 0 {
		err = peer.Fault(llm.NotConfigured, 0, "There is no key.", "Set "+peer.Variable+".")
	}
	if err == nil {
		err = peer.Keys()
	}
	peer.Base = base
	p := &Provider{o: o, err: err, wire: wire.New(peer, o.HTTPClient)}
	p.opts = p.options(base)
	return p
}

func (o Options) variable() string {
	switch {
	case o.KeyVariable != "":
		return o.KeyVariable
	case o.Key == "" && o.AuthToken != "":
		return "ANTHROPIC_AUTH_TOKEN"
	}
	return "ANTHROPIC_API_KEY"
}

// options are given one by one, because the library's own defaults look for
// keys in the environment and in files.
func (p *Provider) options(base string) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(base),
		option.WithMaxRetries(0),
		option.WithHeader("Accept", "text/event-stream"),
		option.WithHeader("Content-Type", "application/json"),
	}
	if p.o.Key != "" {
		opts = append(opts, option.WithAPIKey(p.o.Key))
	}
	if p.o.AuthToken != "" {
		opts = append(opts, option.WithAuthToken(p.o.AuthToken))
	}
	for name, values := range p.o.Headers {
		for _, v := range values {
			opts = append(opts, option.WithHeaderAdd(name, v))
		}
	}
	return opts
}

// Stream sends req and yields the parts of the reply. Calls are yielded when
// their block ends, usage and stop when the message does.
func (p *Provider) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		if p.err != nil {
			yield(nil, p.err)
			return
		}
		call := p.wire.Call(ctx)
		defer call.Close()
		if err := p.send(call, req); err != nil {
			yield(nil, err)
			return
		}
		r := &reply{
			peer:  p.wire.Peer(),
			model: p.o.Name + "/" + req.Model,
			ids:   wire.NewIDs(req),
			yield: func(part llm.Part) bool { return yield(part, nil) },
		}
		for {
			e, err := call.Next()
			if err == nil {
				err = r.apply(e, call.Progress)
			}
			switch {
			case r.left:
				return
			case err != nil:
				yield(nil, err)
				return
			case r.done:
				if yield(r.stop(), nil) {
					call.Drain()
				}
				return
			}
		}
	}
}

func (p *Provider) send(call *wire.Call, req *llm.Request) *llm.Error {
	if err := call.Fits(req); err != nil {
		return err
	}
	body, err := p.body(req)
	if err != nil {
		return call.Sent(err)
	}
	call.Carry(body)
	var res *http.Response
	// Not a field: through the provider's type, which reflection can reach, every
	// service of the SDK would be linked.
	client := sdk.Client{Options: p.opts}
	err = client.Post(call.Context(), "v1/messages", nil, &res, option.WithHTTPClient(call))
	return call.Sent(err)
}
