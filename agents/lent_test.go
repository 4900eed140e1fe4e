package agents_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"fantail/agents"
	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/tools"
	"fantail/tools/files"
	"fantail/tools/permission"
)

// onePoint is a picture.
const onePoint = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// lender lends tools of a program that is not there.
type lender struct {
	mu    sync.Mutex
	names []string
	about string // of each
	runs  []string
	over  chan struct{} // once it is closed, the program asks nothing any more
}

func (l *lender) Lend(context.Context) (all []tools.Lent) {
	l.mu.Lock()
	names := l.names
	l.mu.Unlock()
	for _, n := range names {
		t, _ := l.Borrow(n)
		all = append(all, t)
	}
	return all
}

func (l *lender) Names() []string { return l.names }

func (l *lender) Borrow(name string) (tools.Lent, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := tools.Lent{Spec: tools.Spec{Name: name, Description: "Does " + name + l.about, Schema: json.RawMessage(`{"type":"object"}`)}, From: "db"}
	t.Parse = func(env *tools.Runtime, id string, args json.RawMessage) (*tools.Call, error) {
		return &tools.Call{Action: permission.Action{Tool: name, Kind: permission.Foreign, Dir: env.Root, Input: string(args)}, Run: func(ctx context.Context) tools.Result {
			l.mu.Lock()
			l.runs = append(l.runs, name+string(args))
			l.mu.Unlock()
			if strings.HasSuffix(name, "shows") {
				data, err := base64.StdEncoding.DecodeString(onePoint)
				if err != nil {
					return tools.Result{Text: err.Error(), Error: true}
				}
				image, _ := files.PictureOf(data)
				image.File, err = files.KeepPicture(env.Outputs, id, image.Type, data)
				return tools.Result{Text: fmt.Sprint("an image, ", err), Shows: []files.Picture{image}}
			}
			if strings.HasSuffix(name, "gives_up") {
				back := env.Aside("waiting for the program")
				ctx, stop := context.WithCancel(ctx)
				go func() {
					<-l.over
					stop()
				}()
				_, err := env.Ask(ctx, id, "the program asks", tools.Question{Text: "Which table?"})
				return tools.Result{Text: fmt.Sprint("nobody said: ", err, " ", back(context.WithoutCancel(ctx)))}
			}
			if strings.HasSuffix(name, "asks") {
				if env.Ask == nil {
					return tools.Result{Text: "nobody is there"}
				}
				said, err := env.Ask(ctx, id, "the program asks", tools.Question{Text: "Which table?", Options: []tools.Option{{Label: "a"}, {Label: "b"}}})
				return tools.Result{Text: fmt.Sprint("they said ", said, " ", err)}
			}
			return tools.Result{Text: "did " + name}
		}}, nil
	}
	return t, strings.HasPrefix(name, "mcp__db__")
}

func (l *lender) lends(names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names = names
}

// lentCaller is a model that calls the tool that the prompt names, once.
func lentCaller(_ context.Context, req *llm.Request) ([]llm.Part, error) {
	if rs := results(req); len(rs) > 0 {
		return text(rs[len(rs)-1].Text), nil
	}
	name, args, _ := strings.Cut(asked(req), " ")
	if !strings.HasPrefix(name, "mcp__") && name != "find_tool" {
		return text("hi"), nil
	}
	return call("c1", name, args), nil
}

// lent are the names of the tools in a request that others lend, and that find those.
func lent(req *llm.Request) (all []string) {
	for _, t := range req.Tools {
		if strings.HasPrefix(t.Name, tools.LentName) || t.Name == "find_tool" {
			all = append(all, t.Name)
		}
	}
	return all
}

