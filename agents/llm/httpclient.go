package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const userAgent = "fantail"

// The bounds of one call. There is no bound on its whole length: a long answer
// is not a fault.
const (
	idleLimit     = 300 * time.Second // without any byte
	localLimit    = 15 * time.Minute  // before the first event of a server nearby: it may read a long conversation slowly
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

// HTTPClient sends calls to one endpoint. It is safe for concurrent use.
type HTTPClient struct {
	endpoint *Endpoint
	http     *http.Client

	idleTimeout, firstByteTimeout time.Duration // without any byte; before the first event

	Err       *Error // the options are wrong: every stream ends with it
	ThinkTags bool   // thinking in <think> tags is taken out of the text
	Refused   Refused
}

// NewClient returns a client for e. Its Err says what is wrong with e. base may be nil; its
// redirect rule is replaced. The secrets of e are redacted from all errors.
func NewClient(e Endpoint, base *http.Client) *HTTPClient {
	e.Secrets = slices.DeleteFunc(append(slices.Clone(e.Secrets), Secrets(e.Headers)...), func(s string) bool { return s == "" })
	c := &HTTPClient{endpoint: &e, http: &http.Client{}, idleTimeout: idleLimit}
	if e.BaseURL, c.Err = e.checkBaseURL(e.BaseURL); c.Err == nil {
		c.Err = e.checkKeys()
	}
	if c.firstByteTimeout = e.FirstByte; c.firstByteTimeout <= 0 {
		c.firstByteTimeout = c.idleTimeout
		if e.local() {
			c.firstByteTimeout = localLimit
		}
	}
	if base != nil {
		*c.http = *base
	}
	if c.http.Transport == nil {
		c.http.Transport = transport()
	}
	c.http.CheckRedirect = c.redirect
	return c
}

// BaseURL returns the base URL without its last slash, or "" if it is no address.
func (c *HTTPClient) BaseURL() string { return c.endpoint.BaseURL }

// RequireKey sets Err if there is no key.
func (c *HTTPClient) RequireKey() {
	if c.Err == nil && len(c.endpoint.Secrets) == 0 {
		c.Err = c.endpoint.NewError(NotConfigured, 0, "There is no key.", "Set "+c.endpoint.KeyVariable+".")
	}
}

// transport bounds the time to connect; the call bounds the rest. Compression is
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
			return newCoalescingConn(c), nil
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

// redirect follows only redirects to the same server, so that a key never
// reaches another one.
func (c *HTTPClient) redirect(req *http.Request, via []*http.Request) error {
	from, to := via[0].URL, req.URL
	if req.Method == via[0].Method && to.Host == from.Host && to.Scheme == from.Scheme && len(via) <= 3 {
		return nil
	}
	return c.endpoint.NewError(Protocol, 0, fmt.Sprintf("%s redirects to %s, which is not followed so that the key stays where it belongs.", from.Host, originOf(to)),
		"Set the base URL to the right address.")
}

func originOf(u *url.URL) string { return u.Scheme + "://" + u.Host }

// HTTPCall is one request and its streamed response. It belongs to one goroutine.
type HTTPCall struct {
	client       *HTTPClient
	ctx          context.Context // the caller's
	callCtx      context.Context // ends with the call or its timeout
	cancel       context.CancelCauseFunc
	idleTimer    *time.Timer
	idleTimeout  time.Duration
	gotEvent     bool // an event has arrived
	lastProgress time.Time
	body         Body
	res          *http.Response
	events       *sseDecoder
	wholeReply   []byte // a response that is no stream and was not read yet
}

// Call starts a call. The caller must call Close.
func (c *HTTPClient) Call(ctx context.Context) *HTTPCall {
	inner, cancel := context.WithCancelCause(ctx)
	k := &HTTPCall{client: c, ctx: ctx, callCtx: inner, cancel: cancel, idleTimeout: c.idleTimeout, lastProgress: time.Now()}
	k.idleTimer = time.AfterFunc(k.timeout(), func() { cancel(errStalled) })
	return k
}

// timeout returns how long the call waits for the next byte.
func (k *HTTPCall) timeout() time.Duration {
	if !k.gotEvent {
		return k.client.firstByteTimeout
	}
	return k.idleTimeout
}

// post sends the body to a path below the base URL, which may have a query, with the headers of the protocol and the
// endpoint. It accepts an event stream, or the whole reply in one object.
func (k *HTTPCall) post(path string, headers http.Header) *Error {
	u, err := url.Parse(k.client.endpoint.BaseURL)
	if err != nil {
		return k.requestError(err)
	}
	path, query, _ := strings.Cut(path, "?")
	u = u.JoinPath(path)
	u.RawQuery = strings.Trim(u.RawQuery+"&"+query, "&")
	req, err := http.NewRequestWithContext(k.callCtx, http.MethodPost, u.String(), nil)
	if err != nil {
		return k.requestError(err)
	}
	k.setBody(req)
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Content-Type", "application/json")
	for _, all := range []http.Header{headers, k.client.endpoint.Headers} { // the user's take the place of ours
		for name, values := range all {
			req.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	if err := k.checkBytes(req.ContentLength); err != nil {
		return err
	}
	k.idleTimer.Reset(k.timeout())
	res, err := k.client.http.Do(req)
	k.idleTimer.Stop()
	if err != nil {
		return k.callError(err, true)
	}
	k.res = res
	body := &watchedBody{k, res.Body}
	if res.StatusCode != http.StatusOK || !isEventStream(res.Header) {
		return k.readWhole(body)
	}
	k.events = &sseDecoder{src: body}
	return nil
}

// requestError returns the error of a request that could not be made.
func (k *HTTPCall) requestError(err error) *Error {
	return k.client.endpoint.NewError(BadRequest, 0, "The request could not be made: "+err.Error()+".", "")
}

// checkSize refuses, before it is encoded, a request whose texts alone are larger than a
// server takes.
func (k *HTTPCall) checkSize(req *Request) *Error {
	n := len(req.System)
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case Text:
				n += len(p.Text)
			case Thinking:
				n += len(p.Text) + len(p.Opaque)
			case ToolCall:
				n += len(p.Args)
			case ToolResult:
				n += len(p.Text)
			}
		}
	}
	return k.checkBytes(int64(n))
}

