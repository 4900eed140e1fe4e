package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// odd is a server over HTTP that answers as it is told. What it says comes as JSON or as events, each in pieces.
func odd(t *testing.T, events bool, answers map[string]string) *bed {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var m wire
		if json.NewDecoder(q.Body).Decode(&m) != nil || len(m.ID) == 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		answer, is := answers[m.Method]
		if !is || m.Params.Cursor != "" {
			answer = `{"id":$ID,"error":{"code":"-32601","message":"Method not found"}}`
		}
		answer = strings.ReplaceAll(answer, "$ID", string(m.ID))
		if !events {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			fmt.Fprint(w, answer)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		text := ": hello\n\nid\ndata: [DONE]\n\nevent: message\r\ndata: " + strings.Replace(answer, `,"`, ",\r\ndata: \"", 1) + "\r\n\r\n"
		for len(text) > 0 {
			n := min(len(text), 100)
			fmt.Fprint(w, text[:n])
			text = text[n:]
			w.(http.Flusher).Flush()
		}
	}))
	b := open(t, Options{}, Server{Name: "web", URL: srv.URL})
	t.Cleanup(srv.Close)
	return b
}

// TestRoom_httpOdd: one odd member of what a server over HTTP says loses nothing else.
func TestRoom_httpOdd(t *testing.T) {
	const (
		begin = `{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"1"}}}`
		list  = `{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":"good","description":"d","inputSchema":{"type":"object"}}]}}`
		said  = `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"fine"}],"isError":false}}`
	)
	rows := 0
	for _, c := range []struct{ method, member string }{
		{"initialize", `"capabilities":{"tools":{}}`},
		{"initialize", `"tools":{}`},
		{"initialize", `"serverInfo":{"name":"web","version":"1"}`},
		{"initialize", `"version":"1"`},
		{"tools/list", `"description":"d"`},
		{"tools/list", `"outputSchema":{}`},
		{"tools/list", `"title":"t"`},
		{"tools/list", `"annotations":{}`},
		{"tools/list", `"_meta":{}`},
		{"tools/list", `"nextCursor":""`},
		{"tools/call", `"isError":false`},
		{"tools/call", `"jsonrpc":"2.0"`},
		{"tools/call", `"structuredContent":{}`},
		{"tools/call", `"error":null`},
	} {
		name, _, _ := strings.Cut(c.member, ":")
		for _, form := range []string{"[]", "null", `"x"`, "0", "", "twice"} {
			member := name + ":" + form
			switch form {
			case "":
				member = `"unknown":0`
			case "twice":
				member = name + `:[],` + c.member
			}
			answers := map[string]string{"initialize": begin, "tools/list": list, "tools/call": said}
			switch was := answers[c.method]; {
			case strings.Contains(was, c.member):
				if form == "" && name == `"tools"` {
					continue // it says that it has none
				}
				answers[c.method] = strings.Replace(was, c.member, member, 1)
			case c.method == "tools/call" && name == `"error"`:
				answers[c.method] = strings.Replace(was, `"id"`, member+`,"id"`, 1)
			case name == `"nextCursor"`, c.method == "tools/call":
				answers[c.method] = strings.Replace(was, `"result":{`, `"result":{`+member+`,`, 1)
			default:
				answers[c.method] = strings.Replace(was, `"name"`, member+`,"name"`, 1)
			}
			for _, events := range []bool{false, true} {
				rows++
				b := odd(t, events, answers)
				lent := b.Lend(t.Context())
				if len(lent) != 1 || lent[0].Name != "mcp__web__good" {
					t.Errorf("%s, events %v: %+v\n%s", answers[c.method], events, lent, b.Log("web"))
				} else if r, _ := b.call(t.Context(), "mcp__web__good", `{}`); r.Text != "fine" || r.Error {
					t.Errorf("%s, events %v: %+v\n%s", answers[c.method], events, r, b.Log("web"))
				}
				b.Close(t.Context())
			}
		}
	}
	t.Log(rows, "servers")
	for answer, says := range map[string]string{
		`{"jsonrpc":"2.0","id":$ID,"error":"out of order"}`:                "out of order",
		`{"id":$ID,"error":{"code":"E5","message":"out of order"}}`:        "E5: out of order",
		`{"jsonrpc":"2.0","id":$ID,"error":{"code":5}}`:                    `{"code":5}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":5,"message":"what?"}}`: "what?",
		`{"jsonrpc":"2.0","id":$ID,"result":"text"}`:                       "what it answers is no object",
		``:           "what is no message",
		`<p>Hello`:   "what is no message: <p>Hello",
		`{"jsonrpc"`: `what is no message: {"jsonrpc"`,
		`[{"jsonrpc":"2.0","method":"x"},{"id":$ID,"error":{"message":"no"}}]`: "no",
	} {
		for _, events := range []bool{false, true} {
			if events && (strings.Contains(answer, "null") || strings.Contains(says, "no message")) {
				continue // an event may answer something else
			}
			b := odd(t, events, map[string]string{"initialize": begin, "tools/list": list, "tools/call": answer})
			b.Lend(t.Context())
			if r, _ := b.call(t.Context(), "mcp__web__good", `{}`); !r.Error || !strings.Contains(r.Text, "answers with an error: ") || !strings.Contains(r.Text, says) {
				t.Errorf("%s, events %v: %+v\n%s", answer, events, r, b.Log("web"))
			}
			if s := b.state("web"); s.Phase != Ready {
				t.Errorf("%s, events %v: %+v", answer, events, s)
			}
			b.Close(t.Context())
		}
	}
}

