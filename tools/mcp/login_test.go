package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// issuer is an MCP server's front and the one that gives tokens for it, at addresses of their own.
type issuer struct {
	t        *testing.T
	resource *httptest.Server // serves whoever has a token
	*httptest.Server

	mu        sync.Mutex
	access    map[string]bool   // tokens that are good
	refresh   string            // the one that is good
	codes     map[string]string // a code, and the challenge it was asked for with
	clients   map[string]string // that are known, and their secrets
	n         int
	lasts     time.Duration // a token; 0: nothing is said of it
	down      bool          // the network to it is
	deaf      bool          // the resource refuses every token
	once      bool          // gives nothing to renew with
	documents bool          // takes the address of a document for a client
	exchanged atomic.Int64  // codes
	renewed   atomic.Int64
	took      func() // called as a token is renewed
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{t: t, access: map[string]bool{}, codes: map[string]string{}, clients: map[string]string{}, lasts: time.Hour}
	m := http.NewServeMux()
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		i.mu.Lock()
		down := i.down
		i.mu.Unlock()
		if down {
			panic(http.ErrAbortHandler)
		}
		m.ServeHTTP(w, r)
	}))
	t.Cleanup(i.Close)
	i.resource = httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(i.resource.Close)
	m.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
			"registration_endpoint": i.URL + "/register", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "client_id_metadata_document_supported": i.documents,
			"authorization_response_iss_parameter_supported": true,
		})
	})
	m.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		_ = json.NewDecoder(r.Body).Decode(&in)
		in["client_id"] = "dynamic"
		i.mu.Lock()
		i.clients["dynamic"] = ""
		i.mu.Unlock()
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(in)
	})
	m.HandleFunc("/token", i.token)
	return i
}

// serve is the resource.
func (i *issuer) serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"resource": i.resource.URL + "/mcp", "authorization_servers": []string{i.URL}})
		return
	case "/away":
		http.Redirect(w, r, i.URL+"/stray", http.StatusTemporaryRedirect)
		return
	}
	i.mu.Lock()
	good := i.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] && !i.deaf
	i.mu.Unlock()
	if !good {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, i.resource.URL))
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "hello %s", body)
}

func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	i.mu.Lock()
	defer i.mu.Unlock()
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.Form.Get("client_id"), r.Form.Get("client_secret")
	}
	refuse := func(why string) {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": why})
	}
	if want, known := i.clients[id]; !known || want != secret {
		refuse("invalid_client")
		return
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		challenge, known := i.codes[r.Form.Get("code")]
		if !known || challenge != base64.RawURLEncoding.EncodeToString(sum[:]) || r.Form.Get("resource") != i.resource.URL+"/mcp" {
			refuse("invalid_grant")
			return
		}
		delete(i.codes, r.Form.Get("code"))
		i.exchanged.Add(1)
	case "refresh_token":
		if r.Form.Get("refresh_token") != i.refresh || i.refresh == "" {
			refuse("invalid_grant")
			return
		}
		i.renewed.Add(1)
		if i.took != nil {
			i.took()
		}
	}
	i.n++
	clear(i.access)
	access := fmt.Sprintf("access-%d", i.n)
	i.access[access] = true
	out := map[string]any{"access_token": access, "token_type": "Bearer"}
	if !i.once {
		i.refresh = fmt.Sprintf("refresh-%d", i.n)
		out["refresh_token"] = i.refresh
	}
	if i.lasts != 0 {
		out["expires_in"] = int(i.lasts.Seconds())
	}
	_ = json.NewEncoder(w).Encode(out)
}

// agree does what a browser does for a human who agrees: the address that it ends at.
func (i *issuer) agree(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		i.t.Error(err)
		return ""
	}
	q := u.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("resource") != i.resource.URL+"/mcp" {
		i.t.Errorf("it asks with %s", u.RawQuery)
	}
	i.mu.Lock()
	i.n++
	code := fmt.Sprintf("code-%d", i.n)
	i.codes[code] = q.Get("code_challenge")
	i.mu.Unlock()
	return q.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {i.URL}}.Encode()
}

// expire ends the token that is good.
func (i *issuer) expire() {
	i.mu.Lock()
	defer i.mu.Unlock()
	clear(i.access)
}

