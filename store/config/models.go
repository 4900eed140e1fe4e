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
	Name          string // as people say it, such as Claude Sonnet 5.5
	Window        int    // tokens
	MaxOutput     int    // tokens of a reply
	Images        bool   // it accepts pictures
	Efforts       []string
	DefaultEffort string
	Thinking      string // what a request may ask for: none, budget, either, adaptive, or always
	Priced        bool
	price         price
	long          grade
}

// Price returns dollars per million tokens; ok is false if m has no price.
func (m Model) Price() (input, output float64, ok bool) {
	return m.price.input, m.price.output, m.Priced
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

// edition matches a suffix that does not make a model's name another model: a date, or "latest". Any other name is
// another model, whose price is not guessed.
var edition = regexp.MustCompile(`^(-latest|[-@](\d{8}|\d{4}-\d{2}-\d{2}|\d{4}|\d{6}))?$`)

// Known returns what is known about a provider's model. Fields that the user's own row lacks come from the
// catalogue.
func (c Config) Known(provider, name string) Model {
	m, _ := listed(provider, name)
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

// listed returns the catalogue's row. A model of a provider that is not in the list of vendors has its size, but no
// price: each provider sets its own.
func listed(provider, name string) (Model, bool) {
	if m, ok := row(provider, name); ok && provider != "openrouter" {
		return m.model(), true
	}
	if provider == "openrouter" { // passes the vendors' prices on; writes 4.5 where Anthropic writes 4-5
		v, rest, _ := strings.Cut(name, "/")
		if v == "anthropic" {
			rest = strings.ReplaceAll(rest, ".", "-")
		}
		m, ok := row(v, rest)
		if !ok {
			m, ok = row(provider, name)
		}
		return m.model(), ok
	}
	if _, vendored := vendor(provider); vendored {
		return Model{}, false
	}
	for _, v := range vendors {
		if v.Name == "openrouter" {
			continue
		}
		if m, ok := row(v.Name, name); ok {
			known := m.model()
			known.Priced, known.price, known.long = false, price{}, grade{}
			return known, true
		}
	}
	return Model{}, false
}

// named finds the provider and the model that a name without a provider means; "": none.
func (c Config) named(env func(string) string, name string) (provider, model string) {
	for _, v := range vendors {
		if _, ok := row(v.Name, name); ok && v.Name != "openrouter" {
			return v.Name, name
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

// Offered lists the models that are known: those of the user's own rows, each provider's default, and those of the
// catalogue, the newest first.
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
	for _, v := range vendors {
		for _, m := range rows(v.Name) {
			all = append(all, Offer{v.Name, m.ID})
		}
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
	if _, known := listed(provider, model); known || c.Own(Offer{provider, model}) {
		return ""
	}
	if !slices.Contains([]string{"anthropic", "openai", "xai"}, provider) {
		return "" // the catalogue may have only a few of it
	}
	var names []string
	for _, m := range rows(provider) {
		names = append(names, m.ID)
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