// TestRoom_httpType: what a server sends need not say that it is JSON.
func TestRoom_httpType(t *testing.T) {
	for _, kind := range []string{"", "text/plain; charset=utf-8", "application/octet-stream", "text/html", "APPLICATION/JSON", "odd;;"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			var m wire
			w.Header()["Content-Type"] = []string{kind}
			if json.NewDecoder(q.Body).Decode(&m) != nil || len(m.ID) == 0 {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			switch m.Method {
			case "initialize":
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"web","version":"1"}}}`, m.ID)
			case "tools/list":
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}`, m.ID, tool("ok", "It answers."))
			default: // it answers nothing
				w.WriteHeader(http.StatusAccepted)
			}
		}))
		b := open(t, Options{}, Server{Name: "web", URL: srv.URL})
		if lent := b.Lend(t.Context()); len(lent) != 1 || b.state("web").Phase != Ready {
			t.Errorf("%q: %+v\n%s", kind, lent, b.Log("web"))
		}
		b.Close(t.Context())
		srv.Close()
	}
}

// TestEventBody: events come as soon as they are whole, and one that is too long is not kept.
func TestEventBody(t *testing.T) {
	r, w := io.Pipe()
	var told []string
	b := &eventBody{ReadCloser: r, in: bufio.NewReader(r), log: func(text string) { told = append(told, text) }}
	got := bufio.NewReader(b)
	go func() { _, _ = io.WriteString(w, "id: 1\ndata: {\"id\":1,\ndata: \"result\":[]}\n\n") }()
	for _, want := range []string{"id: 1\n", `data: {"jsonrpc":"2.0","id":1,"result":{}}` + "\n", "\n"} {
		if line, err := got.ReadString('\n'); line != want || err != nil {
			t.Fatalf("%q %v, not %q", line, err, want)
		}
	}
	go func() {
		_, _ = io.WriteString(w, "data: words\n\ndata: "+strings.Repeat("x", maxMessage))
		_ = w.Close()
	}()
	rest, err := io.ReadAll(got)
	if err != nil || len(rest) < maxMessage || cap(b.event) > 1<<20 || len(told) != 1 {
		t.Errorf("%d bytes, %d kept, %q, %v", len(rest), cap(b.event), told, err)
	}
}

// TestRoom_httpPages: a page that can't be read loses nothing of those before it, and what has no name only itself.
func TestRoom_httpPages(t *testing.T) {
	b := odd(t, false, map[string]string{
		"initialize":     `{"id":$ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":true,"prompts":[],"resources":"x"},"serverInfo":{}}}`,
		"tools/list":     `{"id":$ID,"result":{"tools":[{"name":"good","inputSchema":{"type":"object"}},{"inputSchema":{}},7],"nextCursor":"x"}}`,
		"prompts/list":   `{"id":$ID,"result":{"prompts":[{"description":"d"},{"name":"p","arguments":"x"},null],"nextCursor":"x"}}`,
		"resources/list": `{"id":$ID,"result":{"resources":[{"uri":"a:b","name":[]}],"nextCursor":"x"}}`,
	})
	lent := b.Lend(t.Context())
	r, _ := b.call(t.Context(), "mcp__web__read_resource", `{}`)
	if len(lent) != 2 || len(b.Prompts()) != 1 || b.Prompts()[0].Own != "p" || r.Text != "a:b" || r.Error {
		t.Errorf("%+v\n%+v\n%+v\n%s", lent, b.Prompts(), r, b.Log("web"))
	}
	for _, says := range []string{"tools[2]", `its tool "" is left out`, "only the first 2 can be read", "one of its prompts has no name", "prompts[p].arguments", "resources[a:b].name"} {
		if !strings.Contains(b.Log("web"), says) {
			t.Errorf("it is not said that %s:\n%s", says, b.Log("web"))
		}
	}
}
