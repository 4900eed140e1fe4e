// Package openai speaks the Chat Completions API, as its vendor and the many
// servers that follow it do: Ollama, LM Studio, llama.cpp, vLLM, OpenRouter and
// others, by their base URL.
//
// Does: send a request through the vendor's library and yield its streamed
// reply as parts: text, reasoning (sent back where the server wants that), whole
// tool calls, usage. It puts up with what those servers leave out or repeat.
//
// Does not: retry (see [llm.Retry]) or read the environment. The library's own event decoder is not used: it takes the end of
// a connection for the end of a reply.
//
// Imports: agents/llm, agents/llm/wire.
package openai

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"fantail/agents/llm"
	"fantail/agents/llm/wire"
)

const (
	defaultBase = "https://api.openai.com/v1"
	vendorHost  = "api.openai.com"
)

// lastWords is how long a reply that has said why it ends may take to end.
const lastWords = 10 * time.Second

// Options configure a [Provider].
type Options struct {
	Name        string       // "openai", "ollama", …: in errors and as the first half of Thinking.Model; "openai" if empty
	Key         string       // sent as Authorization: Bearer; local servers need none
	KeyVariable string       // named in errors; OPENAI_API_KEY if empty
	BaseURL     string       // with /v1 where the server has it; the vendor's if empty
	HTTPClient  *http.Client // for tests and proxies; its redirect rule is replaced
	Headers     http.Header  // added to each request
}

// Provider is the [llm.Provider]. It is safe for concurrent use.
type Provider struct {
	o       Options
	vendor  bool // the vendor itself, which knows fields that others refuse
	reasons bool // one of the reasoners
	wire    *wire.Client
	opts    []option.RequestOption // of every call
	err     *llm.Error             // of the options; every stream ends with it
}

var _ llm.Provider = (*Provider)(nil)

// New returns a provider. What is wrong with the options is said by each
// stream, as kind [llm.NotConfigured].
func New(o Options) *Provider {
	o.Key = strings.TrimSpace(o.Key)
	if o.Name == "" {
		o.Name = "openai"
	}
	if o.BaseURL == "" {
		o.BaseURL = defaultBase
	}
	if o.KeyVariable == "" {
		o.KeyVariable = "OPENAI_API_KEY"
	}
	peer := wire.Peer{Name: o.Name, Variable: o.KeyVariable, Secrets: wire.Secrets(o.Headers)}
	if o.Key != "" {
		peer.Secrets = append(peer.Secrets, o.Key)
	}
	base, err := peer.Address(o.BaseURL)
	if err == nil {
		err = peer.Keys()
	}
	peer.Base = base
	p := &Provider{o: o, err: err}
	if u, bad := url.Parse(base); bad == nil {
		p.vendor = u.Hostname() == vendorHost
		p.reasons = slices.Contains(reasoners, u.Hostname())
	}
	if err == nil && p.vendor && len(peer.Secrets) == 0 {
		p.err = peer.Fault(llm.NotConfigured, 0, "There is no key.", "Set "+o.KeyVariable+".")
	}
	p.wire = wire.New(peer, o.HTTPClient)
	p.opts = p.options(base)
	return p
}

// options are given one by one, because the library's own defaults look for
// keys in the environment.
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
	for name, values := range p.o.Headers {
		for _, v := range values {
			opts = append(opts, option.WithHeaderAdd(name, v))
		}
	}
	return opts
}

// Stream sends req and yields the parts of the reply; calls, usage and stop
// when the reply has ended.
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
		for !r.done && !r.left {
			e, err := call.Next()
			switch {
			case err == nil:
				call.Progress()
				err = r.apply(e)
			case r.reason != "" && err.Kind != llm.Cancelled:
				// All of the reply has arrived; what is missing is its usage
				// or only the end mark.
				err = r.finish()
			}
			if err != nil && !r.left {
				yield(nil, err)
				return
			}
			if r.reason != "" {
				call.Hurry(lastWords)
			}
		}
		if !r.left && yield(r.stop(), nil) {
			call.Drain()
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
	err = client.Post(call.Context(), "chat/completions", nil, &res, option.WithHTTPClient(call))
	return call.Sent(err)
}
