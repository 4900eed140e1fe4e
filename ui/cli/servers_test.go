package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lend is an MCP server whose only tool notes that it was called, tells who it is, and never ends.
func lend() error {
	s := mcp.NewServer(&mcp.Implementation{Name: "slow", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		notes := func(name string, how int) error {
			f, err := os.OpenFile(name, os.O_WRONLY|how, 0o600)
			if err != nil {
				return err
			}
			fmt.Fprintln(f, os.Getpid())
			return f.Close()
		}
		if err := notes("called", os.O_CREATE|os.O_APPEND); err != nil {
			return nil, nil, err
		}
		if err := notes("begun", 0); err != nil { // who waits for this may kill it at once
			return nil, nil, err
		}
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	return s.Run(context.Background(), &mcp.StdioTransport{})
}

// What configures MCP servers is listed without a host; the user's own are tried, the repository's only once they are
// trusted, and the doctor says what is wrong.
func TestServers_childProcess(t *testing.T) {
	t.Parallel()
	s := newSite(t).raced()
	s.env = append(s.env, "SOME_TOKEN=value-of-a-token")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said := func(want int, args ...string) string {
		t.Helper()
		out, errs, code := s.run(t, "", args...)
		if code != want || strings.Contains(out+errs, "value-of-a-token") {
			t.Errorf("fantail %s: exit code %d, want %d: %s%s", strings.Join(args, " "), code, want, out, errs)
		}
		return out + errs
	}
	has := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("no %q in %q", w, text)
			}
		}
	}
	has(said(nothing, "mcp", "list"), "No MCP servers yet")
	write(filepath.Join(s.dir, ".mcp.json"), fmt.Sprintf(`{"mcpServers": {"theirs": {"command": %q, "args": ["mcp"]}, "old": {"type": "sse", "url": "https://x"}}}`, s.program))
	home := ""
	for _, e := range s.env {
		if v, is := strings.CutPrefix(e, "HOME="); is {
			home = v
		}
	}
	write(filepath.Join(home, "config", "fantail", "config.toml"), fmt.Sprintf("[mcp.mine]\ncommand = %q\nargs = [\"mcp\"]\nenv = { T = \"${SOME_TOKEN}\" }\n\n[mcp.lost]\ncommand = \"no-such-program\"\n", s.program))
	write(filepath.Join(home, ".claude.json"), `{"oauthAccount": {"x": "value-of-a-token"}, "mcpServers": {"mine": {"command": "x"}}}`)
	has(said(ok, "mcp", "list"), "mine (config.toml:1): not started yet", "theirs (.mcp.json:1:17): not trusted yet, /trust", "~/.claude.json:1:60): not used, shadowed: config.toml:1", `"sse" is not spoken`)
	has(said(ok, "mcp", "list", "--json"), `{"name":"mine","place":"config.toml:1","own":true,"used":true,"trusted":true,"status":"configured"`, `"variables":["SOME_TOKEN"]`)
	has(said(ok, "mcp", "test", "mine"), "mine is there after", "fantail", "6 tools: ", "check", "push")
	has(said(ok, "mcp", "test", "mine", "--json"), `"ok":true`, `"tools":["`)
	has(said(failed, "mcp", "test", "lost"), "lost is not there", "no-such-program")
	has(said(failed, "mcp", "test", "theirs"), "not trusted yet")
	has(said(failed, "mcp", "test", "old"), "not used")
	has(said(failed, "mcp", "test", "nobody"), "no MCP server nobody")
	has(said(usage, "mcp", "test"), "which server")
	has(said(usage, "mcp", "lists"), `did you mean list?`)
	has(said(usage, "mcp", "--json"), "list and test")
	has(said(failed, "doctor"), "MCP servers: in use: 2, not trusted: 1, not used: 2", "config.toml:6: lost can't start", ".mcp.json theirs is not trusted yet", "old: type")
}

// A prompt without a screen names the MCP servers whose tools it was sent without, in one line of standard error; what it
// writes to standard output stays what it is, and servers that are there are not named.
func TestPrintNamesMissedServers_childProcess(t *testing.T) {
	t.Parallel()
	s := newSite(t).raced()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var config string
	for _, e := range s.env {
		if dir, is := strings.CutPrefix(e, "XDG_CONFIG_HOME="); is {
			config = filepath.Join(dir, "fantail/config.toml")
		}
	}
	put(t, config, fmt.Sprintf(`[mcp.there]
command = %q
env = { %s = "mcp" }
[mcp."my silent"]
command = "/bin/sh"
args = ["-c", "exec sleep 600"]
[mcp.dead]
command = "/bin/sh"
args = ["-c", "echo 'Error: no key' >&2; exit 3"]
`, self, childEnv))
	put(t, filepath.Join(s.dir, ".mcp.json"), `{"mcpServers": {"theirs": {"command": "/bin/true"}}}`)
	for _, format := range []string{"text", "json", "stream-json"} {
		out, errs, code := s.run(t, "", "-p", "--output-format", format, "say hello")
		if code != 0 {
			t.Errorf("%s: exit code %d: %s%s", format, code, out, errs)
		}
		const begins = "the prompt was sent without the tools of MCP servers that were not ready: "
		_, line, told := strings.Cut(errs, begins)
		line, _, _ = strings.Cut(line, "\n")
		if !told || strings.Count(errs, begins) != 1 || !strings.Contains(line, "my silent (it had not started yet)") ||
			!strings.Contains(line, "dead (failed: it ended with exit code 3: Error: no key") || !strings.Contains(line, "is not trusted yet") || strings.Contains(line, "there (") {
			t.Errorf("%s: %q", format, errs)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if format == "text" && strings.Join(lines, "") != "hello" || format == "json" && len(lines) != 1 || strings.Contains(out, "not ready") {
			t.Errorf("%s: %q", format, out)
		}
		for _, l := range lines {
			if format != "text" && !json.Valid([]byte(l)) {
				t.Errorf("%s: %q", format, l)
			}
		}
	}
	put(t, config, fmt.Sprintf("[mcp.there]\ncommand = %q\nenv = { %s = \"mcp\" }\n", self, childEnv))
	if err := os.Remove(filepath.Join(s.dir, ".mcp.json")); err != nil {
		t.Fatal(err)
	}
	s.ends(t)
	if _, errs, code := s.run(t, "", "-p", "say hello"); code != 0 || errs != "" {
		t.Errorf("all are there: exit code %d: %s", code, errs)
	}
}
