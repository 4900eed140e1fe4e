package login

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

// asksWithin is what each of the requests of a login may take; the human may take as long as the request that waits.
const asksWithin = 30 * time.Second

// asksMore reports whether a server says that the token is good, but not for this.
func asksMore(h http.Header) bool {
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

// client makes the requests of a login. It follows no redirect: what it sends is for who was asked.
func (t *Transport) client() *http.Client {
	return &http.Client{
		Transport: t.o.Base, Timeout: asksWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// login has the human log in, and keeps what comes of it. The caller has the turn.
func (t *Transport) login(ctx context.Context, req *http.Request, resp *http.Response, lost *Fault) (*grant, error) {
	home, err := land(t.o.Go, t.c.Port)
	if err != nil {
		drain(resp)
		return nil, t.failed(err)
	}
	defer home.close()
	var given *grant
	conf := auth.AuthorizationCodeHandlerConfig{
		RedirectURL: home.url, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: t.client(),
		AuthorizationCodeFetcher: func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return t.fetch(ctx, home, a.URL, lost)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, tok *oauth2.Token) (oauth2.TokenSource, error) {
			given = granted(t.c.URL, c, tok)
			return oauth2.StaticTokenSource(tok), nil
		},
	}
	switch {
	case strings.HasPrefix(t.c.ID, "https://"):
		conf.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: t.c.ID}
	case t.c.ID != "":
		conf.PreregisteredClient = &oauthex.ClientCredentials{ClientID: t.c.ID}
		if t.c.Secret != "" {
			conf.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: t.c.Secret}
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
		return nil, t.failed(err)
	}
	if err := h.Authorize(ctx, req, resp); err != nil {
		return nil, t.failed(err)
	}
	if given == nil || given.Access == "" {
		return nil, t.failed(errors.New("no token was given"))
	}
	if err := t.kept.write(given); err != nil {
		return nil, err
	}
	t.hold(given)
	return given, nil
}

func (t *Transport) failed(err error) error {
	if f := (*Fault)(nil); errors.As(err, &f) {
		return f
	}
	if r := (*oauth2.RetrieveError)(nil); errors.As(err, &r) {
		err = said(r)
	}
	return &Fault{Server: t.c.Server, Why: Failed, Err: err}
}

// fetch asks the human to open that address, and returns what the browser brings back: by itself, or by the human's hand.
func (t *Transport) fetch(ctx context.Context, home *landing, address string, lost *Fault) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	home.expect(u.Query().Get("state"))
	if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("%.200q is no address for a browser", address)
	}
	q := Question{
		Server: t.c.Server, At: t.at.Host, Host: u.Host, URL: letters(u.String()), Back: home.url, state: u.Query().Get("state"),
	}
	if lost != nil {
		q.Why = lost.cause()
	}
	type reply struct {
		Answer
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
		case back := <-home.came:
			return back.result()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case r := <-said:
			said <- reply{} // for the end
			switch {
			case r.err != nil:
				return nil, r.err
			case r.No:
				t.mu.Lock()
				t.declined = true
				t.mu.Unlock()
				return nil, &Fault{Server: t.c.Server, Host: u.Host, Why: Declined}
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
			return landed(back.Query()).result()
		}
	}
}

// Ends says why the browser does not come back from this login with that address; nil: it does.
func (q Question) Ends(back string) error {
	u, err := url.Parse(strings.TrimSpace(back))
	if err != nil || q.state == "" || u.Query().Get("state") != q.state {
		return errors.New("that is not the address at which this login ends")
	}
	return nil
}

// letters is the same address in plain letters: an address may hold others as they are, which show as what they are not.
func letters(address string) string {
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

// landed is what a browser brings.
type landed url.Values

func (l landed) get(key string) string { return url.Values(l).Get(key) }

func (l landed) result() (*auth.AuthorizationResult, error) {
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

// landing is where the browser comes back to: an address of this machine, for one login.
type landing struct {
	url    string
	came   chan landed
	state  chan string // what tells this login; closed over a buffer of one
	server *http.Server
	ended  chan struct{}
}

const landingPage = "<!doctype html><meta charset=utf-8><title>Fantail</title><p>%s You can close this page.\n"

func land(run func(name string, f func()), port int) (*landing, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("listen for the browser: %w", err)
	}
	h := &landing{url: "http://" + l.Addr().String() + "/callback", came: make(chan landed, 1), state: make(chan string, 1), ended: make(chan struct{})}
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second}
	run("wait for the browser of a login", func() {
		defer close(h.ended)
		_ = h.server.Serve(l)
	})
	return h, nil
}

func (h *landing) expect(state string) { h.state <- state }

// ServeHTTP takes what belongs to this login; anything may come to an address of this machine.
func (h *landing) ServeHTTP(w http.ResponseWriter, req *http.Request) {
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
		fmt.Fprintf(w, landingPage, "This belongs to no login.")
		return
	}
	select {
	case h.came <- landed(req.URL.Query()):
	default: // it came already
	}
	says := "That's all; Fantail goes on."
	if req.URL.Query().Get("error") != "" {
		says = "That did not work; Fantail says why."
	}
	fmt.Fprintf(w, landingPage, says)
}

func (h *landing) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if h.server.Shutdown(ctx) != nil { // the page may still be on its way
		_ = h.server.Close()
	}
	<-h.ended
}