func (i *issuer) set(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
}

// human answers questions.
type human struct {
	t     *testing.T
	says  func(ctx context.Context, q LoginQuestion) (LoginAnswer, error)
	mu    sync.Mutex
	asked []LoginQuestion
}

func (h *human) ask(ctx context.Context, q LoginQuestion) (LoginAnswer, error) {
	h.mu.Lock()
	h.asked = append(h.asked, q)
	h.mu.Unlock()
	return h.says(ctx, q)
}

func (h *human) times() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.asked)
}

// browses agrees in a browser, which comes back by itself.
func (i *issuer) browses(ctx context.Context, q LoginQuestion) (LoginAnswer, error) {
	resp, err := http.Get(i.agree(q.URL))
	if err != nil {
		return LoginAnswer{}, err
	}
	_ = resp.Body.Close()
	<-ctx.Done()
	return LoginAnswer{}, ctx.Err()
}

func spawn(t *testing.T) func(string, func()) {
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	return func(_ string, f func()) { all.Go(f) }
}

func (i *issuer) transport(h *human, dir string, change ...func(*LoginClient)) *LoginTransport {
	i.t.Helper()
	base := &http.Transport{}
	i.t.Cleanup(base.CloseIdleConnections)
	o := LoginOptions{Dir: dir, Base: base, Now: time.Now, Go: spawn(i.t)}
	if h != nil {
		o.Ask = h.ask
	}
	c := LoginClient{Server: "tracker", URL: i.resource.URL + "/mcp"}
	for _, f := range change {
		f(&c)
	}
	tr, err := NewLoginTransport(o, c)
	if err != nil {
		i.t.Fatal(err)
	}
	return tr
}

func get(t *LoginTransport, path string) (string, error) {
	req, err := http.NewRequest(http.MethodPost, t.serverURL.Scheme+"://"+t.serverURL.Host+path, strings.NewReader("you"))
	if err != nil {
		return "", err
	}
	resp, err := (&http.Client{Transport: t}).Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return "", errors.Join(err, errors.New(resp.Status))
	}
	return string(b), err
}

func wantHello(t *testing.T, tr *LoginTransport) {
	t.Helper()
	if got, err := get(tr, "/mcp"); got != "hello you" || err != nil {
		t.Fatalf("it says %q, %v", got, err)
	}
}

func wantFault(t *testing.T, tr *LoginTransport, why LoginWhy, says ...string) {
	t.Helper()
	_, err := get(tr, "/mcp")
	var f *LoginFault
	if !errors.As(err, &f) || f.Why != why {
		t.Fatalf("it fails with %v, not for %d", err, why)
	}
	for _, s := range says {
		if !strings.Contains(f.Error(), s) {
			t.Errorf("%q does not say %q", f, s)
		}
	}
	if strings.Contains(f.Error(), "access-") || strings.Contains(f.Error(), "refresh-") {
		t.Errorf("a token stands in %q", f)
	}
}

