// Package login logs in to MCP servers that want it, by OAuth, and keeps what they give.
//
// Does: put the token of a server on the requests to it and on no other, renew it in time and once, also beside other
// processes; keep it in a file that is the user's alone; have the human asked where there is none, and wait for the
// browser to come back.
//
// Does not: open a browser, speak MCP. What discovers, registers and exchanges is the protocol's library.
//
// Imports: tools/ownfile.
package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

// Question is what the human is asked.
type Question struct {
	Server string
	At     string // the server's own host
	Host   string // who wants to know who the human is
	URL    string // to be opened in a browser, in letters that any terminal shows
	Back   string // where the browser comes back to, on this machine
	Why    string // what became of the login before; "": there was none

	state string // what tells this login from others
}

// Answer is what the human says to it.
type Answer struct {
	No   bool
	Back string // the address at which the browser ended, where it could not come back by itself; "": it has not been told
}

// Options are what logging in needs.
type Options struct {
	Dir  string            // where what servers give is kept, a file for each; made when it is needed
	Base http.RoundTripper // what carries requests; nil: the usual one
	// Ask asks the human and returns what is said. It ends with ctx: the browser came back by itself. nil: nobody can be
	// asked, and a login that is needed is a fault.
	Ask func(ctx context.Context, q Question) (Answer, error)
	Now func() time.Time
	Go  func(name string, f func())
}

// Client is who we are to a server that wants a login.
type Client struct {
	Server string // the name of the server, for people
	URL    string // its address: requests to its origin carry the token
	ID     string // that was registered for us, or the address of a document that describes us; "": we register ourselves
	Secret string
	Port   int // of this machine, at which the browser ends; 0: any that is free
}

// Fault says why a request could not be made by somebody who is logged in.
type Fault struct {
	Server, Host string
	Why          Why
	Err          error

	refused *refusal // what a login has to do with; nil: none can mend it
}

// Why is a cause of a Fault.
type Why int

const (
	Unreachable Why = iota // the network failed: what is kept stays, and the next request tries again
	Expired                // and nothing was given to renew it with
	Refused                // who gave it does not renew it
	Distrusted             // the server refuses the token that was just given
	Declined               // the human said no
	Unasked                // nobody can be asked
	Failed                 // the login came to nothing
)

func (f *Fault) Error() string {
	switch f.Why {
	case Expired, Refused:
		return f.cause() + "; fantail mcp login " + f.Server + " logs in again"
	case Unreachable:
		return fmt.Sprintf("the login to %s can't be renewed now, for %s can't be reached: %v; the next call tries again", f.Server, f.Host, f.Err)
	case Distrusted:
		return fmt.Sprintf("%s refuses the token that %s has just given; that is between the two of them, and logging in again will hardly help", f.Server, f.Host)
	case Declined:
		return fmt.Sprintf("you declined to log in to %s at %s; fantail mcp login %[1]s asks again", f.Server, f.Host)
	case Unasked:
		return fmt.Sprintf("%s wants a login: fantail mcp login %[1]s", f.Server)
	}
	return fmt.Sprintf("the login to %s failed: %v; fantail mcp login %[1]s logs in again", f.Server, f.Err)
}

// cause is what became of a login that is over.
func (f *Fault) cause() string {
	if f.Why == Expired {
		return fmt.Sprintf("the login to %s has expired, and %s gave nothing to renew it with", f.Server, f.Host)
	}
	return fmt.Sprintf("%s does not renew the login to %s (%v)", f.Host, f.Server, f.Err)
}

func (f *Fault) Unwrap() error { return f.Err }

// renewsBefore is how long before its end a token is renewed.
const renewsBefore = 30 * time.Second

// Transport carries requests of a client that logs in. It is safe for concurrent use.
type Transport struct {
	o    Options
	c    Client
	at   *url.URL
	kept file

	turn chan struct{} // held by who renews, or logs in

	mu       sync.Mutex
	grant    *grant // nil: not read yet
	declined bool
	lost     *Fault // why the grant before is gone; nil: there was none
}

// New returns the transport of a client.
func New(o Options, c Client) (*Transport, error) {
	at, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	if o.Base == nil {
		o.Base = http.DefaultTransport
	}
	t := &Transport{o: o, c: c, at: at, kept: file{dir: o.Dir, resource: c.URL}, turn: make(chan struct{}, 1)}
	return t, nil
}

// Forget forgets what is kept of the login to the server at that address, and reports whether there was any. Who gave it is
// not told: the token stays good there until it ends.
func Forget(dir, address string) (bool, error) {
	f := file{dir: dir, resource: address}
	if _, err := os.Lstat(f.path()); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return true, f.remove()
}

// RoundTrip is that of http.RoundTripper. An error about the login is a *Fault.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !t.ours(req.URL) || req.Header.Get("Authorization") != "" {
		return t.o.Base.RoundTrip(req)
	}
	g, err := t.fresh(req.Context())
	if err != nil {
		closeBody(req)
		return nil, err
	}
	resp, err := t.try(req, g)
	if err != nil || !wantsLogin(resp) {
		return resp, err
	}
	again, err := rewound(req)
	if err != nil {
		return resp, nil //nolint:nilerr // it can't be sent twice: what the server said is the answer
	}
	next, err := t.better(req, resp, g)
	if err != nil {
		return nil, err
	}
	resp, err = t.try(again, next)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		drain(resp)
		return nil, &Fault{Server: t.c.Server, Host: next.host(), Why: Distrusted}
	}
	return resp, err
}

// ours reports whether requests to that address may carry the token.
func (t *Transport) ours(u *url.URL) bool { return u.Scheme == t.at.Scheme && u.Host == t.at.Host }

