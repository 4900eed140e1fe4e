package mcp

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fantail/tools"
	"fantail/tools/mcp/logintest"
)

// site is a server that wants a login, a desk, and what was asked there.
type site struct {
	t *testing.T
	*logintest.Server
	*SignIn
	client LoginClient

	opened atomic.Int64
	asks   chan asked // each question that is open
	aside  atomic.Int64
}

// asked is an open question.
type asked struct {
	by   string
	q    tools.Question
	says chan string
	gone <-chan struct{} // closed once it is not asked any more
}

func newSite(t *testing.T, change ...func(*SignInOptions)) *site {
	s := &site{t: t, Server: logintest.New(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("hello"))
	})), asks: make(chan asked)}
	t.Cleanup(s.Close)
	s.client = LoginClient{Server: "tracker", URL: s.URL}
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	o := SignInOptions{
		LoginOptions: LoginOptions{Dir: t.TempDir(), Now: time.Now, Go: func(_ string, f func()) { all.Go(f) }},
		Open: func(_ context.Context, address string, _ []string) error {
			s.opened.Add(1)
			return s.Browse(address)
		},
	}
	for _, f := range change {
		f(&o)
	}
	s.SignIn = NewSignIn(o)
	return s
}

// fault is what a request without a login meets; nil: none is needed.
func (s *site) fault() *LoginFault {
	s.t.Helper()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	o := s.o.LoginOptions
	o.Base = base
	t, err := NewLoginTransport(o, s.client)
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodGet, s.URL, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := t.RoundTrip(req)
	if err == nil {
		_ = resp.Body.Close()
		return nil
	}
	f := LoginFaultOf(err)
	if f == nil {
		s.t.Fatal(err)
	}
	return f
}

// waits has somebody of that name wait for the login.
func (s *site) waits(ctx context.Context, by string, f *LoginFault, anew bool) chan error {
	w := LoginWaiter{Anew: anew, Ask: func(ctx context.Context, q tools.Question) (string, error) {
		a := asked{by: by, q: q, says: make(chan string), gone: ctx.Done()}
		select {
		case s.asks <- a:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		select {
		case said := <-a.says:
			return said, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}, Aside: func(string) func(context.Context) error {
		s.aside.Add(1)
		return func(context.Context) error {
			s.aside.Add(-1)
			return nil
		}
	}}
	ended := make(chan error, 1)
	s.o.Go("wait for a login", func() { ended <- s.Login(ctx, s.client, f, w) })
	return ended
}

// address is the one that a question shows.
func (a asked) address(t *testing.T) string {
	t.Helper()
	for line := range strings.Lines(a.q.Text) {
		if strings.HasPrefix(line, "http") {
			return strings.TrimSpace(line)
		}
	}
	t.Fatalf("no address stands in %q", a.q.Text)
	return ""
}

func want(t *testing.T, ended chan error, says string) {
	t.Helper()
	err := <-ended
	if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
		t.Fatalf("it ends with %v, not with %q", err, says)
	}
}

// until waits for what others do meanwhile.
func until(t *testing.T, is func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("it does not come")
		}
	}
}

// The question names both hosts and shows the whole address; nothing is opened before the human says so, and the browser
// that comes back ends the question.
func TestOpen(t *testing.T) {
	s := newSite(t)
	ended := s.waits(t.Context(), "main", s.fault(), false)
	a := <-s.asks
	for _, has := range []string{"tracker wants a login at the host " + s.Issuer + ".", "The server is at the host " + s.At + ".", "code_challenge="} {
		if !strings.Contains(a.q.Text, has) {
			t.Errorf("no %q in %q", has, a.q.Text)
		}
	}
	if s.opened.Load() != 0 || s.Logins() != 0 {
		t.Error("something was opened unasked")
	}
	a.says <- labelOpen
	want(t, ended, "")
	if s.opened.Load() != 1 || s.Logins() != 1 || s.fault() != nil || s.aside.Load() != 0 {
		t.Errorf("opened %d times, %d logins, %v, %d aside", s.opened.Load(), s.Logins(), s.fault(), s.aside.Load())
	}
}

// A browser that the human began by themselves ends the question too.
func TestBrowser_comesBack(t *testing.T) {
	s := newSite(t)
	ended := s.waits(t.Context(), "main", s.fault(), false)
	a := <-s.asks
	if err := s.Browse(a.address(t)); err != nil {
		t.Fatal(err)
	}
	<-a.gone
	want(t, ended, "")
}

// From another machine the address at which the browser ended is pasted. That of another login is not taken, nor sent
// anywhere, and asked for again; in the end it fails.
func TestPaste(t *testing.T) {
	s := newSite(t)
	ended := s.waits(t.Context(), "main", s.fault(), false)
	a := <-s.asks
	back, err := s.Agree(a.address(t))
	if err != nil {
		t.Fatal(err)
	}
	a.says <- strings.Replace(back, "state=", "state=x", 1)
	a = <-s.asks
	if !strings.HasPrefix(a.q.Text, "That is not the address") || s.Logins() != 0 {
		t.Errorf("%d logins, it asks %q", s.Logins(), a.q.Text)
	}
	a.says <- " " + back + "\n"
	want(t, ended, "")

	s.Expire()
	ended = s.waits(t.Context(), "main", s.fault(), false)
	for range maxWrongCallbacks + 1 {
		(<-s.asks).says <- back // of the first login
	}
	want(t, ended, "not the address")
	if s.Logins() != 1 {
		t.Errorf("%d logins", s.Logins())
	}
}

