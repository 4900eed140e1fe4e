// Package llmtest is a model server for tests and for trying things by hand.
//
// Does: speak POST /v1/messages, POST /v1/chat/completions and POST
// /v1/responses over real HTTP with streamed replies, POST
// /v1/messages/count_tokens, GET /v1/models and GET /api/tags; check each request
// as the real services do and refuse a wrong one with 400 and the place of the
// fault; record the requests. A [Server] answers from a queue of [Reply]
// values or through a function; a reply can be slow, stall, break at any byte
// or fail. It listens on loopback ([Server.Start]) or, for fake time, in memory
// ([Server.Pipe]). The tests of the protocols read with [Collect] and [Measure].
//
// Does not: know a model, keep a key (it records only that one came), or leave
// a goroutine behind after its stop function returned.
//
// # By hand
//
// The package's own test serves on a port until it is interrupted:
//
//	go test ./agents/llm/llmtest -run TestServe -serve 127.0.0.1:8411 -timeout 0
//	ANTHROPIC_BASE_URL=http://127.0.0.1:8411 ANTHROPIC_API_KEY=x fantail --model anthropic/fake
//
// There [Script] answers: what the fake model does is written in the prompt,
// one instruction a line (or joined by " ;; "):
//
//	say TEXT               a piece of the answer
//	think TEXT             a piece of reasoning
//	lorem N [@RATE]        N tokens of markdown, as fast as possible or RATE a second
//	call NAME {json}       a tool call; ends this reply, what follows is the next one
//	and NAME {json}        one more call in the same reply
//	usage IN OUT           the tokens this reply reports
//	delay 2s               wait before this reply
//	hold NAME              wait before this reply until the test lets NAME go
//	status CODE [N [SEC]]  this reply fails N times (1) with CODE, Retry-After SEC
//	error TYPE [N]         the stream fails N times with an error event
//	cut N                  the connection breaks once after N bytes
//	stall                  nothing more comes after the pieces so far
//	stop REASON            end_turn, tool_use, length or refusal
//
// After the last line a step without calls says "done.". A prompt without any
// instruction is answered with what was understood of it.
package llmtest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"fantail/agents/llm"
)

// The protocols of a [Request].
const (
	Anthropic = "anthropic"
	OpenAI    = "openai" // Chat Completions
	Responses = "responses"
)

// Request is what the server understood of one model request.
type Request struct {
	N         int    // from 1
	Attempt   int    // how often this very body has come, from 1
	Protocol  string // Anthropic, OpenAI or Responses
	Model     string
	System    string
	Messages  []llm.Message
	Tools     []llm.Tool
	MaxTokens int
	Thinking  bool
	Marks     int    // cache marks
	CacheKey  string // of the OpenAI protocol
	Usage     bool   // usage was asked for
	KeyIn     string // the header that held a key; the key itself is not kept
	Header    http.Header
	Body      json.RawMessage

	forms  map[string]form // of the tools of the Responses protocol, by their names here
	sealed bool            // reasoning is to come with what brings it back
}

// LastText returns the last text the user wrote.
func (r Request) LastText() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := r.Messages[i]
		for j := len(m.Parts) - 1; j >= 0; j-- {
			if t, ok := m.Parts[j].(llm.Text); ok && m.Role == llm.User {
				return t.Text
			}
		}
	}
	return ""
}

// Reply is one answer. The zero value is an empty reply that ends in order.
type Reply struct {
	Parts   []llm.Part // Text, Thinking and ToolCall, in order
	Stop    llm.Reason // by the parts if empty
	Usage   llm.Usage  // by their length if zero
	NoUsage bool
	NoDone  bool   // OpenAI: no [DONE] at the end
	Error   string // the type of an error event after the parts; nothing follows it

	Raw    string // the stream's body as recorded, instead of Parts
	Status int    // an answer that is no stream, with Body
	Header http.Header
	Body   string

	Hold  string                     // before the headers, until the server lets that go
	Delay time.Duration              // before the headers
	Gap   time.Duration              // between events
	Pace  float64                    // tokens a second
	Chunk int                        // bytes of text an event; a token if 0
	Split func(args string) []string // the pieces of a call's arguments; two halves if nil
	Write int                        // bytes that travel together; 0 leaves it to the network
	Slow  time.Duration              // after each such piece

	// Cut breaks the connection after so many bytes of the body, -1 before the
	// first; Clean ends the body in order there instead. Stall sends nothing
	// more from there until the client leaves; StallEarly not even headers.
	Cut        int
	Clean      bool
	Stall      int
	StallEarly bool

	// Ended is called when the reply is over, with an error if the client left.
	Ended func(error)
}

// Say is a reply of one text.
func Say(text string) Reply { return Reply{Parts: []llm.Part{llm.Text{Text: text}}} }

// Call is a reply of one tool call.
func Call(id, name, args string) Reply {
	return Reply{Parts: []llm.Part{llm.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}}}
}

