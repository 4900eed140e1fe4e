package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools"
	"fantail/tools/mcp/logintest"
)

// guarded is a room with a server that wants a login, and what the human there says.
type guarded struct {
	*bed
	*logintest.Server
	calls atomic.Int64 // of its tool
	asked atomic.Int64
	says  func(ctx context.Context, q tools.Question) (string, error)
}

func lockedRoom(t *testing.T, o Options) *guarded {
	t.Helper()
	g := &guarded{}
	s := mcp.NewServer(&mcp.Implementation{Name: "tracker", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "issues"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		g.calls.Add(1)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "one issue"}}}, nil, nil
	})
	g.Server = logintest.New(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(func() {
		g.Server.Close()
		for one := range s.Sessions() {
			_ = one.Close()
		}
	})
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	kept := LoginOptions{Dir: filepath.Join(t.TempDir(), "logins"), Now: time.Now, Go: func(_ string, f func()) { all.Go(f) }}
	o.Login = func(s Server, base http.RoundTripper) (http.RoundTripper, error) {
		o := kept
		o.Base = base
		return NewLoginTransport(o, LoginClient{Server: s.Name, URL: s.URL})
	}
	o.Logins = NewSignIn(SignInOptions{LoginOptions: kept})
	g.bed = open(t, o, Server{Name: "tracker", URL: g.URL, Timeout: time.Minute})
	g.says = g.browses
	g.env.Ask = func(ctx context.Context, id, _ string, q tools.Question) (string, error) {
		if id != "call" {
			t.Errorf("call %q asks", id)
		}
		g.asked.Add(1)
		return g.says(ctx, q)
	}
	return g
}

// browses logs in in a browser of the human's own.
func (g *guarded) browses(ctx context.Context, q tools.Question) (string, error) {
	for line := range strings.Lines(q.Text) {
		if u, err := url.Parse(strings.TrimSpace(line)); err == nil && u.Host == g.Issuer {
			if err := g.Browse(u.String()); err != nil {
				return "", err
			}
		}
	}
	<-ctx.Done()
	return "", context.Cause(ctx)
}

// A server that was never asked for its tools lends one that logs in; with its tools known, the call itself asks, and is
// done once somebody is logged in.
func TestLogin(t *testing.T) {
	g := lockedRoom(t, Options{Dir: t.TempDir()})
	lent := g.Lend(t.Context())
	if len(lent) != 1 || lent[0].Name != "mcp__tracker__log_in" || g.state("tracker").Phase != NeedsLogin {
		t.Fatalf("%+v, %+v", lent, g.state("tracker"))
	}
	if r, _ := g.call(t.Context(), "mcp__tracker__log_in", `{}`); r.Error || !strings.Contains(r.Text, "logged in to tracker") {
		t.Fatalf("%+v", r)
	}
	if lent = g.Lend(t.Context()); len(lent) != 1 || lent[0].Name != "mcp__tracker__issues" || g.state("tracker").Phase != Ready {
		t.Fatalf("%+v, %+v", lent, g.state("tracker"))
	}
	g.Expire() // in the middle of its life
	if r, _ := g.call(t.Context(), "mcp__tracker__issues", `{}`); r.Text != "one issue" || g.asked.Load() != 2 || g.Logins() != 2 || g.calls.Load() != 1 {
		t.Errorf("%+v, asked %d times, %d logins, %d calls", r, g.asked.Load(), g.Logins(), g.calls.Load())
	}
	if s := g.state("tracker"); s.Phase != Ready {
		t.Errorf("%+v", s)
	}
}

// Without a human the line names the command, and what a human refused says so, until they want it.
func TestLogin_refused(t *testing.T) {
	g := lockedRoom(t, Options{})
	g.Lend(t.Context())
	ask := g.env.Ask
	g.env.Ask = nil
	if r, _ := g.call(t.Context(), "mcp__tracker__log_in", `{}`); !r.Error || !strings.Contains(r.Text, "tracker wants a login: fantail mcp login tracker") {
		t.Errorf("%+v", r)
	}
	g.env.Ask, g.says = ask, func(context.Context, tools.Question) (string, error) { return "cancel", nil }
	for range 2 {
		if r, _ := g.call(t.Context(), "mcp__tracker__log_in", `{}`); !r.Error || !strings.Contains(r.Text, "Nothing was called: the user does not want to log in to tracker at "+g.Issuer) {
			t.Errorf("%+v", r)
		}
	}
	if s := g.state("tracker"); g.asked.Load() != 1 || s.Phase != NeedsLogin {
		t.Errorf("asked %d times, %+v", g.asked.Load(), s)
	}
	board := LoginWaiter{Ask: g.browses}
	if err := g.Login(t.Context(), "tracker", board); err != nil || g.state("tracker").Phase != Ready {
		t.Errorf("%v, %+v", err, g.state("tracker"))
	}
	if err := g.Login(t.Context(), "tracker", board); err == nil || !strings.Contains(err.Error(), "wants no login") {
		t.Errorf("%v", err)
	}
}

// Two calls at once share the question, and both are done.
func TestLogin_together(t *testing.T) {
	g := lockedRoom(t, Options{})
	g.Lend(t.Context())
	if r, _ := g.call(t.Context(), "mcp__tracker__log_in", `{}`); r.Error {
		t.Fatalf("%+v", r)
	}
	g.Expire()
	waiting := make(chan struct{}, 2)
	g.env.Aside = func(string) func(context.Context) error {
		waiting <- struct{}{}
		return func(context.Context) error { return nil }
	}
	g.says = func(ctx context.Context, q tools.Question) (string, error) {
		<-waiting
		<-waiting
		return g.browses(ctx, q)
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if r, _ := g.call(t.Context(), "mcp__tracker__issues", `{}`); r.Text != "one issue" {
				t.Errorf("%+v", r)
			}
		})
	}
	both.Wait()
	if g.asked.Load() != 2 || g.Logins() != 2 || g.calls.Load() != 2 {
		t.Errorf("asked %d times, %d logins, %d calls", g.asked.Load(), g.Logins(), g.calls.Load())
	}
}

// A call that ends while it waits says so.
func TestLogin_stopped(t *testing.T) {
	g := lockedRoom(t, Options{})
	g.Lend(t.Context())
	ctx, stop := context.WithCancelCause(t.Context())
	g.says = func(ctx context.Context, _ tools.Question) (string, error) {
		stop(errors.New("the human pressed Esc"))
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	if r, _ := g.call(ctx, "mcp__tracker__log_in", `{}`); !r.Error || !strings.Contains(r.Text, "Nothing was called: the human pressed Esc") {
		t.Errorf("%+v", r)
	}
}
