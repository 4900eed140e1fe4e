package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/kept"
	"fantail/agents/llm"
	"fantail/agents/turn"
	"fantail/inbox/policy"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
	"fantail/tools/allowance"
	"fantail/tools/permit"
	"fantail/tools/sandbox/cell"
	"fantail/tools/secret"
)

func TestMain(m *testing.M) {
	cell.Act(os.Args)
	if child() || live() || caller() {
		return
	}
	goleak.VerifyTestMain(m)
}

// model is a provider whose replies a test writes as functions of the request.
type model struct {
	mu       sync.Mutex
	requests []*llm.Request
	reply    func(ctx context.Context, req *llm.Request) ([]llm.Part, error)
}

func (m *model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		m.mu.Lock()
		m.requests = append(m.requests, req)
		m.mu.Unlock()
		parts, err := m.reply(ctx, req)
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

func (m *model) seen() []*llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]*llm.Request(nil), m.requests...)
}

func text(s string) []llm.Part { return []llm.Part{llm.Text{Text: s}} }

func call(id, name, args string) []llm.Part {
	return []llm.Part{llm.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}}
}

// asked is the text of the last prompt of a request.
func asked(req *llm.Request) string {
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

// results counts the tool results behind the last prompt of a request.
func results(req *llm.Request) (rs []llm.ToolResult) {
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

// world is a pool over a real database in a directory of its own.
type world struct {
	t       testing.TB
	dir     string
	db      *store.DB
	pool    *agents.Pool
	feed    *event.Feed
	infos   map[int64]event.Info
	tally   event.Tally
	shown   map[int64]string // the output of a running command
	here    *fleet.Human     // who sits at the test's screen; nil until human is called
	trouble error            // what the screens show of that nobody has asked for
}

// human is who sits at the test's screen.
func (w *world) human() *fleet.Human {
	if w.here == nil {
		w.here = w.pool.Arrive()
	}
	return w.here
}

type setting struct {
	dir    string
	mode   permit.Mode
	moded  string // why it is that
	cap    int
	atOnce map[string]int              // by model: how many agents it serves
	now    func() time.Time            // the database's clock; nil: the real one
	gone   func(model string) bool     // it is no longer configured
	start  func(name string, f func()) // instead of go
	system func(i event.Info) string
	trace  func(statement string) // hears of the writer's statements
	rules  map[string]policy.Rules
	keys   *secret.Keys     // what nothing may hold
	env    []string         // of commands
	clock  func() time.Time // the pool's; nil: the real one
	jumps  func(ctx context.Context, tell func()) error
	wall   permit.Wall // what box makes is worth
	box    turn.Boxes
	kept   func(*permit.Gate) *kept.Watch
	price  func(llm.Usage) int64 // of test/priced
	budget allowance.Amount      // of tasks that name none
	limit  time.Duration         // the same
}

func open(t testing.TB, m llm.Provider, s setting) *world {
	t.Helper()
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	if s.mode == "" {
		s.mode = permit.Yolo
	}
	if s.system == nil {
		s.system = func(i event.Info) string { return "You are " + i.Name }
	}
	gate, err := permit.NewGate(s.mode, nil)
	check(t, err)
	gate.Boxes(s.wall)
	var watch *kept.Watch
	if s.kept != nil {
		watch = s.kept(gate)
	}
	db, err := storetest.Open(t.Context(), filepath.Join(s.dir, "fantail.db"), store.Options{Trace: s.trace, Now: s.now, Withhold: s.keys.Row})
	check(t, err)
	pool, err := agents.Open(t.Context(), agents.Options{
		DB: db, Tools: tools.New(), Gate: gate, Moded: s.moded, Model: "test/one", Root: s.dir, Data: s.dir,
		Resolve: func(name string) (llm.Model, error) {
			if !strings.HasPrefix(name, "test/") || (s.gone != nil && s.gone(name)) {
				return llm.Model{}, fmt.Errorf("no model %s; known: test/one", name)
			}
			price := s.price
			if name != "test/priced" {
				price = nil
			}
			return llm.Model{
				Price: price, Name: name, Provider: m, ID: strings.TrimPrefix(name, "test/"), Window: 100_000,
				Vendor: strings.TrimPrefix(name, "test/"), AtOnce: s.atOnce[name],
			}, nil
		},
		System: s.system, Cap: s.cap, Go: s.start, Rules: s.rules, Keys: s.keys, Environ: s.env, Now: s.clock, Jumps: s.jumps, Box: s.box, Kept: watch, Budget: s.budget, Limit: s.limit,
	})
	check(t, err)
	w := &world{t: t, dir: s.dir, db: db, pool: pool, feed: pool.Subscribe(), infos: map[int64]event.Info{}, shown: map[int64]string{}}
	t.Cleanup(w.close)
	return w
}

func (w *world) close() {
	if w.db == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := w.pool.Close(ctx); err != nil {
		w.t.Error(err)
	}
	w.feed.Close()
	if err := w.db.Close(); err != nil {
		w.t.Error(err)
	}
	w.db = nil
}

// until waits for events until ok holds.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for {
		for _, e := range w.feed.Take() {
			switch e := e.(type) {
			case event.Changed:
				w.infos[e.ID] = e.Info
			case event.Tally:
				w.tally = e
			case event.Trouble:
				w.trouble = e.Err
			case event.Output:
				w.shown[e.Agent] = e.Tail
			}
		}
		if ok() {
			return
		}
		select {
		case <-w.feed.Wait():
		case <-limit.C:
			w.t.Fatalf("waited in vain until %s; agents: %+v", what, w.infos)
		}
	}
}

func (w *world) info(name string) event.Info {
	for _, i := range w.infos {
		if i.Name == name {
			return i
		}
	}
	return event.Info{}
}

func (w *world) state(name string, s event.State) {
	w.t.Helper()
	w.until(name+" is "+string(s), func() bool { return w.info(name).State == s })
}

// output waits until a running command of the agent shows s.
func (w *world) output(name, s string) {
	w.t.Helper()
	w.until(name+" shows "+s, func() bool { return strings.Contains(w.shown[w.info(name).ID], s) })
}

func (w *world) main() int64 {
	w.t.Helper()
	w.until("there is main", func() bool { return w.info("main").ID != 0 })
	return w.info("main").ID
}

// unattended opens a conversation that nobody attends.
func (w *world) unattended(ctx context.Context, u agents.Unattended) *agents.Conversation {
	w.t.Helper()
	if u.Mode == "" {
		u.Mode = permit.Yolo
	}
	c, err := w.pool.Scripts.Open(ctx, u)
	check(w.t, err)
	return c
}

func (w *world) prompt(s string) {
	w.t.Helper()
	check(w.t, w.pool.Prompt(w.t.Context(), w.main(), s))
}

func (w *world) push(name, prompt string) {
	w.t.Helper()
	_, err := w.pool.Tasks.Push(w.t.Context(), w.main(), tools.Task{Name: name, Prompt: prompt})
	check(w.t, err)
}

func (w *world) run(n int) agents.Ran {
	w.t.Helper()
	r, err := w.pool.Run(w.t.Context(), w.main(), tools.Start{Count: n})
	check(w.t, err)
	return r
}

// consent is run, with a yes to what that asks about.
func (w *world) consent(n int) agents.Ran {
	w.t.Helper()
	r := w.run(n)
	for len(r.Asked) > 0 {
		r = w.run(n)
	}
	return r
}

// answer answers a question for the human; false: it is not open.
func (w *world) answer(question int64, c permit.Choice, reason ...string) bool {
	w.t.Helper()
	var err error
	w.until("the question is open", func() bool { // at a start, its agent may be about to ask it again
		err = w.pool.Asks.Answer(context.Background(), question, event.Answer{Choice: c, Reason: strings.Join(reason, " ")})
		return err == nil || !strings.Contains(err.Error(), "about to ask it again")
	})
	if err != nil && !errors.Is(err, event.ErrAnswered) {
		w.t.Error(err)
	}
	return err == nil
}

// settle waits until nothing is under way.
func (w *world) settle() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	if err := w.pool.Settled(ctx); err != nil {
		w.t.Fatalf("the pool does not settle: %v; agents: %+v", err, w.pool.Infos())
	}
}

// entries is an agent's transcript, nil while there is no such agent.
func (w *world) entries(name string) []history.Entry {
	w.t.Helper()
	for _, i := range w.pool.Infos() {
		if i.Name == name {
			es, err := w.pool.Ledger.Page(w.t.Context(), i.ID, 0, 1000)
			check(w.t, err)
			return es
		}
	}
	return nil
}

func kinds(es []history.Entry) string {
	var ks []string
	for _, e := range es {
		ks = append(ks, string(e.Kind))
	}
	return strings.Join(ks, " ")
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// valid says what a provider would refuse in a conversation.
func valid(ms []llm.Message) error {
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
