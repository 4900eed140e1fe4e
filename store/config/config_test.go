package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	c, err := Load(write(t, `
model = "local/qwen3"
theme = "dark"
permission_mode = "accept-edits"
max_running = 3
mouse = false
editor = "vi"
notify = "osc9"
sandbox = "namespaces"
status_style = "msg"
reduce_motion = true
allow = ["bash(go test *)"]
[providers.local]
protocol = "openai"
base_url = "http://127.0.0.1:8000/v1"
key_env = "LOCAL_KEY"
[providers.local.models."qwen3"]
window = 1000
max_output = 100
input = 0.5
output = 2
cache_read = 0.1
`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Model != "local/qwen3" || c.Theme != "dark" || c.PermissionMode != "accept-edits" || c.MaxRunning != 3 || c.Mouse || c.Editor != "vi" || c.Notify != "osc9" || c.StatusStyle != "msg" || !c.ReduceMotion || c.Sandbox != "namespaces" {
		t.Errorf("got %+v", c)
	}
	if len(c.Rules.Allow) != 1 || c.Rules.Allow[0] != "bash(go test *)" {
		t.Errorf("rules: %q", c.Rules.Allow)
	}
	m := c.Known("local", "qwen3")
	if m.Window != 1000 || m.MaxOutput != 100 || !m.Priced || m.Cost(1000, 100, 10, 0) != 701 {
		t.Errorf("model: %+v, cost %d", m, m.Cost(1000, 100, 10, 0))
	}
}

func TestLoad_missingFileIsTheDefault(t *testing.T) {
	c, err := Load(filepath.Join(t.TempDir(), "none", "config.toml"))
	if err != nil || !c.Mouse || c.Model != "" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestLoad_errorsSayWhereAndWhat(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"unknown key":    {"theme = \"dark\"\nmodle = \"x\"\n", `:2: unknown key "modle"; did you mean "model"?`},
		"nothing near":   {"zzzzzz = 1\n", `:1: unknown key "zzzzzz"; the keys here are model, theme`},
		"in a provider":  {"[providers.x]\nprotocol = \"openai\"\nbaseurl = \"http://h\"\n", `:3: unknown key "providers.x.baseurl"; did you mean "providers.x.base_url"?`},
		"in a model":     {"[providers.openai.models.m]\nwindwo = 3\n", `did you mean "providers.openai.models.m.window"?`},
		"a key":          {"[providers.openai]\napi_key = \"sk-very-secret\"\n", `:2: unknown key "providers.openai.api_key": keys do not belong`},
		"a key as env":   {"[providers.openai]\nkey_env = \"sk-very-secret\"\n", `:2: providers.openai.key_env: want the name of an environment variable`},
		"in the rules":   {"alow = []\n", `:1: unknown key "alow"; did you mean "allow"?`},
		"type":           {"mouse = \"sk-very-secret\"\n", `:1: mouse: `},
		"syntax":         {"theme = \"dark\"\nmodel = \n", `:2: `},
		"mode":           {"\npermission_mode = \"aks\"\n", `:2: permission_mode: unknown value; did you mean "ask"?`},
		"notify":         {"notify = \"osc8\"\n", `:1: notify: unknown value; did you mean "osc9"?`},
		"status style":   {"\nstatus_style = \"mgs\"\n", `:2: status_style: unknown value; did you mean "msg"?`},
		"sandbox":        {"theme = \"dark\"\nsandbox = \"bubblewarp\"\n", `:2: sandbox: unknown value; did you mean "bubblewrap"? The values are on, off, bubblewrap, namespaces, landlock`},
		"no sandbox":     {"sandbox = false\n", `:1: sandbox: `},
		"count":          {"max_running = -1\n", `:1: max_running: want a number from 1 to 1000`},
		"at once":        {"[providers.ollama]\nat_once = -2\n", `:2: providers.ollama.at_once: want a number from 1 to 1000`},
		"protocol":       {"[providers.x]\nbase_url = \"http://h\"\nprotocol = \"opneai\"\n", `:3: providers.x.protocol: unknown value; did you mean "openai"?`},
		"no protocol":    {"[providers.x]\nbase_url = \"http://h\"\n", `:1: providers.x: protocol is missing`},
		"no URL":         {"[providers.x]\nprotocol = \"openai\"\n", `:1: providers.x: base_url is missing`},
		"bad URL":        {"[providers.openai]\nbase_url = \"localhost:80\"\n", `:2: providers.openai.base_url: want a URL`},
		"password":       {"[providers.openai]\nbase_url = \"http://me:sk-very-secret@h/\"\n", `must not hold a user`},
		"half a price":   {"[providers.openai.models.m]\ninput = 1.0\n", `a price needs both`},
		"time":           {"idle_timeout = \"soon\"\n", `:1: idle_timeout: want a time such as "5m" or "90s", or "0s" for no end`},
		"negative time":  {"theme = \"dark\"\nidle_timeout = \"-5m\"\n", `:2: idle_timeout: want a time`},
		"observers":      {"\nobserver_timeout = \"31m\"\n", `:2: observer_timeout: want a time from "1s" to "30m"`},
		"no time at all": {"observer_timeout = \"0s\"\n", `:1: observer_timeout: want a time`},
		"their tokens":   {"observer_tokens = 200001\n", `:1: observer_tokens: want a number from 1 to 200000`},
		"their calls":    {"observer_calls = 51\n", `:1: observer_calls: want a number from 1 to 50`},
		"budget":         {"agent_budget = \"much\"\n", `:1: agent_budget: want tokens such as "200k", or dollars such as "$2"`},
		"no time-out":    {"default_task_timeout = \"late\"\n", `:1: default_task_timeout: want a time such as "30m"`},
		"reserved":       {"[providers.builtin]\nprotocol = \"openai\"\n", `providers.builtin: `},
		"several errors": {"modle = 1\nthem = 2\n", `:2: unknown key "them"; did you mean "theme"?`},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, tc.text)
			c, err := Load(path)
			if err == nil {
				t.Fatalf("accepted: %+v", c)
			}
			if !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), path+":") {
				t.Errorf("got  %v\nwant …%s", err, tc.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the value is printed: %v", err)
			}
		})
	}
}