func TestLoginTransport(t *testing.T) {
	for name, c := range map[string]struct {
		client func(i *issuer) func(*LoginClient)
		says   func(i *issuer) func(context.Context, LoginQuestion) (LoginAnswer, error)
	}{
		"registers itself": {},
		"registered, with a secret": {client: func(i *issuer) func(*LoginClient) {
			i.clients["ours"] = "hush"
			return func(c *LoginClient) { c.ID, c.Secret = "ours", "hush" }
		}},
		"by a document": {client: func(i *issuer) func(*LoginClient) {
			i.documents, i.clients["https://example.com/client.json"] = true, ""
			return func(c *LoginClient) { c.ID = "https://example.com/client.json" }
		}},
		"the human pastes the address": {says: func(i *issuer) func(context.Context, LoginQuestion) (LoginAnswer, error) {
			return func(_ context.Context, q LoginQuestion) (LoginAnswer, error) {
				return LoginAnswer{Back: " " + i.agree(q.URL) + "\n"}, nil
			}
		}},
		"strangers come to the address first": {says: func(i *issuer) func(context.Context, LoginQuestion) (LoginAnswer, error) {
			return func(ctx context.Context, q LoginQuestion) (LoginAnswer, error) {
				u, _ := url.Parse(q.URL)
				home := u.Query().Get("redirect_uri")
				for _, stray := range []string{home, home + "?code=x&state=y", home + "?error=access_denied", strings.TrimSuffix(home, "callback")} {
					resp, err := http.Get(stray)
					if err != nil {
						return LoginAnswer{}, err
					}
					_ = resp.Body.Close()
					if resp.StatusCode != http.StatusNotFound {
						t.Errorf("%s is answered with %s", stray, resp.Status)
					}
				}
				return i.browses(ctx, q)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(t)
			h := &human{t: t, says: i.browses}
			if c.says != nil {
				h.says = c.says(i)
			}
			var change []func(*LoginClient)
			if c.client != nil {
				change = append(change, c.client(i))
			}
			dir := filepath.Join(t.TempDir(), "logins")
			tr := i.transport(h, dir, change...)
			wantHello(t, tr)
			wantHello(t, tr)
			wantHello(t, i.transport(nil, dir, change...)) // another process, another day
			if h.times() != 1 || i.exchanged.Load() != 1 {
				t.Errorf("asked %d times, %d codes", h.times(), i.exchanged.Load())
			}
			if q := h.asked[0]; q.Host != strings.TrimPrefix(i.URL, "http://") || q.Server != "tracker" || q.Why != "" {
				t.Errorf("it asks %+v", q)
			}
			all, _ := filepath.Glob(filepath.Join(dir, "*.json"))
			if len(all) != 1 {
				t.Fatalf("the directory holds %q", all)
			}
			if s, err := os.Stat(all[0]); err != nil || s.Mode().Perm() != 0o600 {
				t.Errorf("the file is %v, %v", s.Mode(), err)
			}
			if s, err := os.Stat(dir); err != nil || s.Mode().Perm() != 0o700 {
				t.Errorf("the directory is %v, %v", s.Mode(), err)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	logged := func(t *testing.T, change func(i *issuer)) (*issuer, *LoginTransport) {
		i := newIssuer(t)
		if change != nil {
			change(i)
		}
		dir := t.TempDir()
		wantHello(t, i.transport(&human{t: t, says: i.browses}, dir))
		return i, i.transport(nil, dir)
	}
	t.Run("the network", func(t *testing.T) {
		i, tr := logged(t, nil)
		i.expire()
		i.set(func() { i.down = true })
		wantFault(t, tr, Unreachable, "tracker", "can't be reached", "the next call tries again")
		i.set(func() { i.down = false })
		wantHello(t, tr)
	})
	t.Run("expired", func(t *testing.T) {
		i, tr := logged(t, func(i *issuer) { i.once = true })
		i.expire()
		wantFault(t, tr, Expired, "tracker", "gave nothing to renew it with", "logs in again")
	})
	t.Run("refused", func(t *testing.T) {
		i, tr := logged(t, nil)
		i.expire()
		i.set(func() { i.refresh = "another" })
		wantFault(t, tr, Refused, "invalid_grant", "does not renew", "logs in again")
		if had, err := ForgetLogin(tr.o.Dir, tr.client.URL); had || err != nil {
			t.Errorf("the grant is still kept: %v, %v", had, err)
		}
	})
	t.Run("a fresh token is refused", func(t *testing.T) {
		i, tr := logged(t, nil)
		i.set(func() { i.deaf = true })
		wantFault(t, tr, Distrusted, "tracker", "has just given")
		if i.renewed.Load() != 1 {
			t.Errorf("renewed %d times", i.renewed.Load())
		}
	})
	t.Run("nobody to ask", func(t *testing.T) {
		i := newIssuer(t)
		wantFault(t, i.transport(nil, t.TempDir()), Unasked, "tracker wants a login")
	})
	t.Run("declined, and offered again", func(t *testing.T) {
		i := newIssuer(t)
		h := &human{t: t, says: func(context.Context, LoginQuestion) (LoginAnswer, error) { return LoginAnswer{No: true}, nil }}
		tr := i.transport(h, t.TempDir())
		wantFault(t, tr, Declined, "you declined")
		wantFault(t, tr, Declined, "you declined")
		if h.times() != 1 {
			t.Errorf("asked %d times", h.times())
		}
		h.says = i.browses
		again := i.transport(h, tr.o.Dir)
		wantHello(t, again)
		wantHello(t, tr) // what another one got is there for all
		if had, err := ForgetLogin(tr.o.Dir, tr.client.URL); !had || err != nil {
			t.Errorf("nothing is kept: %v, %v", had, err)
		}
		wantFault(t, i.transport(nil, tr.o.Dir), Unasked)
	})
	t.Run("the issuer says no", func(t *testing.T) {
		i := newIssuer(t)
		h := &human{t: t, says: func(ctx context.Context, q LoginQuestion) (LoginAnswer, error) {
			u, _ := url.Parse(q.URL)
			back := u.Query().Get("redirect_uri") + "?" + url.Values{"error": {"access_denied"}, "state": {u.Query().Get("state")}, "iss": {i.URL}}.Encode()
			return LoginAnswer{Back: back}, nil
		}}
		wantFault(t, i.transport(h, t.TempDir()), LoginFailed, "access_denied")
	})
	t.Run("another login's address", func(t *testing.T) {
		i := newIssuer(t)
		h := &human{t: t, says: func(context.Context, LoginQuestion) (LoginAnswer, error) {
			return LoginAnswer{Back: "http://127.0.0.1:1/callback?code=1&state=2"}, nil
		}}
		wantFault(t, i.transport(h, t.TempDir()), LoginFailed, "not the address")
	})
	t.Run("another issuer answers", func(t *testing.T) {
		i := newIssuer(t)
		h := &human{t: t, says: func(_ context.Context, q LoginQuestion) (LoginAnswer, error) {
			return LoginAnswer{Back: strings.Replace(i.agree(q.URL), url.QueryEscape(i.URL), url.QueryEscape("https://evil.example"), 1)}, nil
		}}
		wantFault(t, i.transport(h, t.TempDir()), LoginFailed, "issuer")
	})
	t.Run("the file is broken", func(t *testing.T) {
		i, tr := logged(t, nil)
		path := tr.file.path()
		if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := get(i.transport(nil, filepath.Dir(path)), "/mcp")
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("it says %v", err)
		}
	})
}

func TestRefused_asksAgainAndSaysWhy(t *testing.T) {
	i := newIssuer(t)
	h := &human{t: t, says: i.browses}
	tr := i.transport(h, t.TempDir())
	wantHello(t, tr)
	i.expire()
	i.set(func() { i.refresh = "another" })
	wantHello(t, tr)
	if h.times() != 2 || !strings.Contains(h.asked[1].Why, "invalid_grant") {
		t.Errorf("asked %+v", h.asked)
	}
}

// A token that rotates is renewed once, whoever needs it: many calls, and other processes, which share nothing but the file.
func TestRenewal_once(t *testing.T) {
	i := newIssuer(t)
	dir := t.TempDir()
	wantHello(t, i.transport(&human{t: t, says: i.browses}, dir))
	all := []*LoginTransport{i.transport(nil, dir), i.transport(nil, dir), i.transport(nil, dir)}
	for _, tr := range all {
		wantHello(t, tr) // it has read what is kept
	}
	for round := range 5 {
		i.expire()
		var calls sync.WaitGroup
		for n := range 30 {
			calls.Go(func() {
				if got, err := get(all[n%len(all)], "/mcp"); got != "hello you" || err != nil {
					t.Errorf("it says %q, %v", got, err)
				}
			})
		}
		calls.Wait()
		if got := i.renewed.Load(); got != int64(round+1) {
			t.Fatalf("renewed %d times after %d rounds", got, round+1)
		}
	}
	if i.exchanged.Load() != 1 {
		t.Errorf("%d logins", i.exchanged.Load())
	}
}

// A call that is given up while the token is renewed loses nothing: what gives the new one has taken back the old.
func TestRenewal_outlivesItsCall(t *testing.T) {
	i := newIssuer(t)
	dir := t.TempDir()
	wantHello(t, i.transport(&human{t: t, says: i.browses}, dir))
	i.expire()
	ctx, cancel := context.WithCancel(t.Context())
	i.set(func() { i.took = cancel })
	tr := i.transport(nil, dir)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, i.resource.URL+"/mcp", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := tr.RoundTrip(req); err == nil {
		_ = resp.Body.Close()
		t.Error("the call was not given up")
	}
	i.set(func() { i.took = nil })
	wantHello(t, i.transport(nil, dir))
	if i.renewed.Load() != 1 {
		t.Errorf("renewed %d times", i.renewed.Load())
	}
}

// A token whose end is near is renewed before it is refused.
func TestRenewal_ahead(t *testing.T) {
	i := newIssuer(t)
	dir := t.TempDir()
	wantHello(t, i.transport(&human{t: t, says: i.browses}, dir))
	tr := i.transport(nil, dir)
	tr.o.Now = func() time.Time { return time.Now().Add(time.Hour) }
	wantHello(t, tr)
	if i.renewed.Load() != 1 {
		t.Errorf("renewed %d times", i.renewed.Load())
	}
}

// A redirect to another host carries no token, and one whose metadata names another issuer later gets none of the first.
func TestTokens_stayWhereTheyBelong(t *testing.T) {
	i := newIssuer(t)
	var seen []string
	i.Config.Handler = wrap(i.Config.Handler, func(r *http.Request) {
		if r.URL.Path == "/stray" {
			seen = append(seen, r.Header.Get("Authorization"))
		}
	})
	dir := t.TempDir()
	h := &human{t: t, says: i.browses}
	tr := i.transport(h, dir)
	wantHello(t, tr)
	_, _ = get(tr, "/away")
	if len(seen) != 1 || seen[0] != "" {
		t.Errorf("the redirect carries %q", seen)
	}

	other := newIssuer(t)
	i.expire()
	i.set(func() { i.refresh = "gone" })
	was := i.URL
	i.URL = other.URL // what the resource names from now on
	var forms []string
	other.Config.Handler = wrap(other.Config.Handler, func(r *http.Request) {
		_ = r.ParseForm()
		forms = append(forms, r.Form.Encode())
	})
	h.says = func(context.Context, LoginQuestion) (LoginAnswer, error) { return LoginAnswer{No: true}, nil }
	_, err := get(tr, "/mcp")
	var f *LoginFault
	if !errors.As(err, &f) {
		t.Fatalf("it fails with %v", err)
	}
	if len(forms) == 0 {
		t.Error("the other issuer was not asked at all")
	}
	for _, form := range forms {
		if strings.Contains(form, "refresh-") || strings.Contains(form, "access-") {
			t.Errorf("the other issuer got %s", form)
		}
	}
	if !strings.Contains(h.asked[len(h.asked)-1].Why, strings.TrimPrefix(was, "http://")) {
		t.Errorf("asked %+v", h.asked)
	}
}

func wrap(h http.Handler, see func(*http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		see(r)
		h.ServeHTTP(w, r)
	})
}

// A request that nobody can be logged in for leaves nothing behind, and its caller's end ends the question.
func TestLogin_givenUp(t *testing.T) {
	i := newIssuer(t)
	ctx, cancel := context.WithCancel(t.Context())
	h := &human{t: t, says: func(asking context.Context, _ LoginQuestion) (LoginAnswer, error) {
		cancel()
		<-asking.Done()
		return LoginAnswer{}, asking.Err()
	}}
	tr := i.transport(h, t.TempDir())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, i.resource.URL+"/mcp", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := tr.RoundTrip(req); err == nil {
		_ = resp.Body.Close()
		t.Error("it did not end")
	}
	h.says = i.browses
	wantHello(t, tr)
}

// A login ends at the port that is wanted; one that is taken is a fault that says so, and nobody is asked.
func TestLogin_port(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := taken.Addr().(*net.TCPAddr).Port
	wants := func(c *LoginClient) { c.Port = port }
	i := newIssuer(t)
	h := &human{t: t}
	h.says = func(ctx context.Context, q LoginQuestion) (LoginAnswer, error) {
		u, _ := url.Parse(q.URL)
		if home := u.Query().Get("redirect_uri"); home != fmt.Sprintf("http://127.0.0.1:%d/callback", port) {
			t.Error(home)
		}
		return i.browses(ctx, q)
	}
	tr := i.transport(h, t.TempDir(), wants)
	wantFault(t, tr, LoginFailed, "address already in use")
	if h.times() != 0 {
		t.Error("the human is asked")
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	wantHello(t, tr)
}