// A tool of another program passes the gate like any other: it asks, an answer for the session holds for that tool alone,
// and the human sees what it is called with.
func TestLent(t *testing.T) {
	l := &lender{}
	l.lends("mcp__db__query", "mcp__db__drop")
	m := &model{Reply: lentCaller}
	w := open(t, m, setting{Mode: permission.Ask, Lends: l})
	w.Prompt(`mcp__db__query {"sql":"select 1"}`)
	q := w.asks("main")
	if q.Action.Input != `{"sql":"select 1"}` || q.Rule != "mcp__db__query" || !strings.HasPrefix(q.Action.Title, "mcp__db__query {") {
		t.Errorf("%+v", q)
	}
	check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Choice: permission.Session}))
	w.Settle()
	if got := lent(m.Last()); len(got) != 2 {
		t.Error(got)
	}
	c, err := w.Pool.Records.Context(t.Context(), w.Main())
	check(t, err)
	if i := slices.IndexFunc(c.Parts, func(p agents.ContextPart) bool { return p.What == "tools of MCP servers" }); i < 0 || c.Parts[i].Items != 2 || c.Parts[i].Tokens == 0 {
		t.Errorf("%+v", c.Parts)
	}
	w.Prompt(`mcp__db__query {"sql":"select 2"}`)
	w.Settle()
	w.Prompt(`mcp__db__drop {}`)
	q = w.asks("main")
	check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Choice: permission.No, Reason: "keep it"}))
	w.Settle()
	l.mu.Lock()
	defer l.mu.Unlock()
	if got := strings.Join(l.runs, " "); got != `mcp__db__query{"sql":"select 1"} mcp__db__query{"sql":"select 2"}` {
		t.Error(got)
	}
	if err := w.Pool.Permissions.Revoke(t.Context(), "mcp__db__query"); err != nil {
		t.Error(err)
	}
}

// What a program changes of its tools shows from the next turn on: within one the cached beginning of a request stays.
func TestLent_fixedForATurn(t *testing.T) {
	l := &lender{}
	l.lends("mcp__db__one")
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		l.lends("mcp__db__one", "mcp__db__two")
		return lentCaller(ctx, req)
	}
	w := open(t, m, setting{Lends: l})
	w.Prompt(`mcp__db__one {}`)
	w.Settle()
	w.Prompt("hello")
	w.Settle()
	seen := m.Seen()
	if a, b, c := lent(seen[0]), lent(seen[1]), lent(seen[2]); len(a) != 1 || len(b) != 1 || len(c) != 2 {
		t.Error(a, b, c)
	}
}

// Too many tools for the window are found, not listed.
func TestLent_found(t *testing.T) {
	l := &lender{about: strings.Repeat(" and more", 100)}
	var names []string
	for n := range 300 {
		names = append(names, fmt.Sprintf("mcp__db__job_%03d", n))
	}
	l.lends(names...)
	m := &model{Reply: lentCaller}
	w := open(t, m, setting{Mode: permission.Ask, Lends: l})
	w.Prompt(`find_tool {"query":"job_042"}`)
	w.Settle()
	seen := m.Seen()
	if a, b := lent(seen[0]), lent(seen[1]); len(a) != 1 || a[0] != "find_tool" || len(b) < 2 || b[1] != "mcp__db__job_042" {
		t.Error(a, b)
	}
}

// A program's question while it works on a call is the agent's, and waits in the inbox; one that nobody attends is told so.
func TestLent_asks(t *testing.T) {
	l := &lender{}
	l.lends("mcp__db__asks")
	w := open(t, &model{Reply: lentCaller}, setting{Mode: permission.Yolo, Lends: l})
	said := func(name string) (last string) {
		for _, e := range w.Entries(name) {
			if e.Kind == history.EntryText {
				last = e.Text
			}
		}
		return last
	}
	w.Prompt(`mcp__db__asks {}`)
	q := w.asks("main")
	check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Text: "b"}))
	w.Settle()
	if got := said("main"); got != "they said b <nil>" {
		t.Error(got)
	}
	w.Push("job", `mcp__db__asks {}`)
	w.Run(1)
	q = w.asks("job")
	if _, m := w.row(q.ID); m.ID == 0 || !strings.Contains(m.Body, "Which table?") || !strings.Contains(m.Body, "2. b") {
		t.Errorf("%+v", m)
	}
	check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Text: "a"}))
	w.Until("job is done", func() bool { return w.Info("job").State == event.Done })
	if got := said("job"); got != "they said a <nil>" {
		t.Error(got)
	}
}

