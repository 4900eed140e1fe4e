package mcp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// headerTransport adds a server's headers to requests to its host only. It repairs the responses.
type headerTransport struct {
	headers map[string]string
	host    string
	next    http.RoundTripper
	log     func(string)
}

// RoundTrip sends a request.
func (h headerTransport) RoundTrip(q *http.Request) (*http.Response, error) {
	if len(h.headers) > 0 && q.URL.Scheme+"://"+q.URL.Host == h.host {
		q = q.Clone(q.Context())
		for name, value := range h.headers {
			q.Header.Set(name, value)
		}
	}
	a, err := h.next.RoundTrip(q)
	if err != nil {
		return a, err
	}
	told := func(text string) { h.log(shortText(text)) }
	kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if kind == "text/event-stream" {
		a.Body = &eventBody{ReadCloser: a.Body, in: bufio.NewReader(a.Body), log: told}
		return a, nil
	}
	var of json.RawMessage
	if a.StatusCode/100 == 2 {
		of = requestID(q)
	}
	switch {
	case kind == "application/json", of != nil: // the server may omit the type or the body
		a.Header.Set("Content-Type", "application/json")
		a.Body = &jsonBody{ReadCloser: a.Body, requestID: of, log: told}
	default:
		a.Body = &limitedBody{ReadCloser: a.Body, remaining: maxMessage}
	}
	return a, nil
}

// errOtherHost is the error of a redirect to another host, which is not followed.
var errOtherHost = errors.New("it redirects to another host")

// httpClient returns the client for a server over HTTP. It follows no redirect to another host,
// which would receive what was meant for this one.
func (r *Servers) httpClient(l *managedServer) (*http.Client, error) {
	s := l.server
	var t http.RoundTripper = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: probeTimeout}
	if r.o.Login != nil {
		var err error
		if t, err = r.o.Login(s, t); err != nil {
			return nil, err
		}
	}
	own := origin(s.URL)
	return &http.Client{
		Transport: headerTransport{s.Headers, own, t, l.logLine},
		CheckRedirect: func(q *http.Request, via []*http.Request) error {
			switch {
			case q.URL.Scheme+"://"+q.URL.Host != own:
				return fmt.Errorf("%w: %s", errOtherHost, q.URL.Host)
			case len(via) > 5:
				return errors.New("it redirects without an end")
			}
			return nil
		},
	}, nil
}

// origin returns scheme and host of an address.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// errorText says for people why a server could not be reached, or what it answered.
func errorText(s Server, err error) string {
	text := err.Error()
	var fault *LoginFault
	if errors.As(err, &fault) {
		return fault.Error()
	}
	var dns *net.DNSError
	var dial *net.OpError
	switch {
	case s.URL == "":
	case errors.As(err, &dns), errors.As(err, &dial):
		return "the network does not reach " + s.URL + ": " + text
	case hasStatus(err, http.StatusUnauthorized):
		return origin(s.URL) + " wants a login (401): fantail mcp login " + s.Word() + ", or give a token in headers" + serverMessage(err)
	case hasStatus(err, http.StatusForbidden):
		return origin(s.URL) + " does not let us (403)" + serverMessage(err)
	}
	return text
}

// The codes of errors that the client itself makes, in the same form as servers' errors.
const (
	codeClientClosing = -32003
	codeServerClosing = -32004
	codeRejected      = -32005 // the wrapped error was rejected, and the connection goes on
)

// serverError returns the error with which the server answered; nil: err is none.
func serverError(err error) *jsonrpc.Error {
	var is *jsonrpc.Error
	if !errors.As(err, &is) || slices.Contains([]int64{codeClientClosing, codeServerClosing, codeRejected}, is.Code) {
		return nil
	}
	return is
}

// hasStatus reports whether the server answered with that HTTP status. The client appends the
// status to what it was sending; an error of the server itself may contain the same words.
func hasStatus(err error, code int) bool {
	if serverError(err) != nil && !errors.Is(err, &jsonrpc.Error{Code: codeRejected}) {
		return false
	}
	text := err.Error()
	return strings.Contains(text, `sending "`) && strings.HasSuffix(text, ": "+http.StatusText(code))
}

// fromServer reports whether err is an answer of the server, so that the server is alive.
func fromServer(err error) bool {
	return serverError(err) != nil || hasStatus(err, http.StatusUnauthorized) || hasStatus(err, http.StatusForbidden)
}

// serverMessage returns the server's message with a refusal, or "".
func serverMessage(err error) string {
	if is := serverError(err); is != nil && is.Message != "" {
		return "; it says: " + is.Message
	}
	return ""
}

// fileURI returns the URI of a directory.
func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }
