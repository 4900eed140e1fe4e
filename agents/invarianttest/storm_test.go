package invarianttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fantail/.ci/long"
	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
)

// gate holds requests until it is opened.
type gate struct {
	mu sync.Mutex
	c  chan struct{}
}

func (g *gate) wait() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.c
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.c)
	g.c = make(chan struct{})
}

// scripted does what a prompt's words say, one call a word, and then answers.
func (g *gate) scripted(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
	words, done := strings.Fields(agentstest.Asked(req)), len(agentstest.Results(req))
	if done >= len(words) {
		return agentstest.Text("done: " + agentstest.Asked(req)), nil
	}
	id := fmt.Sprintf("c%d", done)
	switch words[done] {
	case "ask":
		return agentstest.Call(id, "bash", `{"command":"echo asked > asked"}`), nil
	case "run":
		return agentstest.Call(id, "list_files", `{}`), nil
	case "push":
		return agentstest.Call(id, "push", `{"prompt":"run","start":true}`), nil
	case "wake":
		return agentstest.Call(id, "push", `{"prompt":"run","start":true,"deliver":"wake"}`), nil
	case "receive":
		return agentstest.Call(id, "receive", `{"timeout":1}`), nil
	case "check":
		return agentstest.Call(id, "check", `{}`), nil
	case "send":
		return agentstest.Call(id, "send", `{"to":"main","message":"hello"}`), nil
	case "both": // a reply with two calls of the same id
		return append(agentstest.Call("same", "list_files", `{}`), agentstest.Call("same", "queue", `{}`)...), nil
	case "hold":
		select {
		case <-ctx.Done():
		case <-g.wait():
		}
		return agentstest.Text("held"), nil
	}
	return agentstest.Text("so far"), &llm.Error{Kind: llm.BadRequest, Provider: "test", Message: words[done]}
}

// storm is a pool under random use.
type storm struct {
	*agentstest.World
	g        *gate
	m        *agentstest.Model
	set      agentstest.Setting
	stop     context.CancelFunc // of the human's receives
	receives sync.WaitGroup
	n        int
}

// calm ends what waits for the human and waits for the rest.
func (s *storm) calm() {
	s.T.Helper()
	s.stop()
	s.receives.Wait()
	settled := make(chan error, 1)
	ctx, cancel := context.WithTimeout(s.T.Context(), 2*time.Minute)
	defer cancel()
	go func() { settled <- s.Pool.Settled(ctx) }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-settled:
			if err != nil {
				s.T.Fatalf("the pool does not settle: %v; agents %+v", err, s.Pool.Infos())
			}
			return
		case <-tick.C:
			s.g.open()
			for _, i := range s.Pool.Infos() {
				s.answers(i.Question)
			}
		}
	}
}

// answers answers a question with yes, if it is open. A call that was made often is asked about in words.
func (s *storm) answers(q *event.Question) {
	switch {
	case q == nil:
	case q.Asks == nil:
		s.Answer(q.ID, permission.Once)
	default:
		err := s.Pool.Asks.Answer(s.T.Context(), q.ID, event.Answer{Text: q.Asks.Options[0].Label})
		if err != nil && !errors.Is(err, event.ErrAnswered) && !strings.Contains(err.Error(), "about to ask it again") {
			s.T.Error(err)
		}
	}
}

// act does one random thing; errors that tell a human no are fine.
func (s *storm) act(rt *rapid.T) {
	ctx := s.T.Context()
	is := s.Pool.Infos()
	some := rapid.SampledFrom(is).Draw(rt, "agent")
	words := func() string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"ask", "run", "push", "wake", "receive", "check", "send", "both", "hold", "fail",
		}), 1, 4).Draw(rt, "words"), " ")
	}
	s.n++
	switch rapid.SampledFrom([]string{
		"push", "push", "push", "run", "run", "kill", "retry", "change", "stop", "answer", "check", "receive", "prompt", "next", "take back", "mode", "reopen",
	}).Draw(rt, "act") {
	case "push":
		var after []string
		if rapid.IntRange(0, 2).Draw(rt, "needs") == 0 && some.Kind == event.Sub {
			after = []string{strings.TrimRight(some.Name, "·0123456789")}
		}
		_, err := s.Pool.Tasks.Push(ctx, 1, tools.Task{
			After: after,
			Name:  rapid.SampledFrom([]string{"", "a", fmt.Sprint("t", s.n)}).Draw(rt, "name"), Prompt: words(),
			Deliver: rapid.SampledFrom([]string{"", "next", "wake"}).Draw(rt, "deliver"),
			Timeout: rapid.SampledFrom([]time.Duration{0, 0, 0, 20 * time.Millisecond}).Draw(rt, "timeout"),
		})
		if err != nil && !strings.Contains(err.Error(), "queued or runs") && !strings.Contains(err.Error(), "is an agent already") && !strings.Contains(err.Error(), "after=") {
			rt.Fatalf("push: %v", err)
		}
	case "run":
		s.Run(rapid.IntRange(0, 3).Draw(rt, "window"))
	case "kill":
		_ = s.Pool.Kill(ctx, some.Name, rapid.Bool().Draw(rt, "cascade")) // main and those that ended refuse
	case "retry":
		_, _, _ = s.Pool.Tasks.Retry(ctx, 1, some.Name, "a hint") // those that live refuse
	case "change":
		_, _ = s.Pool.Tasks.Move(ctx, some.Name, 1)
		_ = s.Pool.Tasks.Remove(ctx, "a") // it may have started
	case "stop":
		s.Pool.Stop(some.ID)
	case "answer":
		if some.Question != nil && some.Question.Asks == nil {
			s.Answer(some.Question.ID, rapid.SampledFrom([]permission.Choice{permission.Once, permission.No}).Draw(rt, "answer"))
		}
	case "check":
		_, _, err := s.Pool.Pickup.Check(ctx, 1, inbox.Query{})
		agentstest.Check(s.T, err)
	case "receive":
		until, cancel := context.WithCancel(ctx)
		old := s.stop
		s.stop = func() { old(); cancel() }
		pool := s.Pool
		s.receives.Go(func() { _, _ = pool.Pickup.Receive(until, 1, inbox.Query{}) }) // nothing may come
	case "prompt":
		s.Prompt(words())
	case "next":
		until, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		_, _, _ = s.Pool.Pickup.Next(until, 1, 0) // main may be busy
		cancel()
	case "take back":
		if n := len(is[0].Prompts); n > 0 {
			_, err := s.Pool.Unprompt(ctx, is[0].Prompts[n-1].ID)
			agentstest.Check(s.T, err)
		}
	case "mode":
		s.Pool.SetMode(context.Background(), rapid.SampledFrom([]permission.Mode{permission.Ask, permission.Yolo}).Draw(rt, "mode"))
	case "reopen":
		s.reopen()
	}
}

func (s *storm) reopen() {
	s.stop()
	s.Close()
	s.receives.Wait()
	s.stop = func() {}
	s.World = agentstest.Open(s.T, s.m, s.set)
}

// sound checks what must hold whenever the pool is calm.
func (s *storm) sound(rt *rapid.T) {
	pending, entered, ends := map[int64]bool{}, map[int64]int64{}, map[int64]int{}
	last := int64(1)
	var tasks []store.Task
	for id := int64(1); id <= last; id++ {
		l, err := s.Pool.Queue(s.T.Context(), id)
		agentstest.Check(s.T, err)
		for _, t := range l.Tasks {
			last = max(last, t.Agent)
		}
		tasks = append(tasks, l.Tasks...)
		ms, err := s.Pool.Letters.Inbox(s.T.Context(), id)
		agentstest.Check(s.T, err)
		for _, m := range ms {
			pending[m.ID] = true
			if m.Task != 0 {
				ends[m.Task]++
			}
		}
		es, err := s.Pool.Records.Page(s.T.Context(), id, 0, 100_000)
		agentstest.Check(s.T, err)
		turns := map[int64]int{}
		for _, e := range es {
			if e.Kind == history.EntryEnded {
				turns[e.Turn]++
			}
			for _, m := range e.Messages {
				if entered[m.ID] != 0 {
					rt.Fatalf("message %d entered twice: entries %d and %d", m.ID, entered[m.ID], e.Seq)
				}
				entered[m.ID] = e.Seq
				if m.Task != 0 {
					ends[m.Task]++
				}
			}
		}
		for turn, n := range turns {
			if n > 1 && turn != 0 {
				rt.Fatalf("turn %d ended %d times", turn, n)
			}
		}
	}
	for id := range entered {
		if pending[id] {
			rt.Fatalf("message %d entered and is pending", id)
		}
		m, ok, err := s.Pool.Letters.Message(s.T.Context(), id)
		agentstest.Check(s.T, err)
		if !ok || m.Entry != entered[id] {
			rt.Fatalf("message %d stands in entry %d, its row says %d", id, entered[id], m.Entry)
		}
	}
	for _, t := range tasks {
		want := 1
		switch t.State {
		case "running":
			rt.Fatalf("the pool is calm and task %s runs", t.Name)
		case "queued":
			want = 0
		}
		if ends[t.ID] != want {
			rt.Fatalf("task %s (%s, %s) has %d last messages, want %d", t.Name, t.State, t.Outcome, ends[t.ID], want)
		}
	}
	for _, r := range s.m.Seen() {
		if err := agentstest.Valid(r.Messages); err != nil {
			rt.Fatalf("a request: %v", err)
		}
	}
}

// TestPool_anyUse: whatever is done in whatever order, each task that started has
// exactly one last message, each taken message exactly one entry, and each
// request a valid history.
func TestPool_anyUse(t *testing.T) {
	t.Parallel()
	began, failed, limit := time.Now(), false, time.Duration(long.Times(1, 4))*time.Second
	rapid.Check(t, func(rt *rapid.T) {
		if !failed && time.Since(began) > limit {
			return // bounded; a failure is still made smaller
		}
		failed = true
		dir, err := os.MkdirTemp(t.TempDir(), "pool")
		agentstest.Check(t, err)
		g := &gate{c: make(chan struct{})}
		m := &agentstest.Model{Reply: g.scripted}
		set := agentstest.Setting{Dir: dir, Mode: permission.Ask, Cap: rapid.IntRange(1, 3).Draw(rt, "cap")}
		s := &storm{World: agentstest.Open(t, m, set), g: g, m: m, set: set, stop: func() {}}
		defer func() {
			s.stop()
			s.Close()
			s.receives.Wait()
		}()
		for range rapid.IntRange(1, 3).Draw(rt, "rounds") {
			for range rapid.IntRange(1, 12).Draw(rt, "acts") {
				s.act(rt)
			}
			s.calm()
			s.sound(rt)
		}
		failed = false
	})
}
