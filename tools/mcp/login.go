package mcp

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

// LoginQuestion is the question for the user.
type LoginQuestion struct {
	Server string
	At     string // the server's host
	Host   string // host of the login page
	URL    string // address for a browser, in ASCII
	Back   string // address on this machine to which the browser returns
	Why    string // why the earlier login was lost; "": there was none

	state string // identifies this login
}

// LoginAnswer is the user's answer.
type LoginAnswer struct {
	No   bool
	Back string // final address of a browser that could not return by itself; "": not given
}

// LoginOptions configure logins.
type LoginOptions struct {
	Dir  string            // directory of the saved tokens, a file for each; created when needed
	Base http.RoundTripper // carries requests; nil: the default
	// Ask asks the human and returns the answer. It ends with ctx, when the browser returns by
	// itself. nil: no human can be asked, and a needed login is a fault.
	Ask func(ctx context.Context, q LoginQuestion) (LoginAnswer, error)
	Now func() time.Time
	Go  func(name string, f func())
}

// LoginClient is the OAuth client of a server.
type LoginClient struct {
	Server string // name of the server, for people
	URL    string // its address; requests to its origin carry the token
	ID     string // registered client id, or the address of a document that describes the client; "": the client registers itself
	Secret string
	Port   int // of this machine, to which the browser returns; 0: any free one
}

// LoginFault is the error of a request that needs a login.
type LoginFault struct {
	Server, Host string
	Why          LoginWhy
	Err          error

	refused *refusal // the refused request, for a login; nil: no login can help
}

// LoginWhy is a cause of a [LoginFault].
type LoginWhy int

const (
	Unreachable LoginWhy = iota // the network failed; the saved token stays, and the next request tries again
	Expired                     // the token expired and can't be refreshed
	Refused                     // the issuer does not refresh the token
	Distrusted                  // the server refuses a new token
	Declined                    // the human said no
	Unasked                     // no human can be asked
	LoginFailed                 // the login failed
)

func (f *LoginFault) Error() string {
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

// cause says how the earlier login was lost.
func (f *LoginFault) cause() string {
	if f.Why == Expired {
		return fmt.Sprintf("the login to %s has expired, and %s gave nothing to renew it with", f.Server, f.Host)
	}
	return fmt.Sprintf("%s does not renew the login to %s (%v)", f.Host, f.Server, f.Err)
}

func (f *LoginFault) Unwrap() error { return f.Err }

// refreshBefore is how long before its expiry a token is refreshed.
const refreshBefore = 30 * time.Second

// LoginTransport adds the token of a login to requests. It is safe for concurrent use.
type LoginTransport struct {
	o         LoginOptions
	client    LoginClient
	serverURL *url.URL
	file      tokenFile

	refreshLock chan struct{} // held while refreshing or logging in

	mu        sync.Mutex
	token     *storedToken // nil: not read yet
	declined  bool
	lostLogin *LoginFault // why the earlier token is gone; nil: there was none
}

// NewLoginTransport returns the transport of a client.
func NewLoginTransport(o LoginOptions, c LoginClient) (*LoginTransport, error) {
	at, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	if o.Base == nil {
		o.Base = http.DefaultTransport
	}
	t := &LoginTransport{o: o, client: c, serverURL: at, file: tokenFile{dir: o.Dir, resource: c.URL}, refreshLock: make(chan struct{}, 1)}
	return t, nil
}

// ForgetLogin removes the saved login to the server at that address, and reports whether there was
// one. It does not tell the issuer: the token stays valid until it expires.
func ForgetLogin(dir, address string) (bool, error) {
	f := tokenFile{dir: dir, resource: address}
	if _, err := os.Lstat(f.path()); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return true, f.remove()
}

// RoundTrip implements [http.RoundTripper]. An error about the login is a [*LoginFault].
func (t *LoginTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !t.isServer(req.URL) || req.Header.Get("Authorization") != "" {
		return t.o.Base.RoundTrip(req)
	}
	g, err := t.validToken(req.Context())
	if err != nil {
		closeBody(req)
		return nil, err
	}
	resp, err := t.send(req, g)
	if err != nil || !wantsLogin(resp) {
		return resp, err
	}
	again, err := rewind(req)
	if err != nil {
		return resp, nil //nolint:nilerr // it can't be sent twice: what the server said is the answer
	}
	next, err := t.reauthorize(req, resp, g)
	if err != nil {
		return nil, err
	}
	resp, err = t.send(again, next)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		drain(resp)
		return nil, &LoginFault{Server: t.client.Server, Host: next.issuerHost(), Why: Distrusted}
	}
	return resp, err
}

// isServer reports whether requests to that address may carry the token.
func (t *LoginTransport) isServer(u *url.URL) bool {
	return u.Scheme == t.serverURL.Scheme && u.Host == t.serverURL.Host
}

func (t *LoginTransport) send(req *http.Request, g *storedToken) (*http.Response, error) {
	if g.AccessToken != "" {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+g.AccessToken)
	}
	return t.o.Base.RoundTrip(req)
}

// current returns the token in memory, else the saved one.
func (t *LoginTransport) current() (*storedToken, error) {
	t.mu.Lock()
	g := t.token
	t.mu.Unlock()
	if g != nil && g.AccessToken != "" {
		return g, nil
	}
	g, err := t.file.read() // another process may have logged in
	if err != nil {
		return nil, err
	}
	t.setToken(g)
	return g, nil
}

