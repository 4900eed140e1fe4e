package cli

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"fantail/agents/llm"
	"fantail/store/config"
)

// door is a server that refuses everybody, and notes the keys that were shown to it.
type door struct {
	*httptest.Server
	mu   sync.Mutex
	keys []string
}

func newDoor(t *testing.T) *door {
	d := &door{}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.keys = append(d.keys, r.Header.Get("X-Api-Key")+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		http.Error(w, "no", http.StatusBadRequest)
	}))
	t.Cleanup(d.Close)
	return d
}

// shown are the keys since it was last asked.
func (d *door) shown() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := strings.Join(d.keys, " ")
	d.keys = nil
	return all
}

// modelAsks has a model asked something.
func modelAsks(t *testing.T, m llm.Model) {
	t.Helper()
	req := &llm.Request{Model: m.ID, MaxTokens: 10, Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{Text: "hi"}}}}}
	failed := false
	for _, err := range m.Provider.Stream(t.Context(), req) {
		failed = failed || err != nil
	}
	if !failed {
		t.Fatal("the server answered")
	}
}

// A key that another shell brings is used by the models that are in use already, and goes to no other address than the
// one that shell names.
func TestUse(t *testing.T) {
	first, second := newDoor(t), newDoor(t)
	m := NewModels(config.Config{}, env("ANTHROPIC_API_KEY", "first-key", "ANTHROPIC_BASE_URL", first.URL))
	model, err := m.Resolve("anthropic/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Resolve("openai"); err == nil {
		t.Error("openai can be had without a key")
	}
	for n, c := range []struct {
		env       func(string) string
		fresh     string
		one, two  string // what the servers are shown then
		withNames string
	}{
		{env(), "", "first-key", "", ""},
		{env("ANTHROPIC_API_KEY", "first-key", "ANTHROPIC_BASE_URL", first.URL), "", "first-key", "", ""},
		{env("ANTHROPIC_BASE_URL", second.URL), "", "first-key", "", ""}, // an address without a key is no access
		{env("ANTHROPIC_API_KEY", "second-key", "ANTHROPIC_BASE_URL", second.URL), "ANTHROPIC_API_KEY ANTHROPIC_BASE_URL", "", "second-key", ""},
		{env("ANTHROPIC_API_KEY", " second-key\n", "ANTHROPIC_BASE_URL", second.URL), "", "", "second-key", ""},
		{env("OPENAI_API_KEY", "other"), "OPENAI_API_KEY", "", "second-key", "openai/"},
		{env("ANTHROPIC_AUTH_TOKEN", "a-token", "ANTHROPIC_BASE_URL", first.URL), "ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL", "a-token", "", "openai/"},
		{env("ANTHROPIC_API_KEY", "first-key", "ANTHROPIC_BASE_URL", second.URL), "ANTHROPIC_API_KEY ANTHROPIC_BASE_URL", "", "first-key", "openai/"},
		{env("ANTHROPIC_API_KEY", "first-key", "ANTHROPIC_BASE_URL", "nonsense"), "ANTHROPIC_BASE_URL", "", "first-key", "openai/"},
	} {
		if got := strings.Join(m.Use(c.env), " "); got != c.fresh {
			t.Errorf("%d: new is %q, want %q", n, got, c.fresh)
		}
		modelAsks(t, model)
		if one, two := first.shown(), second.shown(); one != c.one || two != c.two {
			t.Errorf("%d: the servers are shown %q and %q, want %q and %q", n, one, two, c.one, c.two)
		}
		has := slices.ContainsFunc(m.Names(), func(name string) bool { return strings.HasPrefix(name, "openai/") })
		if has != (c.withNames != "") {
			t.Errorf("%d: the models are %q", n, m.Names())
		}
	}
	if _, err := m.Resolve("anthropic/y"); err == nil || !strings.Contains(err.Error(), "ANTHROPIC_BASE_URL") {
		t.Errorf("an address that is none: %v", err)
	}
	if got := m.Use(env("ANTHROPIC_API_KEY", "first-key")); !slices.Equal(got, []string{"ANTHROPIC_API_KEY"}) {
		t.Errorf("an address is gone: new is %q", got)
	}
}
