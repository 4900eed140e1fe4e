// Package agentstest opens pools of agents in tests.
//
// Does: give a test a pool over a real database in a directory of its own ([Open]), whose model answers with functions
// of the request ([Model]), and wait for what its agents do. Run a life of the test's own program that ends when it is
// killed ([Lives]).
//
// Does not: know what a test proves.
package agentstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/hooks"
	"fantail/agents/instructions"
	"fantail/agents/llm"
	"fantail/agents/skills"
	"fantail/agents/turn"
	"fantail/inbox/policy"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/tools/secret"
)

// Model is a provider whose replies a test writes as functions of the request.
type Model struct {
	Reply func(ctx context.Context, req *llm.Request) ([]llm.Part, error)

	mu       sync.Mutex
	requests []*llm.Request
}

// Stream implements [llm.Provider].
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		m.mu.Lock()
		m.requests = append(m.requests, req)
		m.mu.Unlock()
		parts, err := m.Reply(ctx, req)
		for _, p := range parts {
			if !yield(p, nil) {
				return
			}
		}
		if err == nil && ctx.Err() != nil {
			err = &llm.Error{Kind: llm.Cancelled, Err: ctx.Err()}
		}
		if err != nil {
			yield(nil, err)
			return
		}
		reason := llm.EndTurn
		for _, p := range parts {
			if _, ok := p.(llm.ToolCall); ok {
				reason = llm.ToolUse
			}
			if _, ok := p.(llm.Stop); ok {
				return
			}
		}
		yield(llm.Stop{Reason: reason}, nil)
	}
}

// Seen returns all requests.
func (m *Model) Seen() []*llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]*llm.Request(nil), m.requests...)
}

// Forget drops the requests.
func (m *Model) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = nil
}

// Last returns the newest request.
func (m *Model) Last() *llm.Request {
	rs := m.Seen()
	return rs[len(rs)-1]
}

// Text returns a reply of text.
func Text(s string) []llm.Part { return []llm.Part{llm.Text{Text: s}} }

// Call returns a reply that calls a tool.
func Call(id, name, args string) []llm.Part {
	return []llm.Part{llm.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}}
}

// Asked returns the text of the last prompt of a request.
func Asked(req *llm.Request) string {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		ps := req.Messages[i].Parts
		for j := len(ps) - 1; j >= 0; j-- {
			if t, ok := ps[j].(llm.Text); ok && t.From == llm.FromPrompt {
				return t.Text
			}
		}
	}
	return ""
}

// Results returns the tool results after the last prompt of a request.
func Results(req *llm.Request) (rs []llm.ToolResult) {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				if p.From == llm.FromPrompt {
					rs = nil
				}
			case llm.ToolResult:
				rs = append(rs, p)
			}
		}
	}
	return rs
}

// World is a pool over a real database in a directory of its own.
type World struct {
	T       testing.TB
	Dir     string
	DB      *store.DB
	Pool    *agents.Pool
	Feed    *event.Feed
	Infos   map[int64]event.Info
	Tally   event.Tally
	Shown   map[int64]string // output of a running command, by agent
	Trouble error            // the last error that belongs to no agent

	here *fleet.Human // the human at the test's screen; nil until Human is called
}

// Human returns the human at the test's screen.
func (w *World) Human() *fleet.Human {
	if w.here == nil {
		w.here = w.Pool.Arrive()
	}
	return w.here
}

// Setting configures a World.
type Setting struct {
	Dir    string
	Mode   permission.Mode
	Moded  string // why Mode is set
	Cap    int
	Sees   bool                        // its models accept pictures
	AtOnce map[string]int              // by model: how many agents it serves at once
	Now    func() time.Time            // the database's clock; nil: the real one
	Gone   func(model string) bool     // the model is no longer configured
	Others map[string]llm.Provider     // more models, by name
	Model  string                      // of new agents; "": test/one
	Start  func(name string, f func()) // instead of go
	System func(i event.Info) string
	Skills *skills.Catalog        // from files; nil: none
	Trace  func(statement string) // gets the writer's statements
	Rules  map[string]policy.Rules
	Keys   *secret.Keys     // hidden everywhere
	Env    []string         // of commands
	Clock  func() time.Time // the pool's; nil: the real one
	Jumps  func(ctx context.Context, tell func()) error
	Wall   permission.Sandbox // what the sandbox is worth
	Box    turn.Boxes
	Kept   func(*permission.Gate) *turn.ProtectedFiles
	Hooks  *hooks.Runner
	Trust  *hooks.TrustStore
	Price  func(llm.Usage) int64 // of test/priced
	Budget tools.Amount          // of tasks that name none
	Limit  time.Duration         // time-out of tasks that name none
	Briefs *instructions.Briefs  // instruction files for agents
	Lends  tools.Lender          // the tools of other programs; nil: none
}

