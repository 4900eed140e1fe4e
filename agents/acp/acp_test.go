package acp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/acp"
	"fantail/agents/acp/acptest"
)

// client is who uses a session.
type client struct {
	mu     sync.Mutex
	all    sync.WaitGroup
	heard  []string
	choose func(ctx context.Context, q acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error)
}

func (c *client) hear(u acp.SessionUpdate, _ int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch u := u.(type) {
	case acp.ContentChunk:
		c.heard = append(c.heard, fmt.Sprintf("%d:%s", u.Kind, u.Content.String()))
	case acp.ToolCallUpdate:
		text := "call " + u.ToolCallID + " " + u.Status.V
		for _, b := range u.Content.All {
			text += " " + b.Content.String()
		}
		c.heard = append(c.heard, text)
	case acp.UnknownUpdate:
		c.heard = append(c.heard, strings.TrimSpace("unknown "+u.Kind+" "+u.Err))
	default:
		c.heard = append(c.heard, fmt.Sprintf("%T", u))
	}
}

func (c *client) start(_ string, f func()) { c.all.Go(f) }

func (c *client) took() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := strings.Join(c.heard, " | ")
	c.heard = nil
	return text
}

func (c *client) options(o acp.Options) acp.Options {
	o.Vendor, o.Dir, o.OnUpdate = "fake", "/shop", c.hear
	o.Go, o.Grace = c.start, func(error) time.Duration { return 10 * time.Second }
	o.RequestPermission = func(ctx context.Context, q acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
		if c.choose != nil {
			return c.choose(ctx, q)
		}
		return acp.RequestPermissionOutcome{Outcome: "selected", OptionID: q.Options.All[0].OptionID}, nil
	}
	o.Elicit = func(context.Context, acp.CreateElicitationRequest) (acp.CreateElicitationResponse, error) {
		return acp.CreateElicitationResponse{Action: "accept", Content: map[string]any{"n": 1}}, nil
	}
	return o
}

// with runs f in fake time with a client; its goroutines have ended afterwards.
func with(t *testing.T, f func(t *testing.T, c *client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &client{}
		f(t, c)
		c.all.Wait()
	})
}

func (c *client) begin(t *testing.T, a *acptest.Agent, o acp.Options) *acp.Session {
	t.Helper()
	s, err := acp.NewSession(t.Context(), acptest.Run(c.start, func(in io.Reader, out io.WriteCloser) { _ = a.Serve(in, out) }), c.options(o))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPrompt(t *testing.T) {
	with(t, func(t *testing.T, c *client) {
		a := &acptest.Agent{Turn: func(t *acptest.Turn) string {
			t.Think("hm")
			t.Say("I ")
			t.Say("look.")
			t.Call("c1", "read", "Read a file")
			t.Done("c1", "its text")
			t.Update(`{"sessionUpdate":"plan","entries":[{"content":"first","status":"pending","priority":"low"}]}`)
			t.Update(`{"sessionUpdate":"brand_new","content":{"type":"text","text":"x"}}`)
			t.Update(`{"sessionUpdate":"agent_message_chunk"}`)
			t.Say("choice " + t.Ask("c2", "rm x", "allow_once", "reject_once"))
			if r, err := t.Request("elicitation/create", map[string]any{"message": "n?", "mode": "form"}); err != nil || string(r) != `{"action":"accept","content":{"n":1}}` {
				t.Say(fmt.Sprint(string(r), err))
			}
			if _, err := t.Request("fs/read_text_file", map[string]any{"path": "/etc/passwd"}); err == nil {
				t.Say("it read")
			}
			return ""
		}}
		s := c.begin(t, a, acp.Options{MCPServers: []acp.MCPServer{{Name: "fantail", Command: "/bin/f", Args: []string{"mcp"}, Env: []acp.EnvVariable{}}}})
		if a.Servers() != `[{"name":"fantail","command":"/bin/f","args":["mcp"],"env":[]}]` {
			t.Error(a.Servers())
		}
		stop, err := s.Prompt(t.Context(), "go")
		want := "1:hm | 0:I  | 0:look. | call c1 in_progress | call c1 completed its text | acp.Plan | unknown brand_new" +
			" | unknown agent_message_chunk it has no content | 0:choice allow_once"
		if got := c.took(); stop.StopReason != "end_turn" || err != nil || got != want {
			t.Errorf("%+v %v\n%s\n%s", stop, err, got, want)
		}
		s.End()
		if _, err := s.Prompt(t.Context(), "more"); err == nil {
			t.Error("a session that was ended takes words")
		}
	})
}

func TestPrompt_cancelled(t *testing.T) {
	with(t, func(t *testing.T, c *client) {
		deaf := false
		hold := make(chan struct{})
		a := &acptest.Agent{Turn: func(t *acptest.Turn) string {
			t.Say("working")
			<-t.Context.Done()
			if deaf {
				<-hold
			}
			return ""
		}}
		s := c.begin(t, a, acp.Options{})
		for _, deaf = range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Minute, cancel)
			began := time.Now()
			stop, err := s.Prompt(ctx, "go")
			switch took := time.Since(began); {
			case !deaf && (stop.StopReason != "cancelled" || err != nil || took != time.Minute):
				t.Error(stop, err, took)
			case deaf && (err == nil || !strings.Contains(err.Error(), "it did not stop in 10s") || took != time.Minute+10*time.Second):
				t.Error(stop, err, took)
			}
		}
		close(hold)
		s.End()
	})
}

