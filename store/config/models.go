package config

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Model is what is known about a model. Zero means unknown.
type Model struct {
	Window    int  // tokens
	MaxOutput int  // tokens of a reply
	Images    bool // it accepts pictures
	Priced    bool
	price     price
	long      grade
}

// price is dollars per million tokens, which is millionths of a dollar a token.
type price struct{ input, output, cacheRead, cacheWrite float64 }

// grade makes a request dearer, as a whole, when its prompt is longer than over
// tokens. The zero value never does.
type grade struct {
	over          int
	input, output float64 // factors; input is that of the caches too
}

// Cost is the price of one request in millionths of a dollar; 0 if m has no price.
func (m Model) Cost(input, output, cacheRead, cacheWrite int) int64 {
	p := m.price
	in := float64(input)*p.input + float64(cacheRead)*p.cacheRead + float64(cacheWrite)*p.cacheWrite
	out := float64(output) * p.output
	if m.long.over > 0 && input+cacheRead+cacheWrite > m.long.over {
		in, out = in*m.long.input, out*m.long.output
	}
	return int64(math.Round(in + out))
}

// known is a row of the table: a model's name without its date. A row without a price is for a model whose price a
// table can't give, for instance because it changes by the hour.
type known struct {
	vendor, name string
	window, out  int
	price        price
	long         grade
}

