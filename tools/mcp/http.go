package mcp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"fantail/tools/mcp/login"
)

// headers adds a server's headers to what goes to its host, and to no other.
type headers struct {
	of   map[string]string
	host string
	next http.RoundTripper
}

// RoundTrip sends a request.
func (h headers) RoundTrip(q *http.Request) (*http.Response, error) {
	if len(h.of) > 0 && q.URL.Scheme+"://"+q.URL.Host == h.host {
		q = q.Clone(q.Context())
		for name, value := range h.of {
			q.Header.Set(name, value)
		}
	}
	a, err := h.next.RoundTrip(q)
	if err == nil && !strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		a.Body = &bounded{ReadCloser: a.Body, left: longest} // of a stream the client bounds each event
	}
	return a, err
}

// bounded is a body that ends with an error where it is too long.
type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("it sent more than %d MiB", longest>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// errElsewhere is a redirect that is not followed.
var errElsewhere = errors.New("it redirects to another host")

// client is what reaches a server over HTTP. It follows no redirect to another host, which would get what was meant for
// this one.
func (r *Room) client(s Server) (*http.Client, error) {
	var t http.RoundTripper = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: probes}
	if r.o.Login != nil {
		var err error
		if t, err = r.o.Login(s, t); err != nil {
			return nil, err
		}
	}
	own := origin(s.URL)
	return &http.Client{
		Transport: headers{s.Headers, own, t},
		CheckRedirect: func(q *http.Request, via []*http.Request) error {
			switch {
			case q.URL.Scheme+"://"+q.URL.Host != own:
				return fmt.Errorf("%w: %s", errElsewhere, q.URL.Host)
			case len(via) > 5:
				return errors.New("it redirects without an end")
			}
			return nil
		},
	}, nil
}

// origin is what of an address says who gets a request.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// explain says for people why a server could not be reached, or what it answered.
func explain(s Server, err error) string {
	text := err.Error()
	var fault *login.Fault
	if errors.As(err, &fault) {
		return fault.Error()
	}
	var dns *net.DNSError
	var dial *net.OpError
	switch {
	case s.URL == "":
	case errors.As(err, &dns), errors.As(err, &dial):
		return "the network does not reach " + s.URL + ": " + text
	case refused(err, http.StatusUnauthorized):
		return origin(s.URL) + " wants a login (401): fantail mcp login " + s.Name + ", or give a token in headers" + reason(err)
	case refused(err, http.StatusForbidden):
		return origin(s.URL) + " does not let us (403)" + reason(err)
	}
	return text
}

// The codes of errors that the client makes itself, in the same form as servers' errors.
const (
	clientCloses = -32003
	serverCloses = -32004
	rejected     = -32005 // what is wrapped in it was not taken, and the connection goes on
)

// answerOf is the error with which the server answered; nil: that err is none.
func answerOf(err error) *jsonrpc.Error {
	var is *jsonrpc.Error
	if !errors.As(err, &is) || slices.Contains([]int64{clientCloses, serverCloses, rejected}, is.Code) {
		return nil
	}
	return is
}

// refused reports whether the server answered a request with that HTTP status. The client says it behind what it was
// sending; what a server answers as an error of its own may hold the same words.
func refused(err error, code int) bool {
	if answerOf(err) != nil && !errors.Is(err, &jsonrpc.Error{Code: rejected}) {
		return false
	}
	text := err.Error()
	return strings.Contains(text, `sending "`) && strings.HasSuffix(text, ": "+http.StatusText(code))
}

// answers reports whether err is the server's own word: there is no need to look whether it is there.
func answers(err error) bool {
	return answerOf(err) != nil || refused(err, http.StatusUnauthorized) || refused(err, http.StatusForbidden)
}

// reason is what the server says of a refusal; "": nothing.
func reason(err error) string {
	if is := answerOf(err); is != nil && is.Message != "" {
		return "; it says: " + is.Message
	}
	return ""
}

// fileURI is the address of a directory.
func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }
