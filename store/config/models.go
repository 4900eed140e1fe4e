package config

import (
	"math"
	"regexp"
	"strings"
)

// Model is what is known of a model. Zero means unknown.
type Model struct {
	Window    int // tokens
	MaxOutput int // tokens of a reply
	Priced    bool
	price     price
}

// price is dollars per million tokens, which is millionths of a dollar a token.
type price struct{ input, output, cacheRead, cacheWrite float64 }

// Cost is the price of a request in millionths of a dollar; 0 if m has no price.
func (m Model) Cost(input, output, cacheRead, cacheWrite int) int64 {
	p := m.price
	return int64(math.Round(float64(input)*p.input + float64(output)*p.output +
		float64(cacheRead)*p.cacheRead + float64(cacheWrite)*p.cacheWrite))
}

// known is a row of the table: a model's name without its date.
type known struct {
	vendor, name string
	window, out  int
	price        price
}

// Public list prices; where a vendor grades its price by length, the lower grade.
var models = []known{
	{"anthropic", "claude-opus-4-7", 200_000, 64_000, price{5, 25, 0.5, 6.25}},
	{"anthropic", "claude-opus-4-6", 200_000, 64_000, price{5, 25, 0.5, 6.25}},
	{"anthropic", "claude-opus-4-5", 200_000, 64_000, price{5, 25, 0.5, 6.25}},
	{"anthropic", "claude-opus-4-1", 200_000, 32_000, price{15, 75, 1.5, 18.75}},
	{"anthropic", "claude-opus-4", 200_000, 32_000, price{15, 75, 1.5, 18.75}},
	{"anthropic", "claude-opus-4-0", 200_000, 32_000, price{15, 75, 1.5, 18.75}},
	{"anthropic", "claude-sonnet-4-6", 200_000, 64_000, price{3, 15, 0.3, 3.75}},
	{"anthropic", "claude-sonnet-4-5", 200_000, 64_000, price{3, 15, 0.3, 3.75}},
	{"anthropic", "claude-sonnet-4", 200_000, 64_000, price{3, 15, 0.3, 3.75}},
	{"anthropic", "claude-sonnet-4-0", 200_000, 64_000, price{3, 15, 0.3, 3.75}},
	{"anthropic", "claude-haiku-4-5", 200_000, 64_000, price{1, 5, 0.1, 1.25}},
	{"anthropic", "claude-3-7-sonnet", 200_000, 64_000, price{3, 15, 0.3, 3.75}},
	{"anthropic", "claude-3-5-haiku", 200_000, 8_192, price{0.8, 4, 0.08, 1}},

	{"openai", "gpt-5.2", 400_000, 128_000, price{1.75, 14, 0.175, 0}},
	{"openai", "gpt-5.2-codex", 400_000, 128_000, price{1.75, 14, 0.175, 0}},
	{"openai", "gpt-5.1", 400_000, 128_000, price{1.25, 10, 0.125, 0}},
	{"openai", "gpt-5.1-codex", 400_000, 128_000, price{1.25, 10, 0.125, 0}},
	{"openai", "gpt-5.1-codex-max", 400_000, 128_000, price{1.25, 10, 0.125, 0}},
	{"openai", "gpt-5.1-codex-mini", 400_000, 128_000, price{0.25, 2, 0.025, 0}},
	{"openai", "gpt-5", 400_000, 128_000, price{1.25, 10, 0.125, 0}},
	{"openai", "gpt-5-codex", 400_000, 128_000, price{1.25, 10, 0.125, 0}},
	{"openai", "gpt-5-mini", 400_000, 128_000, price{0.25, 2, 0.025, 0}},
	{"openai", "gpt-5-nano", 400_000, 128_000, price{0.05, 0.4, 0.005, 0}},
	{"openai", "gpt-5-pro", 400_000, 272_000, price{15, 120, 15, 0}},
	{"openai", "gpt-4.1", 1_047_576, 32_768, price{2, 8, 0.5, 0}},
	{"openai", "gpt-4.1-mini", 1_047_576, 32_768, price{0.4, 1.6, 0.1, 0}},
	{"openai", "gpt-4.1-nano", 1_047_576, 32_768, price{0.1, 0.4, 0.025, 0}},
	{"openai", "gpt-4o", 128_000, 16_384, price{2.5, 10, 1.25, 0}},
	{"openai", "gpt-4o-mini", 128_000, 16_384, price{0.15, 0.6, 0.075, 0}},
	{"openai", "o3", 200_000, 100_000, price{2, 8, 0.5, 0}},
	{"openai", "o4-mini", 200_000, 100_000, price{1.1, 4.4, 0.275, 0}},

	{"deepseek", "deepseek-chat", 128_000, 8_192, price{0.28, 0.42, 0.028, 0.28}},
	{"deepseek", "deepseek-reasoner", 128_000, 65_536, price{0.28, 0.42, 0.028, 0.28}},
	{"groq", "openai/gpt-oss-120b", 131_072, 65_536, price{0.15, 0.6, 0.075, 0}},
	{"groq", "openai/gpt-oss-20b", 131_072, 65_536, price{0.075, 0.3, 0.0375, 0}},
	{"groq", "llama-3.3-70b-versatile", 131_072, 32_768, price{0.59, 0.79, 0.59, 0}},
	{"xai", "grok-code-fast-1", 256_000, 0, price{0.2, 1.5, 0.02, 0}},
	{"xai", "grok-4-fast", 2_000_000, 0, price{0.2, 0.5, 0.05, 0}},
	{"xai", "grok-4", 256_000, 0, price{3, 15, 0.75, 0}},
	{"mistral", "mistral-medium", 128_000, 0, price{0.4, 2, 0.4, 0}},
	{"mistral", "codestral", 256_000, 0, price{0.3, 0.9, 0.3, 0}},
}