func TestOverride(t *testing.T) {
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	c, err := Default().Override(env(map[string]string{
		"FANTAIL_THEME": "light", "FANTAIL_PERMISSION_MODE": "plan", "FANTAIL_MAX_RUNNING": "2", "FANTAIL_MOUSE": "false", "FANTAIL_NOTIFY": "desktop", "EDITOR": "ed",
		"FANTAIL_SANDBOX": "landlock",
	}))
	if err != nil || c.Theme != "light" || c.PermissionMode != "plan" || c.MaxRunning != 2 || c.Mouse || c.Editor != "ed" || c.Notify != "desktop" || c.Sandbox != "landlock" {
		t.Errorf("got %+v, %v", c, err)
	}
	if c, _ := (Config{Editor: "own"}).Override(env(map[string]string{"VISUAL": "vi"})); c.Editor != "own" {
		t.Errorf("the configured editor is lost: %q", c.Editor)
	}
	if c, _ := Default().Override(env(map[string]string{"VISUAL": "vi", "EDITOR": "ed"})); c.Editor != "vi" {
		t.Errorf("VISUAL comes before EDITOR; got %q", c.Editor)
	}
	for k, v := range map[string]string{"FANTAIL_PERMISSION_MODE": "x", "FANTAIL_MAX_RUNNING": "0", "FANTAIL_MOUSE": "perhaps", "FANTAIL_NOTIFY": "loud", "FANTAIL_SANDBOX": "none"} {
		if _, err := Default().Override(env(map[string]string{k: v})); err == nil || !strings.HasPrefix(err.Error(), k) {
			t.Errorf("%s=%s: %v", k, v, err)
		}
	}
}

// TestIdle: a duration, none for ever, and the default if it is not set.
//
// Spec: C-22.
func TestIdle(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 5 * time.Minute, "idle_timeout = \"90s\"\n": 90 * time.Second, "idle_timeout = \"0s\"\n": 0, "idle_timeout = \"\"\n": 5 * time.Minute,
	} {
		c, err := Load(write(t, text))
		if d, wrong := c.Idle(); err != nil || wrong != nil || d != want {
			t.Errorf("%q: %s, %v, %v; want %s", text, d, err, wrong, want)
		}
	}
}

// TestObserving: the user's own file raises the limits of observers, up to a bound.
func TestObserving(t *testing.T) {
	c, err := Load(write(t, "observer_timeout = \"30m\"\nobserver_tokens = 200000\nobserver_calls = 50\n"))
	if d, wrong := c.Observing(); err != nil || wrong != nil || d != 30*time.Minute || c.ObserverTokens != 200_000 || c.ObserverCalls != 50 {
		t.Errorf("%s, %+v, %v, %v", d, c, err, wrong)
	}
	if d, err := Default().Observing(); err != nil || d != 0 {
		t.Errorf("nothing said: %s, %v", d, err)
	}
}
