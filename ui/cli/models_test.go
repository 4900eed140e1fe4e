package cli

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fantail/agents/llm"
	"fantail/store/config"
	"fantail/ui/shell"
)

// env is an environment of those variables.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestResolveGivesAProviderWithWindowAndPrice(t *testing.T) {
	one := 2.0
	conf := config.Config{Providers: map[string]config.ProviderRow{
		"work": {Protocol: config.OpenAI, BaseURL: "http://127.0.0.1:1/v1", KeyEnv: "WORK_API_KEY", Models: map[string]config.ModelRow{
			"big": {Window: 1000, MaxOutput: 100, Input: &one, Output: &one},
		}},
	}}
	m := NewModels(conf, env("WORK_API_KEY", "k-12345678", "ANTHROPIC_API_KEY", "k-23456789"))
	big, err := m.Resolve("work/big")
	if err != nil || big.Name != "work/big" || big.ID != "big" || big.Window != 1000 || big.MaxOut != 100 || big.Provider == nil {
		t.Fatalf("%+v, %v", big, err)
	}
	if got := big.Price(llm.Usage{Input: 10, Output: 5}); got != 30 {
		t.Errorf("price %d", got)
	}
	again, err := m.Resolve("work/big")
	if err != nil || again.Provider != big.Provider {
		t.Errorf("another provider for the same name: %v", err)
	}
	other, err := m.Resolve("work/unknown")
	if err != nil || other.Price != nil || other.Provider == big.Provider {
		t.Errorf("%+v, %v", other, err)
	}
	if sonnet, err := m.Resolve("claude-sonnet-4-5"); err != nil || sonnet.Name != "anthropic/claude-sonnet-4-5" || sonnet.Price == nil {
		t.Errorf("%+v, %v", sonnet, err)
	}
	conf.Providers["ollama"] = config.ProviderRow{AtOnce: 3}
	for name, want := range map[string]int{"ollama/x": 3, "work/big": 0, "builtin": 0} {
		if got, err := NewModels(conf, env("WORK_API_KEY", "k-12345678")).Resolve(name); err != nil || got.AtOnce != want || !strings.HasPrefix(name, got.Vendor) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if engine, err := m.Resolve("builtin"); err != nil || engine.Name != "builtin" || engine.Provider == nil {
		t.Errorf("%+v, %v", engine, err)
	}
	for prompt, want := range map[string]string{"say x": "", "run true": "", "run cd .": "", "please": "No language model is configured", "run the-tests-please now": "`the-tests-please` is no program here"} {
		if why := m.Doubt("builtin", prompt); (why == "") != (want == "") || !strings.Contains(why, want) {
			t.Errorf("%q: doubt %q, want %q", prompt, why, want)
		}
	}
	if why := m.Doubt("work/big", "please") + m.Doubt("nobody/x", "please"); why != "" {
		t.Errorf("a model is doubted: %s", why)
	}
	if names := strings.Join(m.Names(), " "); !strings.Contains(names, "work/big") || !strings.Contains(names, "anthropic/claude-sonnet") ||
		!strings.Contains(names, "builtin") || strings.Contains(names, "openai/") {
		t.Errorf("names: %s", names)
	}
	for name, want := range map[string]string{"nobody/x": "anthropic", "openai/gpt-5": "OPENAI_API_KEY"} {
		if _, err := m.Resolve(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestChooseBlamesTheFlag(t *testing.T) {
	m := NewModels(config.Default(), env("FANTAIL_MODEL", "nobody/x"))
	if _, err := m.Choose("nobody/y", "", nil); shell.ExitCode(err) != shell.ExitUsage {
		t.Errorf("a wrong flag: %v", err)
	}
	if _, err := m.Choose("", "", nil); err == nil || shell.ExitCode(err) != shell.ExitFailed {
		t.Errorf("a wrong variable: %v", err)
	}
	if c, err := m.Choose("builtin", "", nil); err != nil || c.Name() != "builtin" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestOllamaIsAskedBriefly(t *testing.T) {
	status, body := http.StatusOK, ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/tags" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer srv.Close()
	there := env("OLLAMA_HOST", srv.Listener.Addr().String())
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{200, `{"models":[{"name":"qwen3:8b","size":1},{"name":"other"}]}`, "qwen3:8b"},
		{200, `{"models":[]}`, ""},
		{200, `<html>`, ""},
		{500, `{"models":[{"name":"qwen3:8b"}]}`, ""},
	} {
		status, body = c.status, c.body
		if got := Ollama(context.Background(), there); got != c.want {
			t.Errorf("%d %s: %q, want %q", c.status, c.body, got, c.want)
		}
	}
	if got := Ollama(context.Background(), env("OLLAMA_HOST", "ftp://x")); got != "" {
		t.Errorf("a bad address: %q", got)
	}
	if got := Ollama(context.Background(), env("OLLAMA_HOST", "127.0.0.1:1")); got != "" {
		t.Errorf("nobody there: %q", got)
	}

	// A server that takes the connection and says nothing.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	began := time.Now()
	if got := Ollama(context.Background(), env("OLLAMA_HOST", l.Addr().String())); got != "" {
		t.Errorf("a silent server: %q", got)
	}
	if d := time.Since(began); d < askedFor {
		t.Errorf("a silent server was asked for %v", d)
	}
}

// A server of the user's own that needs no key is found by what it answers, and by nothing else.
func TestLocalModel(t *testing.T) {
	body := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		_, _ = w.Write([]byte(body))
	}))
	defer srv.Close()
	at := srv.Listener.Addr().String()
	for _, c := range []struct{ model, key, body, want string }{
		{"", "", `{"data":[{"id":"qwen3"},{"id":"other"}]}`, "own/qwen3"},
		{"mine", "", `{"data":[{"id":"qwen3"}]}`, "own/mine"},
		{"", "", `{"data":[{"id":"two words"},{"id":"a\u001b[2J"},{"id":"qwen3"}]}`, "own/qwen3"},
		{"", "", `{"data":[]}`, ""},
		{"", "", `<html>`, ""},
		{"", "OWN_KEY", `{"data":[{"id":"qwen3"}]}`, ""},
	} {
		body = c.body
		conf := config.Config{Providers: map[string]config.ProviderRow{"own": {Protocol: config.OpenAI, BaseURL: "http://" + at + "/v1", Model: c.model, KeyEnv: c.key}}}
		name, address := "", ""
		for _, l := range conf.Local(env()) {
			if l.Provider == "own" { // servers of this machine are not the test's
				name, address = localModel(t.Context(), l), l.BaseURL
			}
		}
		if name != c.want || name != "" && address != "http://"+at+"/v1" {
			t.Errorf("%+v: %q at %q", c, name, address)
		}
	}
	for _, l := range (config.Config{}).Local(env("OLLAMA_HOST", "192.0.2.1:80")) {
		if l.Provider == "ollama" {
			t.Error("a server on another machine counts as one on this")
		}
	}
}