// Open opens a World. It ends with the test at the latest.
func Open(t testing.TB, m llm.Provider, s Setting) *World {
	t.Helper()
	if s.Dir == "" {
		s.Dir = t.TempDir()
	}
	if s.Mode == "" {
		s.Mode = permission.Yolo
	}
	if s.System == nil {
		s.System = func(i event.Info) string { return "You are " + i.Name + s.Briefs.System(i) }
	}
	if s.Model == "" {
		s.Model = "test/one"
	}
	gate, err := permission.NewGate(s.Mode, nil)
	Check(t, err)
	gate.Boxes(s.Wall)
	var watch *turn.ProtectedFiles
	if s.Kept != nil {
		watch = s.Kept(gate)
	}
	db, err := storetest.Open(t.Context(), filepath.Join(s.Dir, "fantail.db"), store.Options{Trace: s.Trace, Now: s.Now, Withhold: s.Keys.Row})
	Check(t, err)
	set := tools.New()
	if s.Lends != nil {
		set = set.Lend(s.Lends)
	}
	pool, err := agents.Open(t.Context(), agents.Options{
		DB: db, Tools: set, Gate: gate, Moded: s.Moded, Model: s.Model, Root: s.Dir, Data: s.Dir,
		Resolve: s.resolve(m),
		System:  s.System, Brought: agents.Brought{Briefs: s.Briefs, Hooks: s.Hooks, Trust: s.Trust, Skills: s.Skills}, Cap: s.Cap, Go: s.Start, Rules: s.Rules, Keys: s.Keys, Environ: s.Env, Now: s.Clock, Jumps: s.Jumps, Box: s.Box, Kept: watch, Budget: s.Budget, Limit: s.Limit,
	})
	Check(t, err)
	w := Over(t, s.Dir, db, pool)
	t.Cleanup(w.Close)
	return w
}

// Over returns the World of an open pool and its database.
func Over(t testing.TB, dir string, db *store.DB, pool *agents.Pool) *World {
	feed, was := pool.Subscribe()
	w := &World{T: t, Dir: dir, DB: db, Pool: pool, Feed: feed, Infos: map[int64]event.Info{}, Shown: map[int64]string{}}
	w.note(was)
	return w
}

// note applies events.
func (w *World) note(es []event.Event) {
	for _, e := range es {
		switch e := e.(type) {
		case event.Changed:
			w.Infos[e.ID] = e.Info
		case event.Tally:
			w.Tally = e
		case event.Trouble:
			w.Trouble = e.Err
		case event.Output:
			w.Shown[e.Agent] = e.Tail
		}
	}
}

// resolve returns a function that resolves the names of models. m serves the World's own.
func (s Setting) resolve(m llm.Provider) func(name string) (llm.Model, error) {
	return func(name string) (llm.Model, error) {
		by, other := s.Others[name]
		switch {
		case other:
		case !strings.HasPrefix(name, "test/") || (s.Gone != nil && s.Gone(name)):
			return llm.Model{}, fmt.Errorf("no model %s; known: test/one", name)
		default:
			by = m
		}
		price := s.Price
		if name != "test/priced" {
			price = nil
		}
		_, id, _ := strings.Cut(name, "/")
		return llm.Model{Price: price, Name: name, Provider: by, ID: id, Window: 100_000, Sees: s.Sees, Vendor: id, AtOnce: s.AtOnce[name]}, nil
	}
}

// Close closes the pool in order, unless it is closed.
func (w *World) Close() {
	if w.DB == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.Pool.Close(ctx); err != nil {
		w.T.Error(err)
	}
	w.Feed.Close()
	if err := w.DB.Close(); err != nil {
		w.T.Error(err)
	}
	w.DB = nil
}

// Until waits for events until ok is true.
func (w *World) Until(what string, ok func() bool) {
	w.T.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for {
		w.note(w.Feed.Take())
		if ok() {
			return
		}
		select {
		case <-w.Feed.Wait():
		case <-limit.C:
			w.T.Fatalf("waited in vain until %s; agents: %+v", what, w.Infos)
		}
	}
}

// Info returns an agent's latest Info.
func (w *World) Info(name string) event.Info {
	for _, i := range w.Infos {
		if i.Name == name {
			return i
		}
	}
	return event.Info{}
}

// State waits until the agent is in that state.
func (w *World) State(name string, s event.State) {
	w.T.Helper()
	w.Until(name+" is "+string(s), func() bool { return w.Info(name).State == s })
}

