package llmtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
)

// Requests a real service refuses are refused, with the place of the fault.
func TestRefusals(t *testing.T) {
	s := llmtest.New()
	base, client := s.Loopback(t)
	const use = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}`
	const callsC1 = `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	for _, c := range []struct{ path, messages, want string }{
		{"messages", `[]`, "messages"},
		{"messages", `[{"role":"assistant","content":"x"}]`, "messages.0.role"},
		{"messages", `[{"role":"user","content":"x"},{"role":"tool","content":"y"}]`, "messages.1.role"},
		{"messages", `[{"role":"user","content":"x"}],"stream_options":{}`, "stream_options"},
		{"messages", `[{"role":"user","content":""}]`, "messages.0.content.0.text"},
		{"messages", `[{"role":"user","content":[]}]`, "messages.0.content"},
		{"messages", `[{"role":"user","content":"x"},` + use + `]`, "c1"},
		{"messages", `[{"role":"user","content":"x"},` + use + `,{"role":"user","content":"y"}]`, "messages.2"},
		{"messages", `[{"role":"user","content":"x"},` + use + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2"}]}]`, "c2"},
		{"messages", `[{"role":"user","content":"x"},` + use + `,{"role":"user","content":[{"type":"text","text":"y"},{"type":"tool_result","tool_use_id":"c1"}]}]`, "before any text"},
		{"messages", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"}]}]`, "answers no call"},
		{"messages", `[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"fake.00"}]},{"role":"user","content":"y"}]`, "signature"},
		{"messages", `[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a b","name":"f","input":{}}]}]`, ".id"},
		{"messages", `[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":[]}]}]`, ".input"},
		{"messages", `[{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},`, 4) + `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]`, "5 marks"},
		{"chat/completions", `[]`, "messages"},
		{"chat/completions", `[{"role":"user","content":""}]`, "messages[0].content"},
		{"chat/completions", `[{"role":"tool","tool_call_id":"c1","content":"x"}]`, "answers no call"},
		{"chat/completions", `[{"role":"user","content":"x"},` + callsC1 + `]`, "c1"},
		{"chat/completions", `[{"role":"user","content":"x"},` + callsC1 + `,{"role":"user","content":"y"}]`, "messages[2]"},
		{"chat/completions", `[{"role":"assistant"}]`, "content or tool_calls"},
		{"chat/completions", `[{"role":"assistant","content":null}]`, "content or tool_calls"},
		{"chat/completions", `[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"[]"}}]}]`, "arguments"},
	} {
		body := `{"model":"m","max_tokens":10,"stream":true,"messages":` + c.messages + `}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/"+c.path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Anthropic-Version", "2023-06-01")
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(answer), c.want) {
			t.Errorf("%s: %d %s", c.messages, res.StatusCode, answer)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d refused requests were recorded", n)
	}
}

func TestLists(t *testing.T) {
	base, client := (&llmtest.Server{Models: []string{"qwen3:8b"}}).Loopback(t)
	for path, want := range map[string]string{"/v1/models": `{"data":[{"id":"qwen3:8b"}]}`, "/api/tags": `{"models":[{"name":"qwen3:8b"}]}`} {
		res, err := client.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if strings.TrimSpace(string(body)) != want {
			t.Errorf("%s: %s", path, body)
		}
	}
}

func TestTokens(t *testing.T) {
	text := llmtest.Lorem(20000)
	if got := llmtest.Tokens(text); len(got) != 20000 || strings.Join(got, "") != text {
		t.Errorf("%d tokens", len(got))
	}
}

// A scripted conversation: failures, calls and a paced answer, in fake time.
func TestScript(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &llmtest.Server{Answer: llmtest.Script}
				client, stop := s.Pipe()
				defer stop()
				p := llm.Retry(protocol.make("http://fake", "k", client), llm.RetryOptions{})
				req := ask("Please:\nstatus 529 2 3\nthink hm\nsay first ;; call list_files {\"path\":\".\"}\nand list_files\ncut 200\nlorem 200 @100\nstall")
				req.Tools = []llm.Tool{listTool}

				g := collect(t, t.Context(), p, req)
				if g.err != nil || len(g.retries) != 2 || g.retries[0].Wait != 3000 || len(g.calls) != 2 || g.calls[0].ID == g.calls[1].ID || string(g.calls[0].Args) != `{"path":"."}` || g.thinking != "hm" {
					t.Fatalf("%+v", g)
				}
				req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Parts: g.parts},
					llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: g.calls[0].ID, Text: "a"}, llm.ToolResult{ID: g.calls[1].ID, Text: "b"}}})

				once := protocol.make("http://fake", "k", client)
				if g = collect(t, t.Context(), once, req); g.err == nil || g.err.Kind != llm.Cut {
					t.Fatalf("%+v", g)
				}
				began := time.Now()
				g = collect(t, t.Context(), once, req)
				if g.err == nil || g.err.Kind != llm.Stalled || g.text != llmtest.Lorem(200) {
					t.Fatalf("%+v", g)
				}
				// The reader of a slow reply may take a breath.
				if took := time.Since(began); took < 302*time.Second || took > 303*time.Second {
					t.Errorf("200 tokens at 100 a second and the stall took %v", took)
				}
				req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{Text: g.text}}}, user("go on"))
				if g = collect(t, t.Context(), once, req); g.text != "done." {
					t.Errorf("%q", g.text)
				}
				if g = collect(t, t.Context(), once, ask("hello")); !strings.Contains(g.text, "hello") {
					t.Errorf("%q", g.text)
				}
				if g = collect(t, t.Context(), once, ask("call f {")); !strings.Contains(g.text, "not JSON") {
					t.Errorf("%q", g.text)
				}
			})
		})
	}
}

// The keys of requests are not kept.
func TestRecordsNoKey(t *testing.T) {
	each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
		s.Add(llmtest.Say("ok"))
		collect(t, t.Context(), p, ask("x"))
		raw, err := json.Marshal(s.Requests())
		if err != nil || strings.Contains(string(raw), "sk-test") {
			t.Errorf("%s %v", raw, err)
		}
	})
}

// BenchmarkStream is a reply of 20,000 tokens, one an event, over loopback; the
// server's work is in it.
func BenchmarkStream(b *testing.B) {
	text := llmtest.Lorem(20000)
	for _, protocol := range protocols {
		b.Run(protocol.name, func(b *testing.B) {
			s := &llmtest.Server{Answer: func(llmtest.Request) llmtest.Reply { return llmtest.Say(text) }}
			base, stop, err := s.Start()
			if err != nil {
				b.Fatal(err)
			}
			defer stop()
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			p := protocol.make(base, "k", client)
			for b.Loop() {
				n := 0
				for part, err := range p.Stream(b.Context(), ask("x")) {
					if err != nil {
						b.Fatal(err)
					}
					if t, ok := part.(llm.Text); ok {
						n += len(t.Text)
					}
				}
				if n != len(text) {
					b.Fatal(n)
				}
			}
		})
	}
}
