package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// web is a server over HTTP with one tool, which answers with the header X-Token that it got.
func web(t *testing.T, seen func(*http.Request)) *httptest.Server {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "2"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "token", Description: "Tells the token"}, func(_ context.Context, q *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		text := ""
		if q.Extra != nil {
			text = q.Extra.Header.Get("X-Token")
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "token " + text}}}, nil, nil
	})
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if seen != nil {
			seen(q)
		}
		h.ServeHTTP(w, q)
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		for one := range s.Sessions() {
			_ = one.Close()
		}
	})
	return srv
}

func TestRoom_http(t *testing.T) {
	srv := web(t, nil)
	b := open(t, Options{}, Server{Name: "web", URL: srv.URL, Headers: map[string]string{"X-Token": "s3cret"}, Timeout: time.Minute})
	if lent := b.Lend(t.Context()); len(lent) != 1 || lent[0].Name != "mcp__web__token" {
		t.Fatalf("%+v\n%s", lent, b.Log("web"))
	}
	if r, _ := b.call(t.Context(), "mcp__web__token", `{}`); r.Text != "token s3cret" {
		t.Errorf("%+v", r)
	}
	rep, err := b.Test(t.Context(), "web")
	if err != nil || rep.Program != "web 2" || len(rep.Tools) != 1 {
		t.Errorf("%+v %v", rep, err)
	}
	srv.CloseClientConnections()
	srv.Close()
	r, _ := b.call(t.Context(), "mcp__web__token", `{}`)
	if !r.Error {
		t.Errorf("%+v", r)
	}
	if err := b.Reconnect(t.Context(), "web"); err == nil || !strings.Contains(err.Error(), "the network does not reach "+srv.URL) {
		t.Error(err)
	}
}

// A redirect to another host gets nothing: neither what is sent, nor a header.
func TestRoom_httpRedirect(t *testing.T) {
	other := web(t, func(q *http.Request) { t.Error("another host is asked:", q.Header) })
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, other.URL+q.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer srv.Close()
	b := open(t, Options{}, Server{Name: "web", URL: srv.URL, Headers: map[string]string{"Authorization": "Bearer s3cret"}})
	if err := b.Reconnect(t.Context(), "web"); err == nil || !strings.Contains(err.Error(), "it redirects to another host") {
		t.Error(err)
	}
}

func TestRoom_httpRefused(t *testing.T) {
	for code, says := range map[int]string{
		http.StatusUnauthorized: "wants a login (401)", http.StatusForbidden: "does not let us (403)", http.StatusTeapot: "teapot", http.StatusInternalServerError: "Internal Server Error",
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", code) }))
		b := open(t, Options{}, Server{Name: "web", URL: srv.URL})
		if err := b.Reconnect(t.Context(), "web"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%d: %v", code, err)
		}
		if s := b.state("web"); s.Phase != Failed {
			t.Errorf("%d: %+v", code, s)
		}
		srv.Close()
	}
}

// A server that is there refuses single calls in many words; those of HTTP mean something only where HTTP says them.
func TestRoom_httpAnswers(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"the token is old"}}`
	for _, c := range []struct {
		code         int
		answer, want string // the answer, with %s for the request's ID
	}{
		{http.StatusOK, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"issue #1401 not found"}}`, `answers with an error: calling "tools/call": issue #1401 not found`},
		{http.StatusOK, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"sending \"x\": Unauthorized"}}`, `calling "tools/call": sending "x": Unauthorized`},
		{http.StatusOK, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"GitHub says: Forbidden"}}`, `calling "tools/call": GitHub says: Forbidden`},
		{http.StatusBadRequest, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"Forbidden fruit 401"}}`, "Forbidden fruit 401"},
		{http.StatusUnauthorized, "no", "wants a login (401): fantail mcp login web, or give a token in headers"},
		{http.StatusUnauthorized, refusal, "wants a login (401): fantail mcp login web, or give a token in headers; it says: the token is old"},
		{http.StatusForbidden, refusal, "does not let us (403); it says: the token is old"},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			var m wire
			if json.NewDecoder(q.Body).Decode(&m) != nil || len(m.ID) == 0 {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			switch m.Method {
			case "initialize":
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"1"}}}`, m.ID)
			case "tools/list":
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}`, m.ID, tool("ok", "It answers."))
			case "tools/call":
				w.WriteHeader(c.code)
				fmt.Fprint(w, strings.ReplaceAll(c.answer, "%s", string(m.ID)))
			default:
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
			}
		}))
		b := open(t, Options{}, Server{Name: "web", URL: srv.URL})
		b.Lend(t.Context())
		if r, _ := b.call(t.Context(), "mcp__web__ok", `{}`); !r.Error || !strings.Contains(r.Text, c.want) || strings.Contains(r.Text, "login") != strings.Contains(c.want, "login") {
			t.Errorf("%d %s:\n%s", c.code, c.answer, r.Text)
		}
		b.Close(t.Context())
		srv.Close()
	}
}

// A server that sends without an end, or never answers, holds up no one for longer than the call may take.
func TestRoom_httpEndless(t *testing.T) {
	endless := strings.Repeat("x", 1<<20)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":"`))
		for range 40 {
			if _, err := w.Write([]byte(endless)); err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	b := open(t, Options{}, Server{Name: "web", URL: srv.URL})
	if err := b.Reconnect(t.Context(), "web"); err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Error(err)
	}
}
