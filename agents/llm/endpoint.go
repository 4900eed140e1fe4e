package llm

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Endpoint is a server and what its errors need to know of it.
type Endpoint struct {
	Name        string      // of the provider, "anthropic"
	KeyVariable string      // the environment variable of its key, "ANTHROPIC_API_KEY"; empty if unknown
	KeyHelp     string      // how to give it a key, in a sentence; empty: "Set" and KeyVariable
	BaseURL     string      // http or https
	Secrets     []string    // keys, which are never shown
	Headers     http.Header // added to each request
	ReplyField  string      // the member that holds the reply in a response that is no stream

	FirstByte time.Duration // how long the first event may take; 0: the usual time
}

// isReply reports whether a response that is no stream holds the whole reply.
func (p *Endpoint) isReply(text []byte) bool {
	var members map[string]json.RawMessage
	return p.ReplyField != "" && json.Unmarshal(text, &members) == nil && !EmptyJSON(members[p.ReplyField]) && EmptyJSON(members["error"])
}

// local reports whether the server is this machine or one in the local network.
func (p *Endpoint) local() bool {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	return host == "localhost" || host == "host.docker.internal" || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".localhost")
}

// NewError returns an error. Its message is text, cleaned and clipped, followed by hint.
func (p *Endpoint) NewError(kind ErrorKind, status int, text, hint string) *Error {
	if hint != "" {
		hint = " " + hint
	}
	text = Clip(p.clean(text), MessageLimit-len(hint))
	return &Error{Kind: kind, Provider: p.Name, Status: status, Message: text + hint}
}

// ResponseError returns the error for a response that is no event stream.
func (p *Endpoint) ResponseError(res *http.Response, body []byte) *Error {
	if res.StatusCode == http.StatusOK {
		return p.notStreamError(res.Header, body)
	}
	if res.StatusCode < 400 {
		text := fmt.Sprintf("The server answered %q instead of an event stream.", res.Status)
		return p.NewError(Protocol, res.StatusCode, text, p.baseURLHint())
	}
	e := p.bodyError(res.StatusCode, parseErrorBody(body, res.Header.Get("Content-Type")))
	if e.Temporary() {
		e.RetryAfter = retryAfter(res.Header)
	}
	return e
}

// notStreamError returns the error for a response with status 200 that is no event stream. An error
// object in it counts as the error it names.
func (p *Endpoint) notStreamError(h http.Header, body []byte) *Error {
	kind := h.Get("Content-Type")
	if r := parseErrorBody(body, kind); r.isError {
		return p.bodyError(http.StatusOK, r)
	}
	what := "an answer without a content type"
	if kind != "" {
		what = strconv.Quote(Clip(kind, 80))
	}
	if coding := h.Get("Content-Encoding"); coding != "" && coding != "identity" {
		what += " packed as " + strconv.Quote(Clip(coding, 40))
	}
	return p.NewError(Protocol, http.StatusOK, "The server sent "+what+" instead of an event stream.", p.baseURLHint())
}

// EventError returns the error for an error object inside a stream.
func (p *Endpoint) EventError(data []byte) *Error {
	return p.bodyError(0, parseErrorBody(data, ""))
}

// bodyError returns an error with the server's own words, worded by its kind.
func (p *Endpoint) bodyError(status int, r errorBody) *Error {
	if status < 400 && r.status >= 400 {
		status = r.status
	}
	kind := r.kind(status)
	said := strings.TrimSpace(r.text)
	if said == "" {
		said = "no reason given"
	}
	said = strings.TrimRight(said, ". ") + "."
	switch kind {
	case Auth:
		return p.authError(status, said)
	case NotConfigured:
		return p.NewError(kind, status, "Not found: "+said, "Check the model's name and the base URL"+p.shownBaseURL()+".")
	case ContextTooLong:
		return p.NewError(kind, status, "The conversation is longer than the model can read: "+said, "Shorten it or start a new one.")
	case BadRequest:
		return p.NewError(kind, status, refusedPrefix+said, "")
	case RateLimited:
		return p.NewError(kind, status, "Too many requests: "+said, "")
	case Overloaded:
		return p.NewError(kind, status, "The service is overloaded: "+said, "")
	}
	return p.NewError(kind, status, "The server failed: "+said, "")
}