// What a program asks no more is withdrawn from the inbox at once, and its call goes on; meanwhile it holds no slot, and
// gets one back.
func TestLent_asksNoMore(t *testing.T) {
	l := &lender{over: make(chan struct{})}
	l.lends("mcp__db__gives_up", "mcp__db__one")
	w := open(t, &model{Reply: lentCaller}, setting{Mode: permission.Yolo, Lends: l, Cap: 1})
	w.Push("job", `mcp__db__gives_up {}`)
	w.Push("other", `mcp__db__one {}`)
	w.Run(2)
	q := w.asks("job")
	w.Until("other is done", func() bool { return w.Info("other").State == event.Done })
	close(l.over)
	w.Until("job is done", func() bool { return w.Info("job").State == event.Done })
	row, m := w.row(q.ID)
	if ans := event.AnswerOf(row); ans.Settled != "it is not asked any more" || m.Taken.IsZero() {
		t.Errorf("%+v, %+v", ans, m)
	}
	if err := w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Text: "a"}); !errors.Is(err, event.ErrSettled) {
		t.Error(err)
	}
	if all := w.Entries("job"); !slices.ContainsFunc(all, func(e history.Entry) bool { return e.Text == "nobody said: context canceled <nil>" }) {
		t.Errorf("%+v", all)
	}
}

// programAsksThenDies is a life that ends by kill -9 while a program that works on a call asks.
func programAsksThenDies(t *testing.T, dir, _ string) {
	l := &lender{}
	l.lends("mcp__db__asks")
	w := open(t, &model{Reply: lentCaller}, setting{Dir: dir, Mode: permission.Yolo, Lends: l})
	w.Push("job", `mcp__db__asks {}`)
	w.Run(1)
	w.asks("job")
	fmt.Println("READY")
	<-make(chan struct{})
}

// The question of a program that died with the host is no trap: it is closed, answering it says what happened, and the call
// is not made again.
func TestLent_killed(t *testing.T) {
	dir := t.TempDir()
	if !agentstest.Lived(t, "program asks", dir, "", func(line string) bool { return line == "READY" }) {
		t.Fatal("the first life ended by itself")
	}
	l := &lender{}
	l.lends("mcp__db__asks")
	w := open(t, &model{Reply: lentCaller}, setting{Dir: dir, Mode: permission.Yolo, Lends: l})
	w.Main()
	w.State("job", event.Crashed)
	if _, m := w.row(1); m.ID == 0 || m.Taken.IsZero() {
		t.Errorf("it waits still: %+v", m)
	}
	err := w.Pool.Asks.Answer(t.Context(), 1, event.Answer{Text: "a"})
	if !errors.Is(err, event.ErrSettled) || !strings.Contains(err.Error(), "the turn was cut") {
		t.Errorf("answering says %v", err)
	}
	if len(l.runs) != 0 {
		t.Error(l.runs)
	}
}

// A fork, which answers a message by itself, gets none.
func TestLent_notForForks(t *testing.T) {
	l := &lender{}
	l.lends("mcp__db__one")
	m := forked(func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(lent(req)) != 0 {
			t.Error("a fork is lent", lent(req))
		}
		if rs := results(req); len(rs) > 0 {
			return text(rs[0].Text), nil
		}
		return call("f", "mcp__db__one", `{}`), nil
	})
	w := open(t, m, setting{Lends: l})
	w.Prompt("remember the token")
	w.Settle()
	check(t, w.Pool.Fork(w.Main(), w.from("research", "which flow?")))
	w.Until("the fork closed", func() bool { return w.Info("main-fork-1").State.Terminal() })
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.runs) != 0 {
		t.Error(l.runs)
	}
}
