// Package adapters has other vendors' agents as tests use them: adapters from npm, with a model server of a test's.
//
// Does: say how Claude Code, Codex and opencode are configured so that they ask that server and reach nothing else, and
// how their models call tools.
//
// Does not: install them, start them, know a test.
package adapters

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Env names the directory whose node_modules has the adapters, with a node that runs them. .ci/vendors says what must be
// there.
const Env = "FANTAIL_TEST_ADAPTERS"

// Path is the directory of their programs. Where they are not there the test is skipped.
func Path(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(Env)
	if dir == "" {
		t.Skip("no adapters of other vendors' agents: .ci/vendors says which, and " + Env + " where they are")
	}
	return filepath.Join(dir, "node_modules", ".bin")
}

// Adapter is a vendor's agent.
type Adapter struct {
	Name    string
	Program string            // what names its program among processes
	Rows    string            // in [agents.NAME]
	Vars    []string          // of its environment; %s is the model server
	Files   map[string]string // its own configuration, below its home, or below config/ for that of configurations

	Calls map[string]func(about string) string // a name of ours for a tool of its own -> its name and arguments
	Ours  func(tool, args string) string       // the same for a tool of ours
}

// All are all of them.
func All() []Adapter { return []Adapter{Claude(), Codex(), Opencode()} }

// Configure writes its configuration for that model server, and returns the variables that it needs.
func (a Adapter) Configure(home, config, server string) (env []string, err error) {
	for _, v := range a.Vars {
		env = append(env, strings.ReplaceAll(v, "%s", server))
	}
	for name, text := range a.Files {
		path := filepath.Join(home, name)
		if below, is := strings.CutPrefix(name, "config/"); is {
			path = filepath.Join(config, below)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "%s", server)), 0o600); err != nil {
			return nil, err
		}
	}
	return env, nil
}

// Table is its part of this program's configuration.
func (a Adapter) Table() string { return fmt.Sprintf("[agents.%s]\n%s", a.Name, a.Rows) }

// Call is a line of a script in which its model calls a tool of its own, CallOurs one in which it calls one of ours.
func (a Adapter) Call(tool, about string) string { return "call " + a.Calls[tool](about) }

func (a Adapter) CallOurs(tool, args string) string { return "call " + a.Ours(tool, args) }

func Claude() Adapter {
	return Adapter{
		Name: "claude", Program: "claude-agent-acp",
		Rows: `env = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "DISABLE_TELEMETRY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"]
mode = "acceptEdits"
options = { model = "sonnet" }
`,
		Vars:  []string{"ANTHROPIC_API_KEY=sk-test-0123456789", "ANTHROPIC_BASE_URL=%s", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
		Files: map[string]string{".claude/settings.json": `{"permissions":{"allow":["Bash(echo:*)","Bash(cat:*)"]}}`},
		Calls: map[string]func(string) string{
			"read": as(`Read {"file_path":%s}`), "edit": as(`Edit {"file_path":%s,"old_string":"alpha","new_string":"omega"}`),
			"run": as(`Bash {"command":%s}`), "ask": as(`Bash {"command":%s}`),
			"wonder": as(`AskUserQuestion {"questions":[{"question":%s,"header":"colour","multiSelect":false,"options":[{"label":"red","description":"warm"},{"label":"blue","description":"cold"}]}]}`),
		},
		Ours: func(tool, args string) string { return "mcp__fantail__" + tool + " " + args },
	}
}

func Codex() Adapter {
	return Adapter{
		Name: "codex", Program: "codex-acp",
		Rows: `env = ["OPENAI_API_KEY"]
mode = "workspace-write"
options = { model = "gpt-6-sol", effort = "low" }
`,
		Vars: []string{"OPENAI_API_KEY=sk-test-0123456789"},
		Files: map[string]string{".codex/config.toml": `model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "%s/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
`},
		Calls: map[string]func(string) string{
			"read": func(path string) string {
				return script(`text((await tools.exec_command({cmd: "cat " + %q})).output)`, path)
			},
			"edit": func(path string) string {
				return script(`text(await tools.apply_patch("*** Begin Patch\n*** Update File: " + %q + "\n@@\n-alpha beta\n+omega beta\n*** End Patch"))`, path)
			},
			"run": func(cmd string) string {
				return script(`text((await tools.exec_command({cmd: %q, yield_time_ms: 30000})).output)`, cmd)
			},
			"ask": func(cmd string) string {
				return script(`text((await tools.exec_command({cmd: %q, sandbox_permissions: "require_escalated", justification: "to try"})).output)`, cmd)
			},
		},
		Ours: func(tool, args string) string { return script(`text(await tools.mcp__fantail__%s(%s))`, tool, args) },
	}
}

func Opencode() Adapter {
	return Adapter{
		Name: "opencode", Program: "opencode",
		Rows: `options = { model = "fake/other" }
`,
		Vars: []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1"},
		Files: map[string]string{"config/opencode/opencode.json": `{"model":"fake/fake","small_model":"fake/fake","share":"disabled","permission":{"bash":{"*":"allow","install *":"ask"}},
"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","name":"fake","options":{"baseURL":"%s/v1","apiKey":"x"},"models":{
"fake":{"name":"fake","tool_call":true,"reasoning":true,"limit":{"context":200000,"output":8000}},
"other":{"name":"other","tool_call":true,"reasoning":true,"limit":{"context":200000,"output":8000}}}}}}`},
		Calls: map[string]func(string) string{
			"read": as(`read {"filePath":%s}`), "edit": as(`edit {"filePath":%s,"oldString":"alpha","newString":"omega"}`),
			"run": as(`bash {"command":%s,"description":"to try"}`), "ask": as(`bash {"command":%s,"description":"to try"}`),
		},
		Ours: func(tool, args string) string { return "fantail_" + tool + " " + args },
	}
}

// script is a call of the tool with which Codex's newer models call all others: a program.
func script(form string, args ...any) string {
	text, _ := json.Marshal(map[string]string{"input": fmt.Sprintf(form, args...)})
	return "functions__exec " + string(text)
}

// as makes calls of that form.
func as(form string) func(string) string {
	return func(about string) string { return fmt.Sprintf(form, strconv.Quote(about)) }
}