// Output waits until a running command of the agent shows s.
func (w *World) Output(name, s string) {
	w.T.Helper()
	w.Until(name+" shows "+s, func() bool { return strings.Contains(w.Shown[w.Info(name).ID], s) })
}

// Main returns main's id.
func (w *World) Main() int64 {
	w.T.Helper()
	w.Until("there is main", func() bool { return w.Info("main").ID != 0 })
	return w.Info("main").ID
}

// Unattended opens an unattended conversation.
func (w *World) Unattended(ctx context.Context, u agents.Unattended) *agents.Conversation {
	w.T.Helper()
	if u.Mode == "" {
		u.Mode = permission.Yolo
	}
	c, err := w.Pool.Scripts.Open(ctx, u)
	Check(w.T, err)
	return c
}

// Prompt prompts main.
func (w *World) Prompt(s string) {
	w.T.Helper()
	Check(w.T, w.Pool.Prompt(w.T.Context(), w.Main(), s))
}

// Push queues a task for main.
func (w *World) Push(name, prompt string) {
	w.T.Helper()
	_, err := w.Pool.Tasks.Push(w.T.Context(), w.Main(), tools.Task{Name: name, Prompt: prompt})
	Check(w.T, err)
}

// Run starts main's tasks, n at once.
func (w *World) Run(n int) agents.Ran {
	w.T.Helper()
	r, err := w.Pool.Run(w.T.Context(), w.Main(), tools.Start{Count: n})
	Check(w.T, err)
	return r
}

// Consent is Run that consents to everything it asks about.
func (w *World) Consent(n int) agents.Ran {
	w.T.Helper()
	r := w.Run(n)
	for len(r.Asked) > 0 {
		r = w.Run(n)
	}
	return r
}

// Answer answers a question for the human. It returns false if the question is not open.
func (w *World) Answer(question int64, c permission.Choice, reason ...string) bool {
	w.T.Helper()
	var err error
	w.Until("the question is open", func() bool { // after a start the agent may be about to ask it again
		err = w.Pool.Asks.Answer(context.Background(), question, event.Answer{Choice: c, Reason: strings.Join(reason, " ")})
		return err == nil || !strings.Contains(err.Error(), "about to ask it again")
	})
	if err != nil && !errors.Is(err, event.ErrAnswered) {
		w.T.Error(err)
	}
	return err == nil
}

// Settle waits until nothing runs.
func (w *World) Settle() {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), 2*time.Minute)
	defer cancel()
	if err := w.Pool.Settled(ctx); err != nil {
		w.T.Fatalf("the pool does not settle: %v; agents: %+v", err, w.Pool.Infos())
	}
}

// Entries returns an agent's transcript; nil: there is no such agent.
func (w *World) Entries(name string) []history.Entry {
	w.T.Helper()
	for _, i := range w.Pool.Infos() {
		if i.Name == name {
			es, err := w.Pool.Records.Page(w.T.Context(), i.ID, 0, 1000)
			Check(w.T, err)
			return es
		}
	}
	return nil
}

// Balanced checks that tasks and messages agree.
func (w *World) Balanced() {
	w.T.Helper()
	l, err := w.Pool.Records.Balance(w.T.Context())
	Check(w.T, err)
	if len(l.Wrong) > 0 {
		w.T.Errorf("the books: %s", l)
	}
}

// Kinds returns the kinds of entries.
func Kinds(es []history.Entry) string {
	var ks []string
	for _, e := range es {
		ks = append(ks, string(e.Kind))
	}
	return strings.Join(ks, " ")
}

// Check fails the test on an error.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Valid returns an error if a provider would refuse the conversation.
func Valid(ms []llm.Message) error {
	if len(ms) == 0 || ms[0].Role != llm.User {
		return errors.New("a conversation begins with the user")
	}
	var open []string
	for i, m := range ms {
		if i > 0 && m.Role == ms[i-1].Role {
			return fmt.Errorf("message %d repeats the role %s", i, m.Role)
		}
		var calls []string
		answered, spoke := 0, false
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolCall:
				calls = append(calls, p.ID)
			case llm.ToolResult:
				if spoke || answered >= len(open) || open[answered] != p.ID {
					return fmt.Errorf("message %d: the result of %s is out of place (open: %v)", i, p.ID, open)
				}
				answered++
			case llm.Text:
				spoke = true
				if p.Text == "" {
					return fmt.Errorf("message %d holds an empty text", i)
				}
			}
		}
		if answered != len(open) {
			return fmt.Errorf("message %d answers %d of %d calls", i, answered, len(open))
		}
		open = calls
	}
	if len(open) > 0 || ms[len(ms)-1].Role != llm.User {
		return fmt.Errorf("a request ends with the user, this one with %d open calls of %d messages: %+v", len(open), len(ms), ms)
	}
	return nil
}
