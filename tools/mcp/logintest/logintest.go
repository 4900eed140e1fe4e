// Package logintest has a server that wants a login, for tests.
//
// Does: guard what a handler serves by OAuth, at one address, and give tokens at another: find, register, agree as a human
// does in a browser, exchange, forget.
//
// Does not: serve anything itself, test what its clients do wrong (tools/mcp's own tests do).
package logintest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
)

// Server is the guarded server, and the one that gives tokens for it.
type Server struct {
	URL    string // of the guarded server
	At     string // its host
	Issuer string // the host that knows humans

	guarded, issuer *httptest.Server

	mu     sync.Mutex
	good   map[string]bool   // tokens
	codes  map[string]string // a code, and the challenge it was asked for with
	n      int
	logins int
}

// New returns a server that lets who is logged in through to h. It ends with Close.
func New(h http.Handler) *Server {
	s := &Server{good: map[string]bool{}, codes: map[string]string{}}
	s.issuer = httptest.NewServer(s.issues())
	s.guarded = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.well-known/oauth-protected-resource/mcp" {
			says(w, map[string]any{"resource": s.URL, "authorization_servers": []string{s.issuer.URL}})
			return
		}
		s.mu.Lock()
		good := s.good[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		s.mu.Unlock()
		if !good {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, s.guarded.URL))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	s.URL, s.At, s.Issuer = s.guarded.URL+"/mcp", host(s.guarded), host(s.issuer)
	return s
}

func host(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }

// Close ends it.
func (s *Server) Close() {
	s.guarded.CloseClientConnections()
	s.guarded.Close()
	s.issuer.Close()
}

// Expire ends all logins.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.good)
}

// SignIn is how often somebody logged in.
func (s *Server) Logins() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins
}

// Agree does what a browser does with that address for a human who agrees, and returns the address that it ends at.
func (s *Server) Agree(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	q := u.Query()
	s.mu.Lock()
	s.n++
	code := fmt.Sprintf("code-%d", s.n)
	s.codes[code] = q.Get("code_challenge")
	s.mu.Unlock()
	return q.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), nil
}

// Browse does the same, and comes back.
func (s *Server) Browse(address string) error {
	back, err := s.Agree(address)
	if err != nil {
		return err
	}
	resp, err := http.Get(back) //nolint:gosec // an address of this machine
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// issues is what gives tokens.
func (s *Server) issues() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		at := s.issuer.URL
		says(w, map[string]any{
			"issuer": at, "authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token", "registration_endpoint": at + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		})
	})
	m.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		in := map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(&in)
		in["client_id"] = "ours"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(in)
	})
	m.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) { // a human who agrees to everything
		back, err := s.Agree(r.URL.String())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		http.Redirect(w, r, back, http.StatusFound)
	})
	m.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		s.mu.Lock()
		defer s.mu.Unlock()
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		challenge, known := s.codes[r.Form.Get("code")]
		if !known || challenge != base64.RawURLEncoding.EncodeToString(sum[:]) || r.Form.Get("resource") != s.URL {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant"})
			return
		}
		delete(s.codes, r.Form.Get("code"))
		s.n++
		s.logins++
		token := fmt.Sprintf("token-%d", s.n)
		s.good[token] = true
		says(w, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600})
	})
	return m
}

func says(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
