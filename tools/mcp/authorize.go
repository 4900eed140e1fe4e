package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// requestTimeout limits each request of a login. The human may take as long as the waiting request
// does.
const requestTimeout = 30 * time.Second

// insufficientScope reports whether the server says that the token lacks a scope.
func insufficientScope(h http.Header) bool {
	all, err := oauthex.ParseWWWAuthenticate(h.Values("WWW-Authenticate"))
	if err != nil {
		return false
	}
	for _, c := range all {
		if c.Scheme == "bearer" && c.Params["error"] == "insufficient_scope" {
			return true
		}
	}
	return false
}

// httpClient returns the client for the requests of a login. It follows no redirect, so that what
// it sends reaches only the server that it asked.
func (t *LoginTransport) httpClient() *http.Client {
	return &http.Client{
		Transport: t.o.Base, Timeout: requestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// authorize runs the OAuth authorization code flow and saves the token. The caller holds refreshLock.
func (t *LoginTransport) authorize(ctx context.Context, req *http.Request, resp *http.Response, lost *LoginFault) (*storedToken, error) {
	home, err := startCallbackServer(t.o.Go, t.client.Port)
	if err != nil {
		drain(resp)
		return nil, t.loginError(err)
	}
	defer home.close()
	var given *storedToken
	conf := auth.AuthorizationCodeHandlerConfig{
		RedirectURL: home.url, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: t.httpClient(),
		AuthorizationCodeFetcher: func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return t.fetchCode(ctx, home, a.URL, lost)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, tok *oauth2.Token) (oauth2.TokenSource, error) {
			given = newStoredToken(t.client.URL, c, tok)
			return oauth2.StaticTokenSource(tok), nil
		},
	}
	switch {
	case strings.HasPrefix(t.client.ID, "https://"):
		conf.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: t.client.ID}
	case t.client.ID != "":
		conf.PreregisteredClient = &oauthex.ClientCredentials{ClientID: t.client.ID}
		if t.client.Secret != "" {
			conf.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: t.client.Secret}
		}
	}
	if conf.PreregisteredClient == nil {
		conf.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Fantail", RedirectURIs: []string{home.url}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}}
	}
	h, err := auth.NewAuthorizationCodeHandler(&conf)
	if err != nil {
		drain(resp)
		return nil, t.loginError(err)
	}
	if err := h.Authorize(ctx, req, resp); err != nil {
		return nil, t.loginError(err)
	}
	if given == nil || given.AccessToken == "" {
		return nil, t.loginError(errors.New("no token was given"))
	}
	if err := t.file.write(given); err != nil {
		return nil, err
	}
	t.setToken(given)
	return given, nil
}

func (t *LoginTransport) loginError(err error) error {
	if f := (*LoginFault)(nil); errors.As(err, &f) {
		return f
	}
	if r := (*oauth2.RetrieveError)(nil); errors.As(err, &r) {
		err = retrieveError(r)
	}
	return &LoginFault{Server: t.client.Server, Why: LoginFailed, Err: err}
}

// fetchCode asks the user to open the address and returns the code. The browser brings it, or the
// user pastes the final address.
func (t *LoginTransport) fetchCode(ctx context.Context, home *callbackServer, address string, lost *LoginFault) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	home.setState(u.Query().Get("state"))
	if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("%.200q is no address for a browser", address)
	}
	q := LoginQuestion{
		Server: t.client.Server, At: t.serverURL.Host, Host: u.Host, URL: asciiURL(u.String()), Back: home.url, state: u.Query().Get("state"),
	}
	if lost != nil {
		q.Why = lost.cause()
	}
	type reply struct {
		LoginAnswer
		err error
	}
	asking, stop := context.WithCancel(ctx)
	said := make(chan reply, 1)
	t.o.Go("ask for a login", func() {
		a, err := t.o.Ask(asking, q)
		said <- reply{a, err}
	})
	defer func() { stop(); <-said }()
	for {
		select {
		case back := <-home.callbacks:
			return back.result()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case r := <-said:
			said <- reply{} // for the deferred receive
			switch {
			case r.err != nil:
				return nil, r.err
			case r.No:
				t.mu.Lock()
				t.declined = true
				t.mu.Unlock()
				return nil, &LoginFault{Server: t.client.Server, Host: u.Host, Why: Declined}
			case r.Back == "":
				return nil, errors.New("the browser has not come back")
			}
			if err := q.Ends(r.Back); err != nil {
				return nil, err
			}
			back, err := url.Parse(strings.TrimSpace(r.Back))
			if err != nil {
				return nil, err
			}
			return callbackQuery(back.Query()).result()
		}
	}
}

// Ends returns an error if back is not the address at which this login ends.
func (q LoginQuestion) Ends(back string) error {
	u, err := url.Parse(strings.TrimSpace(back))
	if err != nil || q.state == "" || u.Query().Get("state") != q.state {
		return errors.New("that is not the address at which this login ends")
	}
	return nil
}

// asciiURL escapes the address to ASCII, because other characters may look like ASCII ones.
func asciiURL(address string) string {
	var b strings.Builder
	for n := range len(address) {
		if c := address[n]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>\^{|}`+"`", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// callbackQuery is the query of the redirect URL.
type callbackQuery url.Values

func (l callbackQuery) get(key string) string { return url.Values(l).Get(key) }

func (l callbackQuery) result() (*auth.AuthorizationResult, error) {
	if e := l.get("error"); e != "" {
		if d := l.get("error_description"); d != "" {
			e += ": " + d
		}
		return nil, errors.New(e)
	}
	if l.get("code") == "" {
		return nil, errors.New("the browser came back without a code")
	}
	return &auth.AuthorizationResult{Code: l.get("code"), State: l.get("state"), Iss: l.get("iss")}, nil
}

// callbackServer serves the redirect URL on this machine for one login.
type callbackServer struct {
	url       string
	callbacks chan callbackQuery
	state     chan string // state of this login, in a buffer of one
	server    *http.Server
	ended     chan struct{}
}

const callbackPage = "<!doctype html><meta charset=utf-8><title>Fantail</title><p>%s You can close this page.\n"

func startCallbackServer(run func(name string, f func()), port int) (*callbackServer, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("listen for the browser: %w", err)
	}
	h := &callbackServer{url: "http://" + l.Addr().String() + "/callback", callbacks: make(chan callbackQuery, 1), state: make(chan string, 1), ended: make(chan struct{})}
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second}
	run("wait for the browser of a login", func() {
		defer close(h.ended)
		_ = h.server.Serve(l)
	})
	return h, nil
}

func (h *callbackServer) setState(state string) { h.state <- state }

// ServeHTTP accepts only the callback of this login, because an address on this machine may get any
// request.
func (h *callbackServer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Referrer-Policy", "no-referrer")
	var state string
	select {
	case state = <-h.state:
		h.state <- state
	default:
	}
	if req.Method != http.MethodGet || req.URL.Path != "/callback" || state == "" || req.URL.Query().Get("state") != state {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, callbackPage, "This belongs to no login.")
		return
	}
	select {
	case h.callbacks <- callbackQuery(req.URL.Query()):
	default: // it came already
	}
	says := "That's all; Fantail goes on."
	if req.URL.Query().Get("error") != "" {
		says = "That did not work; Fantail says why."
	}
	fmt.Fprintf(w, callbackPage, says)
}

func (h *callbackServer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if h.server.Shutdown(ctx) != nil { // the page may still be in transit
		_ = h.server.Close()
	}
	<-h.ended
}
