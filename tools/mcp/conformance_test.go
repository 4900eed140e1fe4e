package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"fantail/tools"
)

// conforming names the variable that makes the test's program a client of the protocol's conformance suite.
const conforming = "FANTAIL_TEST_CONFORMING"

// unlike are the suite's scenarios for clients that this client does not go through, and why. Each must fail: what passes
// has no place here.
var unlike = map[string]string{
	"auth/2025-03-26-oauth-metadata-backcompat": "its metadata names another issuer than where it was found, which RFC 8414 forbids and the suite's later versions refuse too",
	"auth/client-credentials-jwt":               "a login without a human: a program's own key; tokens of that kind are given in headers",
	"auth/client-credentials-basic":             "a login without a human: a program's own secret; tokens of that kind are given in headers",
	"auth/cross-app-access-complete-flow":       "a login through an enterprise's own provider, an extension",
}

// suite runs the protocol's conformance suite, from npm, where the tests have it.
func suite(t *testing.T, args ...string) (string, error) {
	t.Helper()
	dir := os.Getenv("FANTAIL_TEST_ADAPTERS")
	bin := filepath.Join(dir, "node_modules", ".bin")
	program := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	if _, err := os.Stat(program); dir == "" || err != nil {
		t.Skip("SKIPPED: the protocol's conformance suite is not installed (FANTAIL_TEST_ADAPTERS)")
	}
	c := exec.CommandContext(t.Context(), filepath.Join(bin, "node"), append([]string{program}, args...)...)
	c.Dir, c.WaitDelay = t.TempDir(), time.Second
	c.Env = append(os.Environ(), conforming+"=1", "NO_COLOR=1")
	out, err := c.CombinedOutput()
	return string(out), err
}

// scenarios are the names that the suite lists for who is tested by that option.
func scenarios(t *testing.T, option string) (all []string) {
	t.Helper()
	out, err := suite(t, "list", option)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, m := range regexp.MustCompile(`(?m)^ +- (\S+)`).FindAllStringSubmatch(out, -1) {
		all = append(all, m[1])
	}
	if len(all) < 20 {
		t.Fatalf("it lists %q", out)
	}
	return all
}

// The client goes through what the protocol's own suite has servers do, but for what the table names.
func TestOfficial_conformance(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := scenarios(t, "--client")
	known := map[string]bool{}
	turns := make(chan struct{}, 3)
	for _, name := range all {
		known[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turns <- struct{}{}
			defer func() { <-turns }()
			out, err := suite(t, "client", "--command", self, "--scenario", name, "--timeout", "60000")
			switch why, is := unlike[name]; {
			case is && !strings.Contains(out, "OVERALL: FAILED"):
				t.Errorf("it passes, and the table says that it does not: %s", why)
			case !is && err != nil:
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	for name := range unlike {
		if !known[name] {
			t.Errorf("the suite has no scenario %s any more", name)
		}
	}
}

// conform goes as a client through the scenario that the suite has begun at that address: it reaches the server as the
// program does, and calls what it has.
func conform(address string) error {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := Server{Name: "suite", URL: address, Own: true, Timeout: time.Minute}
	var given struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return err
		}
	}
	if s.Client, s.Secret = given.ID, given.Secret; os.Getenv("MCP_CONFORMANCE_SCENARIO") == "auth/basic-cimd" {
		s.Client = "https://conformance-test.local/client-metadata.json"
	}
	spawn := func(_ string, f func()) { go f() }
	r := New(Options{
		Root: dir, Servers: func() []Server { return []Server{s} }, Go: spawn,
		Login: func(s Server, base http.RoundTripper) (http.RoundTripper, error) {
			o := LoginOptions{Dir: filepath.Join(dir, "logins"), Base: base, Ask: agrees, Now: time.Now, Go: spawn}
			return NewLoginTransport(o, LoginClient{Server: s.Name, URL: s.URL, ID: s.Client, Secret: s.Secret})
		},
	})
	defer r.Close(context.Background())
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := r.Reconnect(ctx, s.Name); err != nil {
		return err
	}
	env := &tools.Runtime{Root: dir, Outputs: dir, Ask: func(_ context.Context, _, _ string, q tools.Question) (string, error) {
		return q.Options[0].Label, nil // takes what is offered first
	}}
	var failed error
	for _, t := range r.Lend(ctx) {
		c, err := t.Parse(env, "call", json.RawMessage(`{"a":5,"b":3}`))
		if err != nil {
			return err
		}
		if a := c.Run(ctx); a.Error {
			failed = errors.Join(failed, fmt.Errorf("%s: %s", t.Name, a.Text))
		}
	}
	return failed
}

// agrees is a human who agrees to a login: the suite's own server needs no more than to be visited.
func agrees(ctx context.Context, q LoginQuestion) (LoginAnswer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, q.URL, http.NoBody)
	if err != nil {
		return LoginAnswer{}, err
	}
	a, err := http.DefaultClient.Do(req)
	if err != nil {
		return LoginAnswer{}, err
	}
	_, _ = io.Copy(io.Discard, a.Body)
	if err := a.Body.Close(); err != nil {
		return LoginAnswer{}, err
	}
	<-ctx.Done() // the browser has come back
	return LoginAnswer{}, ctx.Err()
}

// A row of the table that says nothing is no reason.
func TestUnlike(t *testing.T) {
	for name, why := range unlike {
		if len(strings.Fields(why)) < 4 {
			t.Errorf("%s: %q is no reason", name, why)
		}
	}
}
