// Package wire is what every model protocol over HTTP shares.
//
// Does: send one request, its body in pieces ([Body]), and read its answer as
// server-sent events ([Call]), with bounds on silence and size; refuse redirects that would carry a key
// elsewhere; turn each failure into an [llm.Error] whose text is fit to be
// shown and holds no key ([Peer]).
//
// Does not: know a protocol's events, retry, or read the environment (except
// for the proxy variables, which net/http reads).
//
// Imports: agents/llm.
package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"fantail/agents/llm"
)

// The bounds of one call. There is no bound on its whole length: a long answer
// is not a fault.
const (
	idleLimit     = 300 * time.Second // without any byte
	progressLimit = 30 * time.Minute  // without any progress, pings or not
	connectLimit  = 10 * time.Second
	requestLimit  = 32 << 20 // bytes of a request
	eventLimit    = 16 << 20 // bytes of one event
	replyLimit    = 64 << 20 // bytes of a whole answer
	errorLimit    = 64 << 10 // bytes read of an error's body
	drainLimit    = 250 * time.Millisecond
)

var (
	errStalled    = errors.New("nothing arrived")
	errNoProgress = errors.New("only signs of life arrived")
	errDone       = errors.New("call closed")
)

// Client sends calls to one peer. It is safe for concurrent use.
type Client struct {
	peer *Peer
	http *http.Client
	idle time.Duration
}

// New returns a client for peer. base may be nil; its redirect rule is
// replaced. The keys in peer are redacted from all errors.
func New(peer Peer, base *http.Client) *Client {
	c := &Client{peer: &peer, http: &http.Client{}, idle: idleLimit}
	if base != nil {
		*c.http = *base
	}
	if c.http.Transport == nil {
		c.http.Transport = transport()
	}
	c.http.CheckRedirect = c.redirect
	return c
}

// transport bounds connecting and leaves the rest to the call. Compression is
// off because an event stream must arrive piece by piece.
func transport() *http.Transport {
	dialer := &net.Dialer{Timeout: connectLimit, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return breathing(c), nil
		},
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   connectLimit,
		ExpectContinueTimeout: time.Second,
		MaxIdleConns:          32,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       90 * time.Second,
		DisableCompression:    true,
	}
}

// redirect follows only what stays at the same server, so that a key never
// reaches another one.
func (c *Client) redirect(req *http.Request, via []*http.Request) error {
	from, to := via[0].URL, req.URL
	if req.Method == via[0].Method && to.Host == from.Host && to.Scheme == from.Scheme && len(via) <= 3 {
		return nil
	}
	return c.peer.Fault(llm.Protocol, 0, fmt.Sprintf("%s redirects to %s, which is not followed so that the key stays where it belongs.", from.Host, place(to)),
		"Set the base URL to the right address.")
}

func place(u *url.URL) string { return u.Scheme + "://" + u.Host }

// Peer returns who is called.
func (c *Client) Peer() *Peer { return c.peer }

// Call is one request and its streamed answer. It belongs to one goroutine.
type Call struct {
	c        *Client
	ctx      context.Context // the caller's
	inner    context.Context // ends with the call or its watch
	cancel   context.CancelCauseFunc
	watch    *time.Timer
	idle     time.Duration
	progress time.Time
	body     Body
	res      *http.Response
	events   *decoder
}

// Call begins a call. Close must be called.
func (c *Client) Call(ctx context.Context) *Call {
	inner, cancel := context.WithCancelCause(ctx)
	k := &Call{c: c, ctx: ctx, inner: inner, cancel: cancel, idle: c.idle, progress: time.Now()}
	k.watch = time.AfterFunc(k.idle, func() { cancel(errStalled) })
	return k
}

// Context is what the request must be sent with.
func (k *Call) Context() context.Context { return k.inner }

// Do sends the request, and accepts nothing but an event stream as its answer.
// Its error is always an [llm.Error]. It has the form of [http.Client.Do] so
// that a vendor's library can send through it.
func (k *Call) Do(req *http.Request) (*http.Response, error) {
	k.load(req)
	if err := k.fits(req.ContentLength); err != nil {
		return nil, err
	}
	k.watch.Reset(k.idle)
	res, err := k.c.http.Do(req)
	k.watch.Stop()
	if err != nil {
		return nil, k.broken(err, true)
	}
	k.res = res
	body := &watched{k, res.Body}
	if res.StatusCode != http.StatusOK || !streams(res.Header) {
		return nil, k.refused(body)
	}
	k.events = &decoder{src: body}
	return res, nil
}

// Fits refuses a request whose texts alone are more than a server takes, before it
// is encoded.
func (k *Call) Fits(req *llm.Request) *llm.Error {
	n := len(req.System)
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				n += len(p.Text)
			case llm.Thinking:
				n += len(p.Text) + len(p.Opaque)
			case llm.ToolCall:
				n += len(p.Args)
			case llm.ToolResult:
				n += len(p.Text)
			}
		}
	}
	return k.fits(int64(n))
}