// edition is what may follow a model's name without making it another model: a
// date, or "latest". Anything else is a model of its own, whose price is not
// guessed.
var edition = regexp.MustCompile(`^(-latest|[-@](\d{8}|\d{4}-\d{2}-\d{2}|\d{4}|\d{6}))?$`)

// Known returns what is known of a provider's model. What the user's own row
// leaves out is taken from the table.
func (c Config) Known(provider, name string) Model {
	m := listed(provider, name)
	row, ok := c.Providers[provider].Models[name]
	if !ok {
		return m
	}
	if row.Window > 0 {
		m.Window = row.Window
	}
	if row.MaxOutput > 0 {
		m.MaxOutput = row.MaxOutput
	}
	if row.Input != nil && row.Output != nil {
		m.Priced, m.price = true, price{*row.Input, *row.Output, row.CacheRead, row.CacheWrite}
	}
	return m
}

// listed is the table's row. A model behind a provider that is not in the table
// has its size, but not its price: that is the provider's own.
func listed(provider, name string) Model {
	if provider == "openrouter" { // passes the vendors' prices on; writes 4.5 where Anthropic writes 4-5
		v, rest, _ := strings.Cut(name, "/")
		if v == "anthropic" {
			rest = strings.ReplaceAll(rest, ".", "-")
		}
		provider, name = v, rest
	}
	_, vendored := vendor(provider)
	for _, m := range models {
		rest, ok := strings.CutPrefix(name, m.name)
		switch {
		case !ok || !edition.MatchString(rest):
		case m.vendor == provider:
			return Model{m.window, m.out, true, m.price}
		case !vendored:
			return Model{Window: m.window, MaxOutput: m.out}
		}
	}
	return Model{}
}

// vendorOf guesses the provider of a model that was named without one.
func vendorOf(model string) string {
	for _, m := range models {
		if rest, ok := strings.CutPrefix(model, m.name); ok && edition.MatchString(rest) {
			return m.vendor
		}
	}
	switch {
	case strings.HasPrefix(model, "claude-"):
		return "anthropic"
	case strings.HasPrefix(model, "gpt-"):
		return "openai"
	}
	return ""
}
