package agents_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"fantail/agents"
	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/llm/anthropic"
	"fantail/agents/llm/openai"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
	"fantail/tools/permission"
)

// tireless is a server that throws requests away and answers all but the last
// with one tool call.
type tireless struct {
	call, end func(n int) string
	steps     int64
	n, size   atomic.Int64  // of the requests, of the last one
	at        func(n int64) // hears of each request, once it was read
}

func (s *tireless) RoundTrip(req *http.Request) (*http.Response, error) {
	size, _ := io.Copy(io.Discard, req.Body)
	s.size.Store(size)
	n := s.n.Add(1)
	s.at(n)
	reply := s.call
	if n > s.steps {
		reply = s.end
	}
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(reply(int(n)))),
	}, nil
}

func events(lines ...string) func(int) string {
	return func(n int) string {
		var b strings.Builder
		for _, l := range lines {
			var head struct{ Type string }
			_ = json.Unmarshal([]byte(l), &head)
			if head.Type != "" {
				b.WriteString("event: " + head.Type + "\n")
			}
			b.WriteString("data: " + strings.ReplaceAll(l, "NNN", fmt.Sprint(n)) + "\n\n")
		}
		return b.String()
	}
}

// wires are the protocols, each with a server's two replies.
var wires = map[string]struct {
	call, end func(int) string
	provider  func(*http.Client) llm.Provider
}{
	"messages": {
		events(`{"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_NNN","name":"read_file","input":{"path":"no/NNN"}}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`, `{"type":"message_stop"}`),
		events(`{"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Done."}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`, `{"type":"message_stop"}`),
		func(c *http.Client) llm.Provider {
			return llm.Retry(anthropic.New(anthropic.Options{Name: "test", Key: "k", BaseURL: "http://fake", HTTPClient: c}), llm.RetryOptions{})
		},
	},
	"chat": {
		events(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_NNN","function":{"name":"read_file","arguments":"{\"path\":\"no/NNN\"}"}}]},"finish_reason":null}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":9}}`, `[DONE]`),
		events(`{"choices":[{"index":0,"delta":{"content":"Done."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9}}`, `[DONE]`),
		func(c *http.Client) llm.Provider {
			return llm.Retry(openai.New(openai.Options{Name: "test", Key: "k", BaseURL: "http://fake", HTTPClient: c}), llm.RetryOptions{})
		},
	},
}

// spoken appends a conversation of that many entries and bytes to main's
// transcript.
func spoken(b *testing.B, db *store.DB, agent int64, entries, size int) {
	each := size / entries
	code := strings.Repeat("\tif x < y && z { return \"größer\" }\n", each*2/36+1)
	prose := strings.Repeat("Please do this, and say what you found. ", each*2/40+1)
	add := func(tx *store.Tx, e history.Entry) error {
		data, err := json.Marshal(e)
		if err == nil {
			_, err = tx.Append(agent, 0, string(e.Kind), string(data))
		}
		return err
	}
	for from := 0; from < entries; from += 10_000 {
		check(b, db.Write(b.Context(), "seed", func(tx *store.Tx) error {
			for n := from; n < min(from+10_000, entries); n += 4 {
				id := fmt.Sprintf("toolu_seed%d", n)
				for _, e := range []history.Entry{
					{Kind: history.EntryPrompt, Text: prose},
					{Kind: history.EntryCall, Call: &history.Call{ID: id, Name: "read_file", Args: json.RawMessage(`{"path":"a/b/c.go"}`)}},
					{Kind: history.EntryResult, Result: &history.Result{ID: id, Name: "read_file", Text: code}},
					{Kind: history.EntryText, Text: "Done.", Model: "test/m"},
				} {
					if err := add(tx, e); err != nil {
						return err
					}
				}
			}
			return nil
		}))
	}
	check(b, db.Write(b.Context(), "seed", func(tx *store.Tx) error {
		return add(tx, history.Entry{Kind: history.EntryEnded, End: &history.End{Outcome: history.Completed}})
	}))
}

