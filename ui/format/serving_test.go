package format

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/agents/hooks"
	"fantail/agents/mcpconfig"
	"fantail/store/config"
	"fantail/tools/mcp"
)

// live is servers that run as they are told to.
type live struct {
	states []mcp.State
	tools  map[string][]mcp.ToolInfo
	logs   map[string]string
	asked  []string
	fails  error
}

func (l *live) States() []mcp.State              { return l.states }
func (l *live) Log(name string) string           { return l.logs[name] }
func (l *live) Tools(name string) []mcp.ToolInfo { return l.tools[name] }
func (l *live) Reconnect(_ context.Context, name string) error {
	l.asked = append(l.asked, name)
	return l.fails
}

func (l *live) Login(_ context.Context, name string, _ mcp.LoginWaiter) error {
	l.asked = append(l.asked, "login "+name)
	return l.fails
}

// desk has a server of each sort.
func serving(t *testing.T) (Servers, *live, *hooks.TrustStore) {
	t.Helper()
	root := t.TempDir()
	text := `{"mcpServers": {"shared": {"command": "./run", "args": ["a b"]}, "mine": {"command": "other"}, "old": {"type": "sse", "url": "https://x"}}}`
	if err := os.WriteFile(filepath.Join(root, ".mcp.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	trustFile, err := hooks.OpenTrust(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)
	servers := mcpconfig.New(mcpconfig.Settings{Root: root, Trust: trustFile, Config: func() []config.Server {
		return []config.Server{
			{Name: "mine", Line: 4, ServerRow: config.ServerRow{Command: "tool", Honest: true}},
			{Name: "dead", ServerRow: config.ServerRow{URL: "https://dead.example/mcp"}},
		}
	}})
	l := &live{states: []mcp.State{
		{Server: mcp.Server{Name: "mine"}, Phase: mcp.Ready, Tools: 2, PID: 77, Since: now.Add(-time.Hour)},
		{Server: mcp.Server{Name: "dead"}, Phase: mcp.Failed, Says: "the MCP server dead does not start: no such host", Tries: 3, Since: now},
		{Server: mcp.Server{Name: "shared"}, Phase: mcp.Blocked, Says: "not trusted"},
	}, tools: map[string][]mcp.ToolInfo{"mine": {
		{Name: "look", LentName: "mcp__mine__look", Description: "Looks.\n\x1b[2Jevil", Reads: true, Size: 400},
		{Name: "do", LentName: "mcp__mine__do", Description: "Does.", Changed: true, Size: 400},
	}}, logs: map[string]string{"mine": "hello\x1b[31m\n"}}
	return Servers{Config: servers, Live: l}, l, trustFile
}

func TestList(t *testing.T) {
	d, _, trustFile := serving(t)
	want := `MCP servers:
  dead (config.toml): failed, no such host · https://dead.example/mcp
  mine (config.toml:4): ready, 2 tools · tool
  shared (.mcp.json:1:17): not trusted yet, /trust to review it · ./run 'a b'
  mine (.mcp.json:1:66): not used, shadowed: config.toml:4 has a server of the same name · other
  old (.mcp.json:1:96): not used, type "sse" is not spoken`
	rows, faults := d.Rows()
	got := ListServers(rows, faults)
	// The rows of the configuration come in the order they were given.
	lines := strings.Split(got, "\n")
	for _, line := range strings.Split(want, "\n") {
		found := false
		for _, l := range lines {
			found = found || strings.HasPrefix(l, line)
		}
		if !found {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
	if !strings.Contains(got, "\n  ! .mcp.json:1:") {
		t.Errorf("no fault in\n%s", got)
	}
	for _, r := range rows {
		if r.Name == "shared" {
			for _, v := range trustFile.Review() {
				if err := trustFile.Agree(v.TrustSnapshot); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if rows, _ = d.Rows(); rows[2].Is() != "withheld" || !rows[2].Trusted() {
		t.Errorf("%s", rows[2].Line())
	}
	if got := ListServers(nil, nil); !strings.HasPrefix(got, "No MCP server") {
		t.Error(got)
	}
	ids := map[int64]bool{}
	for _, r := range rows {
		if ids[r.ID()] || r.ID() <= 0 {
			t.Errorf("the number of %s is another's", r.Name)
		}
		ids[r.ID()] = true
	}
}

func TestFacts(t *testing.T) {
	d, _, _ := serving(t)
	rows, _ := d.Rows()
	text := func(name string) (all string) {
		for _, r := range rows {
			if r.Name == name && (name != "mine" || r.Used()) {
				for _, f := range ServerFields(r, time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)) {
					all += f.Name + ": " + f.Text + "\n"
				}
				return all
			}
		}
		t.Fatal("there is none")
		return ""
	}
	if got, want := text("mine"), "is: ready, process 77, since 09:00:00\nruns: tool\nfrom: config.toml:4, yours\ntrusted: about which of its tools only read (honest)\n"; got != want {
		t.Errorf("%s", got)
	}
	if got := text("dead"); !strings.Contains(got, "failed: 3 times") || !strings.Contains(got, "is at: https://dead") {
		t.Errorf("%s", got)
	}
	if got := text("shared"); !strings.Contains(got, "the repository's") {
		t.Errorf("%s", got)
	}
}

func TestRun(t *testing.T) {
	d, l, _ := serving(t)
	for args, want := range map[string]string{
		"list": "MCP servers:", "tools mine": "mcp__mine__look\n  only reads (you trust the server's word)\n  Looks.\n", "log mine": "hello", "log dead": "The log is empty.",
		"tools shared": "Its tools are unknown until it has run.", "reconnect mine": "mine is there, with 2 tools", "reconnect shared": "! the MCP server shared does not start: not trusted yet; /trust",
		"reconnect old": "! the MCP server old does not start: not used", "log nobody": "! there is no MCP server nobody", "log a b": "! there is no MCP server a b", "reconnect dead": "dead is there",
	} {
		do, ok := d.Run(args)
		if !ok {
			t.Errorf("unexpected %q", args)
			continue
		}
		got, err := do(t.Context())
		if err != nil {
			got = "! " + err.Error()
		}
		if !strings.Contains(got, want) || strings.Contains(got, "\x1b") {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
	if got := strings.Join(l.asked, " "); got != "mine dead" && got != "dead mine" {
		t.Errorf("started: %s", got)
	}
	for _, args := range []string{"", "list x", "tools", "frob mine", "list a b"} {
		if _, ok := d.Run(args); ok {
			t.Errorf("%q is understood", args)
		}
	}
	l.fails = errors.New("it died")
	do, _ := d.Run("reconnect mine")
	if _, err := do(t.Context()); err == nil || err.Error() != "it died" {
		t.Errorf("%v", err)
	}
	d.Live = nil
	if _, err := d.Reconnect(t.Context(), "mine"); err == nil {
		t.Error("something started")
	}
	rows, _ := d.Rows()
	if got := d.Brief(rows[0]) + d.Tools(rows[0]) + d.Log(rows[0]); strings.Contains(got, "look") {
		t.Errorf("%s", got)
	}
}

func TestBrief(t *testing.T) {
	d, _, _ := serving(t)
	r, err := d.Find("mine")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Brief(r), "2 tools, about 200 tokens of each request: look, do (its description changed: it asks)"; got != want {
		t.Errorf("%s", got)
	}
	if r, _ = d.Find("shared"); d.Brief(r) != "" {
		t.Errorf("%s", d.Brief(r))
	}
	if r, _ = d.Find("dead"); !strings.Contains(d.Brief(r), "once it has run") {
		t.Errorf("%s", d.Brief(r))
	}
}