// A no is a no for all who come later, until the human wants it.
func TestCancel(t *testing.T) {
	s := newSite(t)
	f := s.fault()
	ended := s.waits(t.Context(), "main", f, false)
	(<-s.asks).says <- "cancel"
	want(t, ended, "does not want to log in to tracker at "+s.Issuer)
	want(t, s.waits(t.Context(), "b", f, false), "does not want to log in")
	ended = s.waits(t.Context(), "board", f, true)
	(<-s.asks).says <- "open"
	want(t, ended, "")
}

// All who wait share one question. When the one that asks leaves, another asks the same; when all have left, it is over.
func TestTogether(t *testing.T) {
	s := newSite(t)
	f := s.fault()
	ctx, leave := context.WithCancel(t.Context())
	one := s.waits(ctx, "one", f, false)
	first := <-s.asks
	two, three := s.waits(t.Context(), "two", f, false), s.waits(t.Context(), "three", f, false)
	until(t, func() bool { return s.aside.Load() == 3 })
	select {
	case a := <-s.asks:
		t.Fatalf("%s asks too", a.by)
	default:
	}
	leave()
	want(t, one, context.Canceled.Error())
	next := <-s.asks
	if next.address(t) != first.address(t) {
		t.Error("the address has changed")
	}
	next.says <- "open"
	want(t, two, "")
	want(t, three, "")
	if s.Logins() != 1 || s.aside.Load() != 0 {
		t.Errorf("%d logins, %d aside", s.Logins(), s.aside.Load())
	}

	s.Expire()
	ctx, leave = context.WithCancel(t.Context())
	one = s.waits(ctx, "one", s.fault(), false)
	last := <-s.asks
	leave()
	want(t, one, context.Canceled.Error())
	until(t, func() bool { return s.Browse(last.address(t)) != nil }) // nobody listens there any more
}

// The human at a board is asked though an agent is, and either answer counts.
func TestAnew_beside(t *testing.T) {
	s := newSite(t)
	f := s.fault()
	agent := s.waits(t.Context(), "agent", f, false)
	a := <-s.asks
	board := s.waits(t.Context(), "board", f, true)
	b := <-s.asks
	b.says <- "open"
	<-a.gone
	want(t, agent, "")
	want(t, board, "")
}

func TestLate(t *testing.T) {
	s := newSite(t, func(o *SignInOptions) { o.Lasts = 50 * time.Millisecond })
	ended := s.waits(t.Context(), "main", s.fault(), false)
	<-(<-s.asks).gone
	want(t, ended, "nobody logged in to tracker within 50ms; the next call asks again")
}

// Whoever waits ends with what failed, and nobody is asked where there is nothing to ask.
func TestFails(t *testing.T) {
	s := newSite(t, func(o *SignInOptions) {
		o.Open = func(context.Context, string, []string) error { return errors.New("no screen\x1b[2J") }
	})
	f := s.fault()
	ended := s.waits(t.Context(), "main", f, false)
	(<-s.asks).says <- "open"
	a := <-s.asks
	if !strings.HasPrefix(a.q.Text, "No browser can be opened where Fantail runs: no screen") || strings.Contains(a.q.Text, "\x1b") {
		t.Errorf("it asks %q", a.q.Text)
	}
	a.says <- "" // what is left of it was settled
	want(t, ended, "was closed")
	s.Server.Close()
	want(t, s.waits(t.Context(), "main", f, false), "the login to tracker failed")
}

// Somebody who logged in meanwhile is enough.
func TestElsewhere(t *testing.T) {
	s := newSite(t)
	f := s.fault()
	ended := s.waits(t.Context(), "main", f, false)
	(<-s.asks).says <- "open"
	want(t, ended, "")
	want(t, s.waits(t.Context(), "late", f, false), "")
	if s.Logins() != 1 {
		t.Errorf("%d logins", s.Logins())
	}
}

func TestBrowse(t *testing.T) {
	dir := t.TempDir()
	program := func(name, script string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program("xdg-open", `echo "$1" >`+dir+"/seen\n")
	program("broken", "exit 3\n")
	environ := []string{"PATH=" + dir + ":/usr/bin:/bin"}
	const address = "https://auth.example/a?b=c&d=$(id)"
	if err := Browse(t.Context(), address, environ); err != nil {
		t.Fatal(err)
	}
	if seen, err := os.ReadFile(filepath.Join(dir, "seen")); err != nil || strings.TrimSpace(string(seen)) != address {
		t.Errorf("it saw %q, %v", seen, err)
	}
	if err := Browse(t.Context(), address, append(environ, "BROWSER=broken:xdg-open")); err == nil || !strings.Contains(err.Error(), "broken: exit status 3") {
		t.Errorf("it ends with %v", err)
	}
	if err := Browse(t.Context(), address, []string{"PATH=" + t.TempDir()}); err == nil {
		t.Error("nothing opened it")
	}
}