// spent is what this process has used.
type spent struct {
	cpu   time.Duration
	bytes uint64
}

func spentNow() spent {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return spent{time.Duration(u.Utime.Nano() + u.Stime.Nano()), m.TotalAlloc}
}

// rss is how much memory this process has, in MB; 0: nobody knows.
func rss() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	var kib float64
	_, _ = fmt.Sscan(string(rest), &kib)
	return kib / 1024
}

// BenchmarkStep is one step of a turn in a long conversation: from one request to
// the next, all that the program does for it. It also tells of the turn's first
// request, from the prompt on, and of the memory that is left to an idle agent.
func BenchmarkStep(b *testing.B) {
	for _, name := range []string{"messages", "chat"} {
		for _, of := range []struct{ entries, size int }{{2_000, 900_000}, {10_000, 4_500_000}, {100_000, 16_000_000}} {
			b.Run(fmt.Sprintf("%s/%d", name, of.entries), func(b *testing.B) { step(b, name, of.entries, of.size) })
		}
	}
}

// BenchmarkFirst is the first request in a conversation of 100,000 entries, which its model's window can't hold.
func BenchmarkFirst(b *testing.B) {
	for name, window := range map[string]int{"unknown": 0, "200k": 200_000, "1m": 1_000_000} {
		b.Run(name, func(b *testing.B) { stepIn(b, "messages", 100_000, 16_000_000, window) })
	}
}

func step(b *testing.B, name string, entries, size int) { stepIn(b, name, entries, size, 1<<30) }

// stepIn is step for a model with that window.
func stepIn(b *testing.B, name string, entries, size, window int) {
	wire := wires[name]
	dir := b.TempDir()
	gate, err := permission.NewGate(permission.Yolo, nil)
	check(b, err)
	db, err := storetest.Open(b.Context(), filepath.Join(dir, "fantail.db"), store.Options{})
	check(b, err)
	var first, last spent
	server := &tireless{call: wire.call, end: wire.end, steps: int64(b.N)}
	server.at = func(n int64) {
		switch n {
		case 1:
			first = spentNow()
		case server.steps + 1:
			last = spentNow()
		}
	}
	provider := wire.provider(&http.Client{Transport: server})
	pool, err := agents.Open(b.Context(), agents.Options{
		DB: db, Tools: tools.New(), Gate: gate, Model: "test/m", Root: dir, Data: dir,
		Resolve: func(string) (llm.Model, error) {
			return llm.Model{Name: "test/m", Provider: provider, ID: "m", Window: window, Vendor: "test"}, nil
		},
		System: func(event.Info) string { return "You are one." },
	})
	check(b, err)
	w := &world{agentstest.Over(b, dir, db, pool)}
	defer w.Close()
	spoken(b, db, w.Main(), entries, size)
	runtime.GC()
	before, base := spentNow(), rss()
	w.Prompt("go")
	w.Until("it has answered", func() bool { return server.n.Load() > server.steps && w.Info("main").State == event.Idle })
	left := rss()
	for range 20 { // memory goes back a moment later
		<-time.After(50 * time.Millisecond)
		left = min(left, rss())
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64((last.cpu-first.cpu).Microseconds())/1e3/float64(b.N), "cpu-ms/step")
	b.ReportMetric(float64(last.bytes-first.bytes)/1e6/float64(b.N), "MB/step")
	b.ReportMetric(float64((first.cpu-before.cpu).Microseconds())/1e3, "cpu-ms/first")
	b.ReportMetric(float64(first.bytes-before.bytes)/1e6, "MB/first")
	b.ReportMetric(float64(server.size.Load())/1e6, "MB-sent")
	b.ReportMetric(left, "MB-rss")
	b.ReportMetric(base, "MB-rss-before")
}
