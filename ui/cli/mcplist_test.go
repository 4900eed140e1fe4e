package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents/hooks"
	"fantail/store/config"
	"fantail/tools/secret"
	"fantail/ui/format"
)

// place is a workspace whose .mcp.json holds that, and where it is tried.
func place(t *testing.T, text string, rows ...config.Server) TryServer {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	mustServer(t, err)
	t.Setenv("HOME", t.TempDir())
	if text != "" {
		mustServer(t, os.WriteFile(filepath.Join(root, ".mcp.json"), []byte(text), 0o600))
	}
	book, err := hooks.OpenTrust(root, t.TempDir())
	mustServer(t, err)
	keys := secret.New([]string{"ANTHROPIC_API_KEY"}, os.Getenv)
	return TryServer{Root: root, Keys: keys, Go: func(_ string, f func()) { go f() }, Config: ServersFor(root, book, keys, func() []config.Server { return rows })}
}

func mustServer(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The doctor tells what is configured, broken, shadowed, not trusted and not found.
func TestDoctor(t *testing.T) {
	t.Setenv("A_TOKEN", "value-of-a-token")
	s := place(t, `{"mcpServers": {"a": {"command": "sh"}, "gone": {"command": "x", "args": ["${NOT_SET_ANYWHERE}"]}, "theirs": {"command": "sh", "honest": true}}}`,
		config.Server{Name: "a", Line: 3, ServerRow: config.ServerRow{Command: "sh", Env: map[string]string{"T": "${A_TOKEN}"}}},
		config.Server{Name: "lost", Line: 5, ServerRow: config.ServerRow{Command: "no-such-program-here"}},
		config.Server{Name: "rel", Line: 7, ServerRow: config.ServerRow{Command: "./no-such"}},
		config.Server{Name: "off", Line: 9, ServerRow: config.ServerRow{Command: "x", Disabled: true}},
	)
	var all []string
	for _, f := range DoctorServers(s.Config, s.Root) {
		mark := "ok "
		if f.Bad {
			mark = "! "
		}
		all = append(all, mark+f.What+": "+f.Says)
	}
	want := []string{
		"ok MCP servers: in use: 3, not trusted: 1, not used: 3", "! MCP server: .mcp.json:1:74: gone: args: the variable NOT_SET_ANYWHERE is not set",
		"! MCP server: config.toml:5: lost can't start: there is no program no-such-program-here", "! MCP server: config.toml:7: rel can't start: there is no program ./no-such",
		"ok MCP server not used: config.toml:9: off: it is switched off", "ok MCP server not used: .mcp.json:1:17: a: shadowed: config.toml:3",
		"ok ignored: .mcp.json:1:128: theirs: honest",
	}
	if len(all) != len(want) {
		t.Errorf("%d findings, want %d", len(all), len(want))
	}
	for n := range min(len(all), len(want)) {
		if !strings.HasPrefix(all[n], want[n]) {
			t.Errorf("%s\nwant %s", all[n], want[n])
		}
	}
	if s = place(t, ""); len(DoctorServers(s.Config, s.Root)) != 0 {
		t.Error("there is something to tell of nothing")
	}
}

// A line holds what is written, and nothing that a variable holds.
func TestLineOf(t *testing.T) {
	t.Setenv("A_TOKEN", "value-of-a-token")
	s := place(t, "", config.Server{Name: "a", Line: 3, ServerRow: config.ServerRow{Command: "sh", Args: []string{"${A_TOKEN}"}, Env: map[string]string{"T": "${A_TOKEN}"}}})
	rows, _ := format.Servers{Config: s.Config}.Rows()
	got, err := json.Marshal(ServerLineOf(rows[0]))
	mustServer(t, err)
	if want := `{"name":"a","place":"config.toml:3","own":true,"used":true,"trusted":true,"status":"configured","command":"sh","args":["${A_TOKEN}"],"variables":["A_TOKEN"]}`; string(got) != want {
		t.Errorf("%s", got)
	}
}

// What may not start is not tried, and what is none is told with what it wrote.
func TestTest(t *testing.T) {
	s := place(t, `{"mcpServers": {"theirs": {"command": "sh"}, "old": {"type": "sse", "url": "https://x"}}}`,
		config.Server{Name: "dead", ServerRow: config.ServerRow{Command: "sh", Args: []string{"-c", "for n in 1 2 3 4 5; do echo it is broken in place $n >&2; done; exit 3"}}},
	)
	for name, want := range map[string]string{"theirs": "not trusted yet", "old": "not used: type", "none": "there is no MCP server none"} {
		if _, err := s.Test(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	is, err := s.Test(context.Background(), "dead")
	mustServer(t, err)
	if text := is.Text(); is.OK || !strings.Contains(text, "dead is not there: ") || !strings.Contains(text, "\nIt wrote to its standard error:\n  it is broken in place 1\n") {
		t.Errorf("%s", text)
	}
}