func (p *Endpoint) authError(status int, said string) *Error {
	holder := "the key"
	if p.KeyVariable != "" {
		holder = p.KeyVariable
	}
	switch {
	case status == http.StatusProxyAuthRequired:
		return p.NewError(Auth, status, "The proxy wants a name and password: "+said, "Check HTTPS_PROXY.")
	case len(p.Secrets) == 0:
		return p.NewError(Auth, status, "The server wants a key and none is set: "+said, cmp.Or(p.KeyHelp, "Set "+holder+"."))
	case status == http.StatusForbidden:
		return p.NewError(Auth, status, "The key may not do this: "+said, "Check the rights of the key in "+holder+".")
	}
	return p.NewError(Auth, status, "The key was refused: "+said, "Check "+holder+".")
}

func (p *Endpoint) shownBaseURL() string {
	if p.BaseURL == "" {
		return ""
	}
	return " (" + Clip(p.clean(p.BaseURL), 120) + ")"
}

func (p *Endpoint) baseURLHint() string { return "Check the base URL" + p.shownBaseURL() + "." }

// connectError returns the error for a request without a response. It is temporary, except
// for a wrong certificate.
func (p *Endpoint) connectError(err error) *Error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	host := p.host()
	var (
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		e       *Error
	)
	switch {
	case errors.As(err, &cert), errors.As(err, &unknown):
		e = p.NewError(Protocol, 0, "The certificate of "+host+" is not valid: "+err.Error()+".", "Check the base URL, the clock and SSL_CERT_FILE.")
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		e = p.NewError(Protocol, 0, host+" does not speak TLS.", "Check whether the base URL should start with http://.")
	case errors.As(err, &alert):
		e = p.NewError(Protocol, 0, "No secure connection to "+host+": "+err.Error()+".", "")
	case err.Error() == "Proxy Authentication Required":
		e = p.authError(http.StatusProxyAuthRequired, "it let nothing through.")
	case errors.As(err, &dns) && dns.IsNotFound:
		e = p.NewError(Network, 0, "There is no host "+dns.Name+".", "Check the network and the base URL.")
	case errors.Is(err, syscall.ECONNREFUSED):
		e = p.NewError(Network, 0, "Nothing answers at "+host+".", "Is the server running?")
		if isLoopback(err) {
			e.Tries = 2 // no network comes back there: once more, for one that just starts
		}
	default:
		e = p.NewError(Network, 0, "Cannot reach "+host+": "+err.Error()+".", "")
	}
	e.Err = err
	return e
}

// isLoopback reports whether the connection that failed was to this machine.
func isLoopback(err error) bool {
	var dial *net.OpError
	if !errors.As(err, &dial) {
		return false
	}
	to, ok := dial.Addr.(*net.TCPAddr)
	return ok && to.IP.IsLoopback()
}

// host returns the host of the base URL.
func (p *Endpoint) host() string {
	if u, err := url.Parse(p.BaseURL); err == nil && u.Host != "" {
		return u.Host
	}
	return "the server"
}

// checkKeys checks that a header can hold every secret. A key with a line break or
// a letter from a word processor can't be sent.
func (p *Endpoint) checkKeys() *Error {
	for _, secret := range p.Secrets {
		for i := range len(secret) {
			if c := secret[i]; c < ' ' || c > '~' {
				return p.NewError(NotConfigured, 0, "The key holds a character that no key has.", "Check "+p.KeyVariable+".")
			}
		}
	}
	return nil
}

// checkBaseURL checks a base URL and returns it without its last slash, or "" with an
// error.
func (p *Endpoint) checkBaseURL(base string) (string, *Error) {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", p.NewError(NotConfigured, 0, fmt.Sprintf("The base URL %q is not an http or https address.", Clip(base, 120)), "")
	}
	return strings.TrimRight(base, "/"), nil
}

// retryAfter returns the wait that the server asked for, or 0 if it can't be read.
// The caller bounds it.
func retryAfter(h http.Header) time.Duration {
	if d := parseSpan(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if d := parseSpan(v, time.Second); d > 0 {
		return d
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

func parseSpan(v string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || math.IsNaN(n) || n <= 0 {
		return 0
	}
	if n *= float64(unit); n > float64(1000*time.Hour) {
		return 1000 * time.Hour
	}
	return time.Duration(n)
}