func (t *LoginTransport) setToken(g *storedToken) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.token = g
}

// dropToken forgets the token in memory.
func (t *LoginTransport) dropToken(why *LoginFault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.token, t.lostLogin = &storedToken{}, why
}

// validToken returns the token, refreshed if it expires soon. It is empty if there is none.
func (t *LoginTransport) validToken(ctx context.Context) (*storedToken, error) {
	g, err := t.current()
	if err != nil || !t.expiring(g) || g.RefreshToken == "" {
		return g, err // a token that can't be refreshed is tried: clocks differ
	}
	if err := t.lockRefresh(ctx); err != nil {
		return nil, err
	}
	defer t.unlockRefresh()
	next, err := t.refresh(ctx, g)
	if f := (*LoginFault)(nil); errors.As(err, &f) && f.Why == Refused {
		return &storedToken{}, nil // try without a token: the server's answer decides
	}
	return next, err
}

func (t *LoginTransport) expiring(g *storedToken) bool {
	return g.AccessToken != "" && !g.Expiry.IsZero() && t.o.Now().Add(refreshBefore).After(g.Expiry)
}

// lockRefresh waits until no other request refreshes the token or logs in.
func (t *LoginTransport) lockRefresh(ctx context.Context) error {
	select {
	case t.refreshLock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t *LoginTransport) unlockRefresh() { <-t.refreshLock }

// refresh refreshes g, or returns the token that another request or process got meanwhile. The
// caller holds refreshLock.
func (t *LoginTransport) refresh(ctx context.Context, g *storedToken) (*storedToken, error) {
	open, err := t.file.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer open()
	now, err := t.file.read()
	if err != nil {
		return nil, err
	}
	if now.AccessToken != g.AccessToken { // another request or process was faster
		t.setToken(now)
		return now, nil
	}
	// The issuer may invalidate the old token when it gives a new one, so a request that was sent
	// is not cancelled.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout)
	defer cancel()
	next, err := now.refresh(context.WithValue(ctx, oauth2.HTTPClient, t.httpClient()))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.Response.StatusCode < http.StatusInternalServerError && refused.Response.StatusCode != http.StatusTooManyRequests:
		f := &LoginFault{Server: t.client.Server, Host: now.issuerHost(), Why: Refused, Err: retrieveError(refused)}
		t.dropToken(f)
		return nil, errors.Join(f, t.file.remove())
	case err != nil:
		return nil, &LoginFault{Server: t.client.Server, Host: now.issuerHost(), Why: Unreachable, Err: err}
	}
	if err := t.file.write(next); err != nil {
		return nil, err
	}
	t.setToken(next)
	return next, nil
}

// retrieveError returns the issuer's message without the token, which the message may repeat.
func retrieveError(e *oauth2.RetrieveError) error {
	switch {
	case e.ErrorDescription != "":
		return fmt.Errorf("%s: %s", e.ErrorCode, e.ErrorDescription)
	case e.ErrorCode != "":
		return errors.New(e.ErrorCode)
	}
	return errors.New(e.Response.Status)
}

// reauthorize returns the token for the retry of a refused request: a refreshed one, or that of a
// new login.
func (t *LoginTransport) reauthorize(req *http.Request, resp *http.Response, g *storedToken) (*storedToken, error) {
	ctx := req.Context()
	if err := t.lockRefresh(ctx); err != nil {
		drain(resp)
		return nil, err
	}
	defer t.unlockRefresh()
	if now := t.newerToken(g); now != nil {
		drain(resp) // another request or process got one
		return now, nil
	}
	if resp.StatusCode == http.StatusUnauthorized && g.AccessToken != "" {
		if g.RefreshToken == "" {
			t.dropToken(&LoginFault{Server: t.client.Server, Host: g.issuerHost(), Why: Expired})
		} else {
			next, err := t.refresh(ctx, g)
			if f := (*LoginFault)(nil); err == nil || !errors.As(err, &f) || f.Why != Refused {
				drain(resp)
				return next, err
			}
		}
	}
	t.mu.Lock()
	declined, lost := t.declined, t.lostLogin
	t.mu.Unlock()
	switch {
	case t.o.Ask != nil && !declined:
		return t.authorize(ctx, req, resp, lost)
	case declined:
		drain(resp)
		return nil, &LoginFault{Server: t.client.Server, Host: t.serverURL.Host, Why: Declined}
	case lost == nil:
		lost = &LoginFault{Server: t.client.Server, Host: t.serverURL.Host, Why: Unasked}
	}
	drain(resp)
	is := *lost
	is.refused = &refusal{status: resp.StatusCode, header: resp.Header, token: g}
	return nil, &is
}

// newerToken returns a token that is newer than g; nil: none.
func (t *LoginTransport) newerToken(g *storedToken) *storedToken {
	now, err := t.current()
	if err == nil && now.AccessToken == g.AccessToken {
		now, err = t.file.read()
	}
	if err != nil || now.AccessToken == "" || now.AccessToken == g.AccessToken {
		return nil
	}
	t.setToken(now)
	return now
}

// wantsLogin reports whether a response asks for a login or a further scope.
func wantsLogin(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden && insufficientScope(resp.Header)
}

// rewind returns a copy of the request to send it again.
func rewind(req *http.Request) (*http.Request, error) {
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

// drain discards the rest of a response.
func drain(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	_ = resp.Body.Close()
}