func (k *HTTPCall) checkBytes(bytes int64) *Error {
	if bytes <= requestLimit {
		return nil
	}
	return k.client.endpoint.NewError(ContextTooLong, 0,
		fmt.Sprintf("The request has %d MB, more than the %d MB a server takes.", bytes>>20, requestLimit>>20), "Shorten the conversation.")
}

// isEventStream reports whether the answer is an event stream we can read.
func isEventStream(h http.Header) bool {
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

// readWhole reads a response that is no event stream. Servers that do not stream send the whole reply.
func (k *HTTPCall) readWhole(body io.Reader) *Error {
	most := int64(errorLimit)
	if k.res.StatusCode == http.StatusOK {
		most = eventLimit
	}
	text, err := io.ReadAll(io.LimitReader(body, most))
	if err != nil && len(text) == 0 && k.callCtx.Err() != nil {
		return k.callError(err, true)
	}
	if k.res.StatusCode == http.StatusOK && err == nil && k.client.endpoint.isReply(text) {
		k.events, k.wholeReply = &sseDecoder{err: io.EOF}, text
		return nil
	}
	return k.client.endpoint.ResponseError(k.res, text[:min(len(text), errorLimit)])
}

// next returns the next event; it is valid until the next call. The end of the
// stream is an error, whatever ended it: only the protocol knows whether the reply
// was complete.
func (k *HTTPCall) next() (SSEEvent, *Error) {
	if k.ctx.Err() != nil {
		return SSEEvent{}, k.callError(k.ctx.Err(), false)
	}
	if k.events == nil {
		return SSEEvent{}, k.client.endpoint.NewError(Protocol, 0, "The request was not sent.", "")
	}
	if whole := k.wholeReply; whole != nil {
		k.wholeReply, k.gotEvent = nil, true
		return SSEEvent{Data: whole}, nil
	}
	e, err := k.events.next()
	if err != nil {
		return SSEEvent{}, k.callError(err, false)
	}
	k.gotEvent = true
	return e, nil
}

// endedInOrder reports whether err, an error of next, is the end of a response that HTTP takes for complete.
func endedInOrder(err *Error) bool {
	return err != nil && err.Kind == Cut && errors.Is(err.Err, io.EOF)
}

// noteProgress notes that the last event was more than a sign of life.
func (k *HTTPCall) noteProgress() { k.lastProgress = time.Now() }

// callError returns the error for what ended the call: the caller, a timeout, the
// network or the server. early says that no response had begun.
func (k *HTTPCall) callError(err error, early bool) *Error {
	p := k.client.endpoint
	var known *Error
	switch cause := context.Cause(k.callCtx); {
	case k.ctx.Err() != nil:
		return &Error{Kind: Cancelled, Provider: p.Name, Message: "The request was stopped.", Err: k.ctx.Err()}
	case errors.Is(cause, errStalled):
		e := p.NewError(Stalled, 0, fmt.Sprintf("Nothing arrived for %v.", k.timeout()), "")
		if !k.gotEvent && (p.local() || p.FirstByte > 0) { // it would begin to read the conversation again
			e = p.NewError(Stalled, 0, fmt.Sprintf("No word of the reply arrived for %v.", k.client.firstByteTimeout),
				"If the model needs longer to read a conversation, set first_byte_timeout of its provider in ~/.config/fantail/config.toml.")
			e.Tries = 1
		}
		e.Err = cause
		return e
	case errors.Is(cause, errNoProgress):
		e := p.NewError(Stalled, 0, fmt.Sprintf("The reply made no progress for %v.", progressLimit), "")
		e.Err = cause
		return e
	case errors.As(err, &known):
		return known
	case errors.Is(err, errEventSize), errors.Is(err, errReplySize):
		return p.NewError(Protocol, 0, "The server's answer is too large: "+err.Error()+".", "")
	case early:
		return p.connectError(err)
	}
	e := p.NewError(Cut, 0, "The connection ended before the reply was complete.", "")
	e.Err = err
	return e
}

// emptyReply bounds the tries after err, the error of an empty reply: some servers always send one.
func emptyReply(err *Error) *Error {
	err.Tries = 3
	return err
}

// Close ends the call and closes its connection, unless the response has ended.
func (k *HTTPCall) Close() {
	k.idleTimer.Stop()
	if k.res != nil {
		k.res.Body.Close()
	}
	k.cancel(errDone)
}

// drain reads what follows a complete reply, so that the connection can serve the
// next request. It waits for no more than drainLimit.
func (k *HTTPCall) drain() {
	if k.res == nil || k.res.ProtoMajor != 1 {
		return
	}
	k.idleTimer.Reset(drainLimit)
	_, _ = io.Copy(io.Discard, io.LimitReader(k.res.Body, errorLimit))
}

// watchedBody is a response body with a time limit for each read.
type watchedBody struct {
	call *HTTPCall
	body io.Reader
}

func (w *watchedBody) Read(b []byte) (int, error) {
	left := max(progressLimit, w.call.timeout()) - time.Since(w.call.lastProgress)
	if left <= 0 {
		w.call.cancel(errNoProgress)
		return 0, errNoProgress
	}
	w.call.idleTimer.Reset(w.call.timeout())
	n, err := w.body.Read(b)
	w.call.idleTimer.Stop()
	return n, err
}
