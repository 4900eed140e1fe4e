package wire

import (
	"crypto/tls"
	"crypto/x509"
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

	"fantail/agents/llm"
)

// Peer is who is called, as its errors need to know it.
type Peer struct {
	Name     string   // of the provider, "anthropic"
	Variable string   // what holds its key, "ANTHROPIC_API_KEY"; empty if unknown
	Base     string   // the address, for people
	Secrets  []string // never shown
}

// Fault returns an error whose message is text, cleaned and cut, and then hint.
func (p *Peer) Fault(kind llm.ErrorKind, status int, text, hint string) *llm.Error {
	if hint != "" {
		hint = " " + hint
	}
	text = llm.Clip(p.clean(text), llm.MessageLimit-len(hint))
	return &llm.Error{Kind: kind, Provider: p.Name, Status: status, Message: text + hint}
}

// Answer returns the error that an HTTP answer means which is no event stream.
func (p *Peer) Answer(res *http.Response, body []byte) *llm.Error {
	if res.StatusCode == http.StatusOK {
		return p.notStream(res.Header, body)
	}
	if res.StatusCode < 400 {
		text := fmt.Sprintf("The server answered %q instead of an event stream.", res.Status)
		return p.Fault(llm.Protocol, res.StatusCode, text, p.hintBase())
	}
	e := p.reason(res.StatusCode, read(body, res.Header.Get("Content-Type")))
	if e.Temporary() {
		e.RetryAfter = retryAfter(res.Header)
	}
	return e
}

// notStream is for a 200 that is no event stream. An error object in it counts
// as the error it names.
func (p *Peer) notStream(h http.Header, body []byte) *llm.Error {
	kind := h.Get("Content-Type")
	if r := read(body, kind); r.named {
		return p.reason(http.StatusOK, r)
	}
	what := "an answer without a content type"
	if kind != "" {
		what = strconv.Quote(llm.Clip(kind, 80))
	}
	if coding := h.Get("Content-Encoding"); coding != "" && coding != "identity" {
		what += " packed as " + strconv.Quote(llm.Clip(coding, 40))
	}
	return p.Fault(llm.Protocol, http.StatusOK, "The server sent "+what+" instead of an event stream.", p.hintBase())
}

// Event returns the error that an error object inside a stream means.
func (p *Peer) Event(data []byte) *llm.Error {
	return p.reason(0, read(data, ""))
}

// reason words what the server said by the kind it is.
func (p *Peer) reason(status int, r reason) *llm.Error {
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
	case llm.Auth:
		return p.auth(status, said)
	case llm.NotConfigured:
		return p.Fault(kind, status, "Not found: "+said, "Check the model's name and the base URL"+p.base()+".")
	case llm.ContextTooLong:
		return p.Fault(kind, status, "The conversation is longer than the model can read: "+said, "Shorten it or start a new one.")
	case llm.BadRequest:
		return p.Fault(kind, status, "The server refused the request: "+said, "")
	case llm.RateLimited:
		return p.Fault(kind, status, "Too many requests: "+said, "")
	case llm.Overloaded:
		return p.Fault(kind, status, "The service is overloaded: "+said, "")
	}
	return p.Fault(kind, status, "The server failed: "+said, "")
}

func (p *Peer) auth(status int, said string) *llm.Error {
	holder := "the key"
	if p.Variable != "" {
		holder = p.Variable
	}
	switch {
	case status == http.StatusProxyAuthRequired:
		return p.Fault(llm.Auth, status, "The proxy wants a name and password: "+said, "Check HTTPS_PROXY.")
	case len(p.Secrets) == 0:
		return p.Fault(llm.Auth, status, "The server wants a key and none is set: "+said, "Set "+holder+".")
	case status == http.StatusForbidden:
		return p.Fault(llm.Auth, status, "The key may not do this: "+said, "Check the rights of the key in "+holder+".")
	}
	return p.Fault(llm.Auth, status, "The key was refused: "+said, "Check "+holder+".")
}

func (p *Peer) base() string {
	if p.Base == "" {
		return ""
	}
	return " (" + llm.Clip(p.clean(p.Base), 120) + ")"
}

func (p *Peer) hintBase() string { return "Check the base URL" + p.base() + "." }

// unreachable is for a request that got no answer. A wrong certificate does not
// become right by trying again; all else may.
func (p *Peer) unreachable(err error) *llm.Error {
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
		e       *llm.Error
	)
	switch {
	case errors.As(err, &cert), errors.As(err, &unknown):
		e = p.Fault(llm.Protocol, 0, "The certificate of "+host+" is not valid: "+err.Error()+".", "Check the base URL, the clock and SSL_CERT_FILE.")
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		e = p.Fault(llm.Protocol, 0, host+" does not speak TLS.", "Check whether the base URL should start with http://.")
	case errors.As(err, &alert):
		e = p.Fault(llm.Protocol, 0, "No secure connection to "+host+": "+err.Error()+".", "")
	case err.Error() == "Proxy Authentication Required":
		e = p.auth(http.StatusProxyAuthRequired, "it let nothing through.")
	case errors.As(err, &dns) && dns.IsNotFound:
		e = p.Fault(llm.Network, 0, "There is no host "+dns.Name+".", "Check the network and the base URL.")
	case errors.Is(err, syscall.ECONNREFUSED):
		e = p.Fault(llm.Network, 0, "Nothing answers at "+host+".", "Is the server running?")
		if own(err) {
			e.Tries = 2 // no network comes back there: once more, for one that just starts
		}
	default:
		e = p.Fault(llm.Network, 0, "Cannot reach "+host+": "+err.Error()+".", "")
	}
	e.Err = err
	return e
}

// own reports whether the connection that failed was to this machine itself.
func own(err error) bool {
	var dial *net.OpError
	if !errors.As(err, &dial) {
		return false
	}
	to, ok := dial.Addr.(*net.TCPAddr)
	return ok && to.IP.IsLoopback()
}

// host is the part of the base URL that people recognise.
func (p *Peer) host() string {
	if u, err := url.Parse(p.Base); err == nil && u.Host != "" {
		return u.Host
	}
	return "the server"
}

// Keys checks that every secret can be sent at all. A key with a line break or
// a letter from a word processor cannot.
func (p *Peer) Keys() *llm.Error {
	for _, secret := range p.Secrets {
		for i := range len(secret) {
			if c := secret[i]; c < ' ' || c > '~' {
				return p.Fault(llm.NotConfigured, 0, "The key holds a character that no key has.", "Check "+p.Variable+".")
			}
		}
	}
	return nil
}

// Address checks a base URL given by a person and returns it without its last
// slash.
func (p *Peer) Address(base string) (string, *llm.Error) {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", p.Fault(llm.NotConfigured, 0, fmt.Sprintf("The base URL %q is not an http or https address.", llm.Clip(base, 120)), "")
	}
	return strings.TrimRight(base, "/"), nil
}

// retryAfter returns what the server asked for; 0 if that cannot be read or is
// no wait. Enormous wishes stay enormous: who waits bounds them.
func retryAfter(h http.Header) time.Duration {
	if d := span(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if d := span(v, time.Second); d > 0 {
		return d
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

func span(v string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || math.IsNaN(n) || n <= 0 {
		return 0
	}
	if n *= float64(unit); n > float64(1000*time.Hour) {
		return 1000 * time.Hour
	}
	return time.Duration(n)
}
