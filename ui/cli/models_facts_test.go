package cli

import (
	"testing"

	"fantail/store/config"
)

func TestFacts(t *testing.T) {
	price := 1.5
	m := NewModels(config.Config{Providers: map[string]config.ProviderRow{"own": {Models: map[string]config.ModelRow{"m": {Window: 131_072, Input: &price, Output: &price}}}}}, env())
	for name, want := range map[string]string{
		"anthropic/claude-sonnet-5-5": "1M · $2/$10 · low–max · Claude Sonnet 5.5",
		"anthropic/claude-haiku-4-5":  "200k · $1/$5 · Claude Haiku 4.5",
		"openai/gpt-6.1-sol":          "1.05M · $2/$10 · low–max · GPT-6.1 Sol",
		"own/m":                       "131k · $1.5/$1.5",
		"own/other":                   "", "builtin": "",
	} {
		if got := m.Facts(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