func TestSteer(t *testing.T) {
	with(t, func(t *testing.T, c *client) {
		a := &acptest.Agent{Steers: true, Turn: func(t *acptest.Turn) string {
			t.Say("steered with " + <-t.Steered)
			return ""
		}}
		s := c.begin(t, a, acp.Options{})
		if taken, err := s.Steer(t.Context(), "early"); taken || err != nil || !s.Steers() {
			t.Error(taken, err)
		}
		c.all.Go(func() {
			if _, err := s.Prompt(t.Context(), "go"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if taken, err := s.Steer(t.Context(), "left"); !taken || err != nil {
			t.Error(taken, err)
		}
		synctest.Wait()
		if got := c.took(); got != "0:steered with left" {
			t.Error(got)
		}
		s.End()
	})
}

// A session goes on in another process, with or without what was said; one that the agent does not know is told of.
func TestBegin_again(t *testing.T) {
	with(t, func(t *testing.T, c *client) {
		dir := t.TempDir()
		agent := func(loads, resumes bool) *acptest.Agent {
			return &acptest.Agent{Dir: dir, Loads: loads, Resumes: resumes, Turn: func(t *acptest.Turn) string { t.Say("yes"); return "" }}
		}
		s := c.begin(t, agent(true, true), acp.Options{})
		if _, err := s.Prompt(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		id := s.ID()
		s.End()
		c.took()
		for _, k := range []struct {
			loads, resumes, whole bool
			want                  string
		}{
			{true, true, false, ""}, {true, true, true, "2:go | 0:yes"}, {true, false, false, "2:go | 0:yes"}, {false, true, false, ""},
		} {
			s := c.begin(t, agent(k.loads, k.resumes), acp.Options{Resume: id, Replay: k.whole})
			if got := c.took(); got != k.want || s.ID() != id {
				t.Errorf("%+v: %q, %s", k, got, s.ID())
			}
			s.End()
		}
		for _, o := range []acp.Options{{Resume: "other"}, {Resume: id, Replay: true}} {
			a := agent(o.Resume != id, true)
			p := acptest.Run(c.start, func(in io.Reader, out io.WriteCloser) { _ = a.Serve(in, out) })
			if _, err := acp.NewSession(t.Context(), p, c.options(o)); !errors.Is(err, acp.ErrNoSession) {
				t.Error(err)
			}
		}
	})
}

// However an agent fails as it begins, the error says so and its process has ended.
func TestBegin_fails(t *testing.T) {
	write := func(text string, then func(in io.Reader)) func(io.Reader, io.WriteCloser) {
		return func(in io.Reader, out io.WriteCloser) {
			_, _ = io.WriteString(out, text)
			if then != nil {
				then(in)
			}
		}
	}
	drain := func(in io.Reader) { _, _ = io.Copy(io.Discard, in) }
	answers := func(lines ...string) func(io.Reader, io.WriteCloser) {
		return func(in io.Reader, out io.WriteCloser) {
			asked := bufio.NewReader(in)
			for _, l := range lines {
				_, _ = asked.ReadString('\n')
				_, _ = io.WriteString(out, l+"\n")
			}
			drain(asked)
		}
	}
	for _, k := range []struct {
		name, want string
		serve      func(in io.Reader, out io.WriteCloser)
	}{
		{"ends", "fake: initialize: it ended (exit code 0): no such model", write("", nil)},
		{"is no agent", `it ended; it had written "Usage: fake [options]"`, write("Usage: fake [options]\n", nil)},
		{"half a line", "it ended in the middle of a message", write(`{"jsonrpc"`, nil)},
		{"says nothing", "it did not begin a session in 2m0s", write("", drain)},
		{"another version", "it speaks version 2 of the Agent Client Protocol, and this program speaks version 1", func(in io.Reader, out io.WriteCloser) { _ = (&acptest.Agent{Version: 2}).Serve(in, out) }},
		{"wants a login", "fake asks for a login", func(in io.Reader, out io.WriteCloser) { _ = (&acptest.Agent{Login: true}).Serve(in, out) }},
		{"floods", "it wrote a message of more than 16 MiB", write(strings.Repeat("x", 17<<20), drain)},
		{"no session", "it names no session", answers(`{"id":1,"result":{"protocolVersion":1}}`, `{"id":2,"result":{}}`)},
		{"a session that can't be read", "session/new: what came back can't be read", answers(`{"id":1,"result":{"protocolVersion":1}}`, `{"id":2,"result":{"sessionId":7}}`)},
	} {
		t.Run(k.name, func(t *testing.T) {
			with(t, func(t *testing.T, c *client) {
				p := acptest.Run(c.start, k.serve)
				p.Words = "warning: old\n\nno such model\n"
				if k.name == "ends" {
					p.Words = "no such model\n"
				}
				_, err := acp.NewSession(t.Context(), p, c.options(acp.Options{}))
				if err == nil || !strings.Contains(err.Error(), k.want) {
					t.Errorf("%v, want %s", err, k.want)
				}
				login := (*acp.LoginError)(nil)
				if errors.As(err, &login) != (k.name == "wants a login") || login != nil && login.AuthMethods[0].Description.V != "run fake login" {
					t.Error(login)
				}
				<-p.Exited()
			})
		})
	}
}

// A question is taken back when the agent dies or its turn is cancelled.
func TestPermit_takenBack(t *testing.T) {
	with(t, func(t *testing.T, c *client) {
		asked := make(chan struct{})
		c.choose = func(ctx context.Context, _ acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
			close(asked)
			<-ctx.Done()
			return acp.RequestPermissionOutcome{}, context.Cause(ctx)
		}
		a := &acptest.Agent{Turn: func(t *acptest.Turn) string { t.Ask("c", "rm", "allow_once"); return "" }}
		p := acptest.Run(c.start, func(in io.Reader, out io.WriteCloser) { _ = a.Serve(in, out) })
		s, err := acp.NewSession(t.Context(), p, c.options(acp.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		c.all.Go(func() {
			<-asked
			p.End() // as if it were killed
		})
		_, err = s.Prompt(t.Context(), "go")
		if fail := (*acp.Failure)(nil); !errors.As(err, &fail) || !strings.Contains(err.Error(), "it ended") {
			t.Error(err)
		}
		s.End()
	})
}

// A failure has the line that says why, though a trace of calls follows it.
func TestFailure_saysWhy(t *testing.T) {
	f := &acp.Failure{Vendor: "claude", Cause: errors.New("it ended"), Exit: "exit code 1", Stderr: "x:1\n\nError: Cannot find module 'sdk'\n" + strings.Repeat("    at call\n", 50) + "Node.js v20\n"}
	if got := f.Error(); got != "claude: it ended (exit code 1): Error: Cannot find module 'sdk' · at call · at call · Node.js v20" {
		t.Error(got)
	}
}
