package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/agents/hooks"
	"fantail/store/config"
	ourmcp "fantail/tools/mcp"
)

// guarded is an MCP server that wants a login, and gives tokens itself.
func guarded(t *testing.T) *httptest.Server {
	var s *httptest.Server
	server := mcp.NewServer(&mcp.Implementation{Name: "tracker", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "issues"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	serve := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	says := func(w http.ResponseWriter, code int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(v)
	}
	m := http.NewServeMux()
	m.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+s.URL+`/.well-known/oauth-protected-resource/mcp"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		serve.ServeHTTP(w, r)
	})
	m.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		says(w, http.StatusOK, map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL}})
	})
	m.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		says(w, http.StatusOK, map[string]any{
			"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token", "registration_endpoint": s.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		})
	})
	m.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		in := map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(&in)
		in["client_id"] = "ours"
		says(w, http.StatusCreated, in)
	})
	m.HandleFunc("/token", func(w http.ResponseWriter, _ *http.Request) {
		says(w, http.StatusOK, map[string]any{"access_token": "good", "token_type": "Bearer", "expires_in": 3600})
	})
	s = httptest.NewServer(m)
	t.Cleanup(s.Close)
	return s
}

// TestLogin: a server that wants a login says so with the next step; once somebody logged in it is there, for whoever
// comes later too, until the login is forgotten.
func TestLogin(t *testing.T) {
	s := guarded(t)
	t.Setenv("HOME", t.TempDir())
	root, data := t.TempDir(), filepath.Join(t.TempDir(), "ws")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	book, err := hooks.OpenTrust(root, data)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	defer all.Wait()
	start := func(_ string, f func()) { all.Go(f) }
	rows := func() []config.Server {
		return []config.Server{
			{Name: "tracker", ServerRow: config.ServerRow{URL: s.URL + "/mcp"}},
			{Name: "here", ServerRow: config.ServerRow{Command: "/bin/true"}},
		}
	}
	kept := ourmcp.LoginOptions{Dir: LoginsPath(data), Now: time.Now, Go: start}
	try := TryServer{Config: ServersFor(root, book, nil, rows), Root: root, Go: start, Carries: Carries(kept)}
	is, err := try.Test(t.Context(), "tracker")
	if err != nil || is.OK || !strings.Contains(is.Error, "fantail mcp login tracker") {
		t.Fatalf("before: %+v, %v", is, err)
	}
	asks := kept
	asks.Ask = func(_ context.Context, q ourmcp.LoginQuestion) (ourmcp.LoginAnswer, error) {
		u, err := url.Parse(q.URL)
		if err != nil {
			return ourmcp.LoginAnswer{}, err
		}
		if u.Host != q.Host || q.Server != "tracker" {
			t.Errorf("asked %+v", q)
		}
		return ourmcp.LoginAnswer{Back: fmt.Sprintf("%s?code=1&state=%s", u.Query().Get("redirect_uri"), url.QueryEscape(u.Query().Get("state")))}, nil
	}
	for round, want := range []bool{true, false} {
		is, asked, err := try.Login(t.Context(), "tracker", asks)
		if err != nil || !is.OK || asked != want || strings.Join(is.Tools, " ") != "issues" {
			t.Fatalf("login %d: %+v, asked %v, %v", round, is, asked, err)
		}
	}
	if is, err = try.Test(t.Context(), "tracker"); err != nil || !is.OK {
		t.Fatalf("after: %+v, %v", is, err)
	}
	if _, _, err := try.Login(t.Context(), "here", asks); err == nil || !strings.Contains(err.Error(), "nothing to log in to") {
		t.Errorf("a program: %v", err)
	}
	for _, want := range []bool{true, false} {
		if had, err := try.Logout("tracker", LoginsPath(data)); had != want || err != nil {
			t.Errorf("logout: %v, %v", had, err)
		}
	}
	if is, err = try.Test(t.Context(), "tracker"); err != nil || is.OK {
		t.Errorf("logged out: %+v, %v", is, err)
	}
}

// The address at which to log in stands there whole, and without what a terminal would heed.
func TestBrowses(t *testing.T) {
	address := "https://login.example.com/authorize?scope=" + strings.Repeat("read+write+", 50) + "&state=end"
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody answers
	var errs strings.Builder
	if _, err := Browses(&errs)(ctx, ourmcp.LoginQuestion{Server: "tracker\x1b[31m", Host: "login.example.com", URL: address}); err == nil {
		t.Error("an answer from nobody")
	}
	if text := errs.String(); !strings.Contains(text, "\n  "+address+"\n") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}