func (k *Call) fits(bytes int64) *llm.Error {
	if bytes <= requestLimit {
		return nil
	}
	return k.c.peer.Fault(llm.ContextTooLong, 0,
		fmt.Sprintf("The request has %d MB, more than the %d MB a server takes.", bytes>>20, requestLimit>>20), "Shorten the conversation.")
}

// streams reports whether the answer is an event stream we can read.
func streams(h http.Header) bool {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || kind != "text/event-stream" {
		return false
	}
	charset := strings.ToLower(params["charset"])
	if charset != "" && charset != "utf-8" && charset != "utf8" && charset != "us-ascii" {
		return false
	}
	coding := h.Get("Content-Encoding")
	return coding == "" || coding == "identity"
}

// refused reads an answer that is no event stream.
func (k *Call) refused(body io.Reader) *llm.Error {
	text, err := io.ReadAll(io.LimitReader(body, errorLimit))
	if err != nil && len(text) == 0 && k.inner.Err() != nil {
		return k.broken(err, true)
	}
	return k.c.peer.Answer(k.res, text)
}

// Next returns the next event; it is valid until the next call. An answer that
// ended, in whatever way, is an error: only the protocol knows whether it was
// complete before.
func (k *Call) Next() (Event, *llm.Error) {
	if k.ctx.Err() != nil {
		return Event{}, k.broken(k.ctx.Err(), false)
	}
	if k.events == nil {
		return Event{}, k.c.peer.Fault(llm.Protocol, 0, "The request was not sent.", "")
	}
	e, err := k.events.next()
	if err != nil {
		return Event{}, k.broken(err, false)
	}
	return e, nil
}

// Progress says that the last event was more than a sign of life.
func (k *Call) Progress() { k.progress = time.Now() }

// Hurry lowers the limit of silence, when all that matters has arrived.
func (k *Call) Hurry(d time.Duration) { k.idle = min(k.idle, d) }

// broken names what ended the call: the caller, the watch, the network or the
// server. early says that no answer had begun.
func (k *Call) broken(err error, early bool) *llm.Error {
	p := k.c.peer
	var known *llm.Error
	switch cause := context.Cause(k.inner); {
	case k.ctx.Err() != nil:
		return &llm.Error{Kind: llm.Cancelled, Provider: p.Name, Message: "The request was stopped.", Err: k.ctx.Err()}
	case errors.Is(cause, errStalled):
		e := p.Fault(llm.Stalled, 0, fmt.Sprintf("Nothing arrived for %v.", k.idle), "")
		e.Err = cause
		return e
	case errors.Is(cause, errNoProgress):
		e := p.Fault(llm.Stalled, 0, fmt.Sprintf("The reply made no progress for %v.", progressLimit), "")
		e.Err = cause
		return e
	case errors.As(err, &known):
		return known
	case errors.Is(err, errEventSize), errors.Is(err, errReplySize):
		return p.Fault(llm.Protocol, 0, "The server's answer is too large: "+err.Error()+".", "")
	case early:
		return p.unreachable(err)
	}
	e := p.Fault(llm.Cut, 0, "The connection ended before the reply was complete.", "")
	e.Err = err
	return e
}

// Close ends the call and closes its connection, unless the answer has ended.
func (k *Call) Close() {
	k.watch.Stop()
	if k.res != nil {
		k.res.Body.Close()
	}
	k.cancel(errDone)
}

// Drain reads the little that follows a complete reply, so that the connection
// serves the next request. What does not come at once is not waited for.
func (k *Call) Drain() {
	if k.res == nil || k.res.ProtoMajor != 1 {
		return
	}
	k.watch.Reset(drainLimit)
	_, _ = io.Copy(io.Discard, io.LimitReader(k.res.Body, errorLimit))
}

// watched is a body whose every read is bounded.
type watched struct {
	k    *Call
	body io.Reader
}

func (w *watched) Read(b []byte) (int, error) {
	left := progressLimit - time.Since(w.k.progress)
	if left <= 0 {
		w.k.cancel(errNoProgress)
		return 0, errNoProgress
	}
	w.k.watch.Reset(w.k.idle)
	n, err := w.body.Read(b)
	w.k.watch.Stop()
	return n, err
}

// Sent returns the failure of sending, nil if the answer's events can be read.
// err is what the library that sent through Do returned.
func (k *Call) Sent(err error) *llm.Error {
	if err == nil && k.events == nil {
		err = errors.New("nothing was sent")
	}
	if err == nil {
		return nil
	}
	if k.res == nil && k.ctx.Err() == nil && context.Cause(k.inner) == nil {
		var known *llm.Error
		if !errors.As(err, &known) {
			return k.c.peer.Fault(llm.BadRequest, 0, "The request could not be made: "+err.Error()+".", "")
		}
	}
	return k.broken(err, true)
}
