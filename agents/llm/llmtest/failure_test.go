package llmtest_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
	"fantail/agents/llm/openai"
)

const page = "<!DOCTYPE html><html><head><title>502</title></head><body><h1>Bad gateway</h1></body></html>"

func TestStatus(t *testing.T) {
	html := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	for _, c := range []struct {
		name  string
		reply llmtest.Reply
		kind  llm.ErrorKind
		has   string
	}{
		{"400", llmtest.Fail(400, `{"error":{"type":"invalid_request_error","message":"tools.0: wrong"}}`), llm.BadRequest, "tools.0: wrong"},
		{"401", llmtest.Fail(401, `{"error":{"type":"authentication_error","message":"invalid x-api-key"}}`), llm.Auth, "_API_KEY"},
		{"403", llmtest.Fail(403, `{"error":{"type":"permission_error","message":"not yours"}}`), llm.Auth, "rights"},
		{"404", llmtest.Fail(404, `{"error":{"type":"not_found_error","message":"model: fake"}}`), llm.NotConfigured, "model's name"},
		{"407", llmtest.Fail(407, ``), llm.Auth, "HTTPS_PROXY"},
		{"408", llmtest.Fail(408, ``), llm.Server, "no reason given"},
		{"413", llmtest.Fail(413, `{"error":{"type":"request_too_large","message":"too large"}}`), llm.ContextTooLong, "Shorten"},
		{"422", llmtest.Fail(422, `{"detail":[{"msg":"field required","loc":["body"]}]}`), llm.BadRequest, "field required"},
		{"429", llmtest.Fail(429, `{"error":{"type":"rate_limit_error","message":"slow down"}}`), llm.RateLimited, "slow down"},
		{"no credit", llmtest.Fail(429, `{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"no credit"}}`), llm.BadRequest, "no credit"},
		{"500 page", llmtest.Reply{Status: 500, Header: html, Body: page}, llm.Server, "an HTML page"},
		{"502 page", llmtest.Reply{Status: 502, Header: html, Body: page}, llm.Server, "an HTML page"},
		{"500 unlabelled page", llmtest.Reply{Status: 500, Body: page}, llm.Server, "an HTML page"},
		{"503", llmtest.Fail(503, `busy`), llm.Overloaded, "busy"},
		{"504", llmtest.Fail(504, `{"error":"gateway timeout"}`), llm.Server, "gateway timeout"},
		{"529", llmtest.Fail(529, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`), llm.Overloaded, "Overloaded"},
		{"too long", llmtest.Fail(400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`), llm.ContextTooLong, "210000"},
		{"too long by code", llmtest.Fail(400, `{"error":{"message":"too much","type":"invalid_request_error","code":"context_length_exceeded"}}`), llm.ContextTooLong, "too much"},
		{"too long for a local server", llmtest.Fail(400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`), llm.ContextTooLong, "available"},
		{"wrong key under another type", llmtest.Fail(401, `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`), llm.Auth, "_API_KEY"},
		{"204", llmtest.Reply{Status: 204}, llm.Protocol, "204"},
		{"200 JSON", llmtest.Reply{Status: 200, Body: `{"id":"x"}`, Header: http.Header{"Content-Type": {"application/json"}}}, llm.Protocol, `"application/json"`},
		{"200 page", llmtest.Reply{Status: 200, Body: page, Header: html}, llm.Protocol, `"text/html; charset=utf-8"`},
		{"200 error object", llmtest.Fail(200, `{"error":{"type":"overloaded_error","message":"later"}}`), llm.Overloaded, "later"},
		{"other charset", llmtest.Reply{Raw: "data: {}\n\n", Header: http.Header{"Content-Type": {"text/event-stream; charset=utf-16"}}}, llm.Protocol, "utf-16"},
		{"packed", llmtest.Reply{Raw: "data: {}\n\n", Header: http.Header{"Content-Encoding": {"br"}}}, llm.Protocol, `"br"`},
		{"array of one", llmtest.Fail(400, `[{"error":{"code":400,"message":"inner words","status":"INVALID_ARGUMENT"}}]`), llm.BadRequest, "inner words"},
		{"router", llmtest.Fail(400, `{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"inner words\"}}"}}}`), llm.BadRequest, "inner words"},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
				s.Add(c.reply)
				g := collect(t, t.Context(), p, ask("x"))
				if g.err == nil || g.stop != nil || g.err.Kind != c.kind || !strings.Contains(g.err.Message, c.has) {
					t.Fatalf("got %v, want %s with %q", g.err, c.kind, c.has)
				}
				if want := c.reply.Status; want >= 400 && g.err.Status != want {
					t.Errorf("status %d, want %d", g.err.Status, want)
				}
				if strings.Contains(g.err.Error(), "<") {
					t.Errorf("markup in %q", g.err.Error())
				}
				if g.err.Provider == "" {
					t.Error("no provider in the error")
				}
			})
		})
	}
}

func TestErrorInStream(t *testing.T) {
	for typ, kind := range map[string]llm.ErrorKind{
		"overloaded_error": llm.Overloaded, "rate_limit_error": llm.RateLimited, "api_error": llm.Server,
		"invalid_request_error": llm.BadRequest, "authentication_error": llm.Auth, "not_heard_of": llm.Server,
	} {
		each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
			call := llm.ToolCall{ID: "c1", Name: "list_files", Args: json.RawMessage(`{}`)}
			s.Add(llmtest.Reply{Error: typ}, llmtest.Reply{Error: typ, Parts: []llm.Part{llm.Text{Text: "some text"}, call}})
			for range 2 {
				g := collect(t, t.Context(), p, ask("x"))
				if g.stop != nil || g.err == nil || g.err.Kind != kind {
					t.Fatalf("%s: got %+v, want %s", typ, g.err, kind)
				}
			}
		})
	}
}

// A key shows in no error, whatever form the server echoes it in.
func TestKeyNeverShown(t *testing.T) {
	key := "sk-ant/api03+Zm9v=bar&baz \"q\"-0123456789"
	quoted, _ := json.Marshal(key)
	for _, echo := range []string{
		key, url.QueryEscape(key), url.PathEscape(key), strings.ToLower(url.QueryEscape(key)),
		base64.StdEncoding.EncodeToString([]byte(key)), base64.RawURLEncoding.EncodeToString([]byte(key)),
		string(quoted), key[:10] + "****" + key[len(key)-9:], "\x1b[31m" + key[:5] + "\x00" + key[5:],
		strings.Repeat("x", 480) + key,
	} {
		for _, protocol := range protocols {
			s := llmtest.New()
			base, client := s.Loopback(t)
			p := protocol.make(base, key, client)
			body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": "bad key " + echo}})
			event := llmtest.Reply{Raw: "event: error\ndata: " + string(body) + "\n\n"}
			s.Add(llmtest.Fail(401, string(body)), llmtest.Reply{Status: 400, Body: "bad key " + echo}, event,
				llmtest.Reply{Status: 200, Body: "x", Header: http.Header{"Content-Type": {"text/" + url.QueryEscape(key)}}})
			for range 4 {
				g := collect(t, t.Context(), p, ask("x"))
				if g.err == nil {
					t.Fatal("no error")
				}
				for i := 0; i+8 <= len(key); i++ {
					if strings.Contains(g.err.Error(), key[i:i+8]) {
						t.Fatalf("%q shows %q of the key", g.err.Error(), key[i:i+8])
					}
				}
				for _, form := range []string{url.QueryEscape(key), base64.StdEncoding.EncodeToString([]byte(key))} {
					if strings.Contains(g.err.Error(), form[:16]) {
						t.Fatalf("%q shows an encoding of the key", g.err.Error())
					}
				}
			}
		}
	}
}

func TestWrongKey(t *testing.T) {
	each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
		s.Key = "the right one"
		p = llm.Retry(p, llm.RetryOptions{})
		g := collect(t, t.Context(), p, ask("x"))
		if g.err == nil || g.err.Kind != llm.Auth || len(g.retries) > 0 || strings.Contains(g.err.Error(), "sk-test") {
			t.Fatalf("%v after %d retries", g.err, len(g.retries))
		}
	})
}

func TestHugeErrorIsCut(t *testing.T) {
	each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
		s.Add(llmtest.Reply{Status: 500, Body: strings.Repeat("\x1b]0;title\x07\x1b[2Jwörd\u202e\x01 ", 300_000)})
		g := collect(t, t.Context(), p, ask("x"))
		if g.err == nil || strings.ContainsAny(g.err.Message, "\x1b\x01\x07\u202e") || strings.Contains(g.err.Message, "title") || !strings.Contains(g.err.Message, "wörd") {
			t.Fatalf("%q", g.err.Message)
		}
	})
}

// A redirect to another place is not followed, and the key does not go there.
func TestRedirect(t *testing.T) {
	thief := llmtest.New(llmtest.Say("gotcha"))
	elsewhere, _ := thief.Loopback(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
			s.Add(llmtest.Reply{Status: status, Header: http.Header{"Location": {elsewhere + "/v1/messages"}}})
			g := collect(t, t.Context(), p, ask("x"))
			if g.err == nil || g.err.Kind != llm.Protocol || !strings.Contains(g.err.Message, strings.TrimPrefix(elsewhere, "http://")) {
				t.Fatalf("%v", g.err)
			}
		})
	}
	if n := len(thief.Requests()); n > 0 {
		t.Fatalf("%d requests were redirected", n)
	}
}

// A redirect that stays at the server is followed.
func TestRedirectAtHome(t *testing.T) {
	each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
		path := "/v1/messages"
		if _, ok := p.(*openai.Provider); ok {
			path = "/v1/chat/completions"
		}
		s.Add(llmtest.Reply{Status: 307, Header: http.Header{"Location": {path}}}, llmtest.Say("here"))
		if g := collect(t, t.Context(), p, ask("x")); g.err != nil || g.text != "here" {
			t.Fatalf("%+v", g)
		}
		for range 5 {
			s.Add(llmtest.Reply{Status: 307, Header: http.Header{"Location": {path}}})
		}
		if g := collect(t, t.Context(), p, ask("x")); g.err == nil || g.err.Kind != llm.Protocol {
			t.Fatalf("a circle: %+v", g)
		}
	})
}

// A key that cannot be sent is said at once, not tried ten times.
func TestUnsendableKey(t *testing.T) {
	for _, key := range []string{"sk-abc\ndef-0123456789", "sk–abcdef-0123456789"} {
		for _, protocol := range protocols {
			g := collect(t, t.Context(), protocol.make("http://127.0.0.1:1", key, nil), ask("x"))
			if g.err == nil || g.err.Kind != llm.NotConfigured || !strings.Contains(g.err.Message, "_API_KEY") || strings.Contains(g.err.Error(), "0123") {
				t.Errorf("%v", g.err)
			}
		}
	}
}

// Agents share a provider.
func TestConcurrent(t *testing.T) {
	each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
		var all sync.WaitGroup
		for range 16 {
			s.Add(llmtest.Say(llmtest.Lorem(200)))
			all.Go(func() {
				text := ""
				for part, err := range p.Stream(t.Context(), ask("x")) {
					if err != nil {
						t.Error(err)
					}
					if piece, ok := part.(llm.Text); ok {
						text += piece.Text
					}
				}
				if text != llmtest.Lorem(200) {
					t.Errorf("%d bytes", len(text))
				}
			})
		}
		all.Wait()
	})
}

func TestUnreachable(t *testing.T) {
	base, stop, err := llmtest.New().Start()
	if err != nil {
		t.Fatal(err)
	}
	stop()
	for _, protocol := range protocols {
		p := protocol.make(base, "k", nil)
		g := collect(t, t.Context(), p, ask("x"))
		if g.err == nil || g.err.Kind != llm.Network || !strings.Contains(g.err.Message, strings.TrimPrefix(base, "http://")) {
			t.Fatalf("%v", g.err)
		}
		p = protocol.make("ftp://x", "k", nil)
		if g = collect(t, t.Context(), p, ask("x")); g.err == nil || g.err.Kind != llm.NotConfigured {
			t.Fatalf("%v", g.err)
		}
		p = protocol.make(strings.Replace(base, "http", "https", 1), "k", nil)
		if g = collect(t, t.Context(), p, ask("x")); g.err == nil || g.err.Kind != llm.Network {
			t.Fatalf("%v", g.err)
		}
	}
}

func TestTLS(t *testing.T) {
	s := llmtest.New()
	base, _ := s.Loopback(t)
	for _, protocol := range protocols {
		client := &http.Client{Transport: &http.Transport{}}
		p := protocol.make(strings.Replace(base, "http", "https", 1), "k", client)
		g := collect(t, t.Context(), p, ask("x"))
		if g.err == nil || g.err.Kind != llm.Protocol || !strings.Contains(g.err.Message, "http://") {
			t.Fatalf("%v", g.err)
		}
	}
}

func TestTooLargeRequest(t *testing.T) {
	each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
		g := collect(t, t.Context(), p, ask(strings.Repeat("x", 33<<20)))
		if g.err == nil || g.err.Kind != llm.ContextTooLong || len(s.Requests()) > 0 {
			t.Fatalf("%v", g.err)
		}
	})
}

func TestCancelMidStream(t *testing.T) {
	each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
		for _, leave := range []bool{false, true} {
			ended := make(chan error, 1)
			s.Add(llmtest.Reply{Parts: []llm.Part{llm.Text{Text: llmtest.Lorem(100)}}, Stall: 2000, Write: 100, Ended: func(err error) { ended <- err }})
			ctx, cancel := context.WithCancel(t.Context())
			var last error
			for part, err := range p.Stream(ctx, ask("x")) {
				last = err
				if _, ok := part.(llm.Text); ok {
					if leave {
						break
					}
					cancel()
				}
			}
			if err := <-ended; err == nil {
				t.Fatal("the server did not see the client leave")
			}
			cancel()
			var e *llm.Error
			if !leave && (!errors.As(last, &e) || e.Kind != llm.Cancelled || !errors.Is(last, context.Canceled)) {
				t.Fatalf("got %v", last)
			}
		}
	})
}

// eachFake is each in fake time, over pipes.
func eachFake(t *testing.T, test func(t *testing.T, s *llmtest.Server, p llm.Provider)) {
	t.Helper()
	for _, protocol := range protocols {
		t.Run(protocol.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := llmtest.New()
				client, stop := s.Pipe()
				defer stop()
				test(t, s, protocol.make("http://fake", "k", client))
			})
		})
	}
}

func TestStall(t *testing.T) {
	for name, r := range map[string]llmtest.Reply{
		"before headers": {StallEarly: true},
		"after headers":  {Stall: -1, Parts: []llm.Part{llm.Text{Text: "x"}}},
		"in the stream":  {Stall: 300, Parts: []llm.Part{llm.Text{Text: llmtest.Lorem(100)}}},
	} {
		t.Run(name, func(t *testing.T) {
			eachFake(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
				began := time.Now()
				s.Add(r)
				g := collect(t, t.Context(), p, ask("x"))
				if g.err == nil || g.err.Kind != llm.Stalled || !g.err.Temporary() {
					t.Fatalf("%v", g.err)
				}
				if took := time.Since(began); took != 300*time.Second {
					t.Errorf("noticed after %v", took)
				}
			})
		})
	}
}

// Silence is a fault; slowness is none, and neither is a reader who takes long.
func TestSlow(t *testing.T) {
	eachFake(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
		s.Add(llmtest.Reply{Parts: []llm.Part{llm.Text{Text: llmtest.Lorem(50)}}, Gap: 290 * time.Second, Delay: 290 * time.Second})
		if g := collect(t, t.Context(), p, ask("x")); g.err != nil {
			t.Fatal(g.err)
		}
		s.Add(llmtest.Say(llmtest.Lorem(3000))) // more than is read at once
		for _, err := range p.Stream(t.Context(), ask("x")) {
			if err != nil {
				t.Fatal(err)
			}
			<-time.After(10 * time.Minute)
		}
	})
}

// Signs of life alone do not keep a reply waiting for ever.
func TestPingsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.New(llmtest.Reply{Raw: strings.Repeat("event: ping\ndata: {\"type\":\"ping\"}\n\n", 1000), Write: 35, Slow: 20 * time.Second})
		client, stop := s.Pipe()
		defer stop()
		began := time.Now()
		g := collect(t, t.Context(), protocols[0].make("http://fake", "k", client), ask("x"))
		if g.err == nil || g.err.Kind != llm.Stalled || time.Since(began) > 31*time.Minute {
			t.Fatalf("%v after %v", g.err, time.Since(began))
		}
	})
}

func TestCancelWhileStalled(t *testing.T) {
	eachFake(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
		s.Add(llmtest.Reply{StallEarly: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		g := collect(t, ctx, p, ask("x"))
		if g.err == nil || g.err.Kind != llm.Cancelled || time.Since(began) != time.Minute {
			t.Fatalf("%v after %v", g.err, time.Since(began))
		}
	})
}