// Fail is an answer with a status and a body of JSON.
func Fail(status int, body string) Reply {
	return Reply{Status: status, Body: body, Header: http.Header{"Content-Type": {"application/json"}}}
}

// Server is the [http.Handler]. Its fields are set before the first request.
type Server struct {
	Answer  func(Request) Reply // nil: the queue
	Key     string              // any other key is refused; empty accepts all
	Models  []string            // what GET /v1/models lists; "fake" if empty
	Reasons bool                // of the OpenAI protocol: replies come back with their reasoning, as DeepSeek demands

	mu       sync.Mutex
	queue    []Reply
	requests []Request
	bodies   map[[sha256.Size]byte]int
	conns    int
	holds    map[string]*hold
}

// New returns a server that answers with the replies in order.
func New(replies ...Reply) *Server { return &Server{queue: replies} }

// Add appends to the queue.
func (s *Server) Add(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, replies...)
}

// Requests returns the requests so far, refused ones excluded.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Connections returns how many connections were made.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// Start listens on a loopback port and returns the address without /v1. stop
// ends the server and all its connections.
func (s *Server) Start() (base string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen on loopback: %w", err)
	}
	return "http://" + l.Addr().String(), s.Serve(l), nil
}

// Pipe serves in memory: every connection of client reaches the server whatever
// host it names.
func (s *Server) Pipe() (client *http.Client, stop func()) {
	l := NewListener()
	t := &http.Transport{DialContext: l.DialContext, DisableCompression: true}
	end := s.Serve(l)
	return &http.Client{Transport: t}, func() {
		t.CloseIdleConnections()
		end()
	}
}

// Serve answers on l until stop, which returns when all has ended.
func (s *Server) Serve(l net.Listener) (stop func()) {
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	srv := &http.Server{
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				s.mu.Lock()
				s.conns++
				s.mu.Unlock()
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			running.Add(1)
			defer running.Done()
			s.ServeHTTP(w, r)
		}),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	return func() {
		cancel()
		_ = srv.Close()
		<-done
		running.Wait()
	}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "POST /v1/messages":
		s.serve(w, r, messagesAPI{})
	case "POST /v1/chat/completions":
		s.serve(w, r, chatAPI{s.Reasons})
	case "POST /v1/responses":
		s.serve(w, r, responsesAPI{})
	case "POST /v1/messages/count_tokens":
		count(w, r)
	case "GET /v1/models":
		s.list(w, "data", "id")
	case "GET /api/tags":
		s.list(w, "models", "name")
	default:
		refuse(w, chatAPI{}, http.StatusNotFound, "not_found_error", "there is nothing at "+r.Method+" "+r.URL.Path)
	}
}

// count answers how many tokens a request has; about four bytes are one.
func count(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]int{"input_tokens": len(body)/4 + 1})
}

func (s *Server) list(w http.ResponseWriter, list, name string) {
	models := s.Models
	if len(models) == 0 {
		models = []string{"fake"}
	}
	all := []map[string]string{}
	for _, m := range models {
		all = append(all, map[string]string{name: m})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{list: all})
}

// api is one of the protocols.
type api interface {
	// parse reads and checks a request.
	parse(body []byte) (Request, error)
	// send writes a reply's stream.
	send(out *stream, req Request, r Reply)
	// failure is an error as the protocol words it.
	failure(typ, message string) any
	// keys are the headers that may hold the key.
	keys(h http.Header) (header, key string)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, a api) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	header, key := a.keys(r.Header)
	if s.Key != "" && key != s.Key {
		refuse(w, a, http.StatusUnauthorized, "authentication_error", "this is not the key: "+key)
		return
	}
	req, err := a.parse(body)
	if err == nil && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		err = fmt.Errorf("content-type: must be application/json")
	}
	if err == nil && a == (messagesAPI{}) && r.Header.Get("Anthropic-Version") == "" {
		err = fmt.Errorf("anthropic-version: header is missing")
	}
	if err != nil {
		refuse(w, a, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	req.KeyIn, req.Body, req.Header = header, body, r.Header.Clone()
	for _, h := range []string{"Authorization", "X-Api-Key"} {
		req.Header.Del(h)
	}
	s.reply(w, r, a, s.next(&req), req)
}

// next records req and decides its reply.
func (s *Server) next(req *Request) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bodies == nil {
		s.bodies = map[[sha256.Size]byte]int{}
	}
	sum := sha256.Sum256(req.Body)
	s.bodies[sum]++
	req.N, req.Attempt = len(s.requests)+1, s.bodies[sum]
	s.requests = append(s.requests, *req)
	if s.Answer != nil {
		return s.Answer(*req)
	}
	if len(s.queue) == 0 {
		return Fail(http.StatusBadRequest, `{"error":{"type":"invalid_request_error","message":"the test has no reply for this request"}}`)
	}
	r := s.queue[0]
	s.queue = s.queue[1:]
	return r
}

func refuse(w http.ResponseWriter, a api, status int, typ, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(a.failure(typ, message))
}