func (t *Transport) try(req *http.Request, g *grant) (*http.Response, error) {
	if g.Access != "" {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+g.Access)
	}
	return t.o.Base.RoundTrip(req)
}

// held is what is kept.
func (t *Transport) held() (*grant, error) {
	t.mu.Lock()
	g := t.grant
	t.mu.Unlock()
	if g != nil && g.Access != "" {
		return g, nil
	}
	g, err := t.kept.read() // another process may have logged in
	if err != nil {
		return nil, err
	}
	t.hold(g)
	return g, nil
}

func (t *Transport) hold(g *grant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.grant = g
}

// lose forgets the grant, in memory.
func (t *Transport) lose(why *Fault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.grant, t.lost = &grant{}, why
}

// fresh is what is kept, renewed if its end is near. Without anything kept it is empty.
func (t *Transport) fresh(ctx context.Context) (*grant, error) {
	g, err := t.held()
	if err != nil || !t.old(g) || g.Refresh == "" {
		return g, err // one that can't be renewed is tried: clocks differ
	}
	if err := t.take(ctx); err != nil {
		return nil, err
	}
	defer t.pass()
	next, err := t.renew(ctx, g)
	if f := (*Fault)(nil); errors.As(err, &f) && f.Why == Refused {
		return &grant{}, nil // it is tried without: what the server says to that decides
	}
	return next, err
}

func (t *Transport) old(g *grant) bool {
	return g.Access != "" && !g.Expiry.IsZero() && t.o.Now().Add(renewsBefore).After(g.Expiry)
}

// take has the caller be the one that renews or logs in.
func (t *Transport) take(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t *Transport) pass() { <-t.turn }

// renew renews g, or returns what another flight or process has made of it. The caller has the turn.
func (t *Transport) renew(ctx context.Context, g *grant) (*grant, error) {
	open, err := t.kept.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer open()
	now, err := t.kept.read()
	if err != nil {
		return nil, err
	}
	if now.Access != g.Access { // somebody was faster
		t.hold(now)
		return now, nil
	}
	// What gives a new token may take back the old one: once asked, it is heard to its end.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewsWithin)
	defer cancel()
	next, err := now.renew(context.WithValue(ctx, oauth2.HTTPClient, t.client()))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.Response.StatusCode < http.StatusInternalServerError && refused.Response.StatusCode != http.StatusTooManyRequests:
		f := &Fault{Server: t.c.Server, Host: now.host(), Why: Refused, Err: said(refused)}
		t.lose(f)
		return nil, errors.Join(f, t.kept.remove())
	case err != nil:
		return nil, &Fault{Server: t.c.Server, Host: now.host(), Why: Unreachable, Err: err}
	}
	if err := t.kept.write(next); err != nil {
		return nil, err
	}
	t.hold(next)
	return next, nil
}

// said is what an issuer said, without the token that it may repeat.
func said(e *oauth2.RetrieveError) error {
	switch {
	case e.ErrorDescription != "":
		return fmt.Errorf("%s: %s", e.ErrorCode, e.ErrorDescription)
	case e.ErrorCode != "":
		return errors.New(e.ErrorCode)
	}
	return errors.New(e.Response.Status)
}

// better is what a request that resp refused is to be made with: the kept token renewed, or that of a new login.
func (t *Transport) better(req *http.Request, resp *http.Response, g *grant) (*grant, error) {
	ctx := req.Context()
	if err := t.take(ctx); err != nil {
		drain(resp)
		return nil, err
	}
	defer t.pass()
	if now := t.newer(g); now != nil {
		drain(resp) // another flight has it, or another process
		return now, nil
	}
	if resp.StatusCode == http.StatusUnauthorized && g.Access != "" {
		if g.Refresh == "" {
			t.lose(&Fault{Server: t.c.Server, Host: g.host(), Why: Expired})
		} else {
			next, err := t.renew(ctx, g)
			if f := (*Fault)(nil); err == nil || !errors.As(err, &f) || f.Why != Refused {
				drain(resp)
				return next, err
			}
		}
	}
	t.mu.Lock()
	declined, lost := t.declined, t.lost
	t.mu.Unlock()
	switch {
	case t.o.Ask != nil && !declined:
		return t.login(ctx, req, resp, lost)
	case declined:
		drain(resp)
		return nil, &Fault{Server: t.c.Server, Host: t.at.Host, Why: Declined}
	case lost == nil:
		lost = &Fault{Server: t.c.Server, Host: t.at.Host, Why: Unasked}
	}
	drain(resp)
	is := *lost
	is.refused = &refusal{code: resp.StatusCode, header: resp.Header, by: g}
	return nil, &is
}

// newer is what was given since g was; nil: nothing.
func (t *Transport) newer(g *grant) *grant {
	now, err := t.held()
	if err == nil && now.Access == g.Access {
		now, err = t.kept.read()
	}
	if err != nil || now.Access == "" || now.Access == g.Access {
		return nil
	}
	t.hold(now)
	return now
}

// wantsLogin reports whether a response says that one has to log in, or to be allowed more.
func wantsLogin(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden && asksMore(resp.Header)
}

// rewound is the request once more.
func rewound(req *http.Request) (*http.Request, error) {
	again := req.Clone(req.Context())
	if req.Body == nil || req.Body == http.NoBody {
		return again, nil
	}
	if req.GetBody == nil {
		return nil, errors.New("its body is gone")
	}
	body, err := req.GetBody()
	again.Body = body
	return again, err
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// drain ends a response that nobody reads.
func drain(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	_ = resp.Body.Close()
}