// As published by the vendors, November 2026.
var models = []known{
	{"anthropic", "claude-fable-5-1", 1_000_000, 128_000, price{10, 50, 0.25, 12.5}, grade{}},
	{"anthropic", "claude-fable-5", 1_000_000, 128_000, price{10, 50, 1, 12.5}, grade{}},
	{"anthropic", "claude-opus-5-5", 1_000_000, 128_000, price{4, 20, 0.2, 5}, grade{}},
	{"anthropic", "claude-opus-5", 1_000_000, 128_000, price{5, 25, 0.5, 6.25}, grade{}},
	{"anthropic", "claude-opus-4-8", 1_000_000, 128_000, price{5, 25, 0.5, 6.25}, grade{}},
	{"anthropic", "claude-opus-4-7", 1_000_000, 128_000, price{5, 25, 0.5, 6.25}, grade{}},
	{"anthropic", "claude-opus-4-6", 1_000_000, 128_000, price{5, 25, 0.5, 6.25}, grade{}},
	{"anthropic", "claude-opus-4-5", 200_000, 64_000, price{5, 25, 0.5, 6.25}, grade{}},
	{"anthropic", "claude-opus-4-1", 200_000, 32_000, price{15, 75, 1.5, 18.75}, grade{}},
	{"anthropic", "claude-opus-4", 200_000, 32_000, price{15, 75, 1.5, 18.75}, grade{}},
	{"anthropic", "claude-sonnet-5-5", 1_000_000, 128_000, price{2, 10, 0.1, 2.5}, grade{}},
	{"anthropic", "claude-sonnet-5", 1_000_000, 128_000, price{2, 10, 0.2, 2.5}, grade{}},
	{"anthropic", "claude-sonnet-4-6", 200_000, 64_000, price{3, 15, 0.3, 3.75}, grade{}},
	{"anthropic", "claude-sonnet-4-5", 200_000, 64_000, price{3, 15, 0.3, 3.75}, grade{}},
	{"anthropic", "claude-sonnet-4", 200_000, 64_000, price{3, 15, 0.3, 3.75}, grade{}},
	{"anthropic", "claude-haiku-5-5", 1_000_000, 128_000, price{0.1, 0.5, 0.01, 0.125}, grade{100_000, 5, 5}},
	{"anthropic", "claude-haiku-4-5", 200_000, 64_000, price{1, 5, 0.1, 1.25}, grade{}},
	{"anthropic", "claude-3-5-haiku", 200_000, 8_192, price{0.8, 4, 0.08, 1}, grade{}},

	{"openai", "gpt-5.6", 1_050_000, 128_000, price{4, 20, 0.4, 5}, grade{272_000, 2, 1.5}},
	{"openai", "gpt-5.6-sol", 1_050_000, 128_000, price{4, 20, 0.4, 5}, grade{272_000, 2, 1.5}},
	{"openai", "gpt-5.6-terra", 1_050_000, 128_000, price{2, 12, 0.2, 2.5}, grade{272_000, 2, 1.5}},
	{"openai", "gpt-5.6-luna", 1_050_000, 128_000, price{0.2, 1.2, 0.02, 0.25}, grade{272_000, 2, 1.5}},
	{"openai", "gpt-5.5", 1_050_000, 128_000, price{5, 30, 0.5, 5}, grade{272_000, 2, 1.5}},
	{"openai", "gpt-5.4", 1_050_000, 128_000, price{2.5, 15, 0.25, 2.5}, grade{272_000, 2, 1.5}},
	{"openai", "gpt-5.4-mini", 400_000, 128_000, price{0.75, 4.5, 0.075, 0.75}, grade{}},
	{"openai", "gpt-5.4-nano", 400_000, 128_000, price{0.2, 1.25, 0.02, 0.2}, grade{}},
	{"openai", "gpt-5.2", 400_000, 128_000, price{1.75, 14, 0.175, 1.75}, grade{}},
	{"openai", "gpt-5.1", 400_000, 128_000, price{1.25, 10, 0.125, 1.25}, grade{}},
	{"openai", "gpt-5.1-codex", 400_000, 128_000, price{1.25, 10, 0.125, 1.25}, grade{}},
	{"openai", "gpt-5.1-codex-max", 400_000, 128_000, price{1.25, 10, 0.125, 1.25}, grade{}},
	{"openai", "gpt-5", 400_000, 128_000, price{1.25, 10, 0.125, 1.25}, grade{}},
	{"openai", "gpt-5-codex", 400_000, 128_000, price{1.25, 10, 0.125, 1.25}, grade{}},
	{"openai", "gpt-5-mini", 400_000, 128_000, price{0.25, 2, 0.025, 0.25}, grade{}},
	{"openai", "gpt-5-nano", 400_000, 128_000, price{0.05, 0.4, 0.005, 0.05}, grade{}},
	{"openai", "gpt-5-pro", 400_000, 272_000, price{15, 120, 15, 15}, grade{}},
	{"openai", "gpt-4.1", 1_047_576, 32_768, price{2, 8, 0.5, 2}, grade{}},
	{"openai", "gpt-4.1-mini", 1_047_576, 32_768, price{0.4, 1.6, 0.1, 0.4}, grade{}},
	{"openai", "gpt-4.1-nano", 1_047_576, 32_768, price{0.1, 0.4, 0.025, 0.1}, grade{}},
	{"openai", "gpt-4o", 128_000, 16_384, price{2.5, 10, 1.25, 2.5}, grade{}},
	{"openai", "gpt-4o-mini", 128_000, 16_384, price{0.15, 0.6, 0.075, 0.15}, grade{}},
	{"openai", "o3", 200_000, 100_000, price{2, 8, 0.5, 2}, grade{}},
	{"openai", "o4-mini", 200_000, 100_000, price{1.1, 4.4, 0.275, 1.1}, grade{}},

	{"deepseek", "deepseek-flash", 1_000_000, 384_000, price{}, grade{}},
	{"deepseek", "deepseek-v4-flash", 1_000_000, 384_000, price{}, grade{}},
	{"deepseek", "deepseek-v4-pro", 1_000_000, 384_000, price{}, grade{}},
	{"groq", "openai/gpt-oss-120b", 131_072, 65_536, price{0.15, 0.6, 0.075, 0.15}, grade{}},
	{"groq", "openai/gpt-oss-20b", 131_072, 65_536, price{0.075, 0.3, 0.0375, 0.075}, grade{}},
	{"cerebras", "gpt-oss-120b", 131_072, 0, price{}, grade{}},
	{"xai", "grok-4.6", 500_000, 0, price{}, grade{}},
	{"xai", "grok-4.5", 500_000, 0, price{}, grade{}},
	{"xai", "grok-4.3", 1_000_000, 0, price{}, grade{}},
}

// sees reports whether the model accepts pictures: all listed models of these vendors do.
func (m known) sees() bool {
	return m.vendor == "anthropic" || m.vendor == "openai" || m.vendor == "xai"
}

