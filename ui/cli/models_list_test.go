package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"fantail/agents/llm/llmtest"
	"fantail/store/config"
)

// TestAsk: the list is completed by what the providers with a key say they have, once for each key, and never by what no
// terminal should show.
func TestAsk(t *testing.T) {
	s := llmtest.New()
	s.Models = []string{"claude-sonnet-5-5", "brand-new", "evil\x1b[2J", "two words", "bidi\u202ename", strings.Repeat("x", nameBytes+1)}
	var asked atomic.Int32
	var refuse atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if refuse.Load() || r.Header.Get("X-Api-Key") == "" && r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.ServeHTTP(w, r)
	}))
	defer srv.Close()
	m := NewModels(config.Config{}, env("ANTHROPIC_BASE_URL", srv.URL, "ANTHROPIC_API_KEY", "k-1234567", "OPENAI_BASE_URL", srv.URL+"/v1", "OPENAI_API_KEY", "k-2345678"))
	if names := m.Names(); asked.Load() != 0 || !slices.Contains(names, "anthropic/claude-opus-5-5") || slices.Contains(names, "anthropic/brand-new") {
		t.Errorf("before it asked %d times: %q", asked.Load(), names)
	}
	refuse.Store(true)
	m.Ask(t.Context())
	if asked.Load() != 2 || !slices.Contains(m.Names(), "anthropic/claude-opus-5-5") {
		t.Errorf("refused %d times: %q", asked.Load(), m.Names())
	}
	refuse.Store(false)
	m.Ask(t.Context())
	m.Ask(t.Context())
	want := []string{"anthropic/brand-new", "anthropic/claude-sonnet-5-5", "builtin", "llamacpp/default", "openai/brand-new", "openai/claude-sonnet-5-5"}
	if names := slices.DeleteFunc(m.Names(), func(n string) bool { return strings.HasPrefix(n, config.ACP+"/") }); asked.Load() != 4 || !slices.Equal(names, want) {
		t.Errorf("asked %d times: %q, want %q", asked.Load(), names, want)
	}
	for name, want := range map[string]string{
		"anthropic/brand-new": "", "builtin": "", "anthropic/claude-opus-5-5": "", "nobody/x": "",
		"anthropic/brand-nwe": `anthropic is not known to have a model "brand-nwe"; did you mean brand-new?`,
	} {
		if got := m.Unlisted(t.Context(), name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if m.Use(env("ANTHROPIC_BASE_URL", srv.URL, "ANTHROPIC_API_KEY", "k-3456789")); slices.Contains(m.Names(), "anthropic/brand-new") {
		t.Error("another key has the list of the first")
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if m.Ask(done); asked.Load() != 4 {
		t.Errorf("asked %d times though nobody waits", asked.Load())
	}
	if s := m.Unlisted(done, "anthropic/brand-new"); s != "" {
		t.Errorf("without an answer another server's model is doubted: %s", s)
	}
}