// edition matches a suffix that does not make a model's name another model: a date, or "latest". Any other name is
// another model, whose price is not guessed.
var edition = regexp.MustCompile(`^(-latest|[-@](\d{8}|\d{4}-\d{2}-\d{2}|\d{4}|\d{6}))?$`)

// Known returns what is known about a provider's model. Fields that the user's own row lacks come from the table.
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
	if row.Images != nil {
		m.Images = *row.Images
	}
	if row.Input != nil && row.Output != nil {
		m.Priced, m.price, m.long = true, price{*row.Input, *row.Output, row.CacheRead, row.CacheWrite}, grade{}
	}
	return m
}

// listed returns the table's row. A model of a provider that is not in the table has its size, but no price: each
// provider sets its own.
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
			return Model{m.window, m.out, m.sees(), m.price != (price{}), m.price, m.long}
		case !vendored:
			return Model{Window: m.window, MaxOutput: m.out, Images: m.sees()}
		}
	}
	return Model{}
}

// named finds the provider and the model that a name without a provider means; "": none.
func (c Config) named(env func(string) string, name string) (provider, model string) {
	for _, m := range models {
		if rest, ok := strings.CutPrefix(name, m.name); ok && edition.MatchString(rest) {
			return m.vendor, name
		}
	}
	words := wordsOf(name)
	if strings.Contains(name, "/") || !strings.ContainsFunc(name, unicode.IsLetter) {
		return "", ""
	}
	for _, keyed := range []bool{true, false} {
		for _, meant := range []func(words, name []string) bool{ends, stands} {
			for _, o := range c.Offered() {
				v, _ := c.row(o.Provider)
				if v.has(env) == keyed && meant(words, wordsOf(o.Model)) {
					return o.Provider, o.Model
				}
			}
		}
	}
	switch {
	case strings.HasPrefix(name, "claude-"):
		return "anthropic", name
	case strings.HasPrefix(name, "gpt-"):
		return "openai", name
	}
	return "", ""
}

// wordsOf are the words and numbers of a model's name.
func wordsOf(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// ends is stands where a version at the end of the words must end the name too: opus-5 is not opus-5-5.
func ends(words, name []string) bool {
	if last := words[len(words)-1]; unicode.IsDigit(rune(last[0])) {
		return len(words) <= len(name) && slices.Equal(words, name[len(name)-len(words):])
	}
	return stands(words, name)
}

// stands reports whether the words stand in the name of a model, next to each other.
func stands(words, name []string) bool {
	for i := 0; i+len(words) <= len(name); i++ {
		if slices.Equal(words, name[i:i+len(words)]) {
			return true
		}
	}
	return false
}

// Offer is a model that a provider is known to have.
type Offer struct{ Provider, Model string }

// Offered lists the models that are known: those of the user's own rows, each provider's default, and those of the table,
// the newest first.
func (c Config) Offered() (all []Offer) {
	for _, provider := range sorted(c.Providers) {
		for _, model := range sorted(c.Providers[provider].Models) {
			all = append(all, Offer{provider, model})
		}
	}
	for _, provider := range c.ProviderNames() {
		if v, ok := c.row(provider); ok && v.Model != "" {
			all = append(all, Offer{provider, v.Model})
		}
	}
	for _, m := range models {
		all = append(all, Offer{m.vendor, m.name})
	}
	return all
}

// Own reports whether the user's own rows name the model.
func (c Config) Own(o Offer) bool {
	p := c.Providers[o.Provider]
	_, row := p.Models[o.Model]
	return row || o.Model == p.Model
}

// doubt says why a vendor may not have a model; "": it is known to, or its models are not known.
func (c Config) doubt(provider, model string) string {
	if c.Own(Offer{provider, model}) || listed(provider, model) != (Model{}) {
		return ""
	}
	var names []string
	for _, m := range models {
		if m.vendor == provider && m.sees() { // of the others the table has only a few
			names = append(names, m.name)
		}
	}
	if names == nil {
		return ""
	}
	return Unlisted(provider, model, names)
}

// Unlisted says that a model is none of those that its provider is known to have.
func Unlisted(provider, model string, names []string) string {
	says := fmt.Sprintf("%s is not known to have a model %q", provider, model)
	if near := Nearest(model, names); near != "" {
		says += "; did you mean " + near + "?"
	}
	return says
}
