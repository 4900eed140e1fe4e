package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"fantail/store/paths"
)

// Choice is a provider and a model, and how to reach them.
type Choice struct {
	Provider string        // a vendor's or row's name, or [Builtin]
	Protocol string        // [Anthropic], [OpenAI] or [Builtin]
	Model    string        // the provider's own name for it; "" for the built-in engine
	BaseURL  string        // "" means the protocol's default
	KeyEnv   string        // the variable that holds the key; "" means no key
	KeyHelp  string        // how to give it a key, in a sentence; "" if it has one
	Bearer   bool          // the key is sent in the Authorization header
	AtOnce   int           // background agents that it serves at once; 0: no limit
	First    time.Duration // how long the first byte may take; 0: the default
	Known    Model
	Why      string // one sentence for the start screen
	Lost     string // why it is not the model that is remembered; "": it is, or none is
	Doubt    string // why the provider may not have it; "": nothing speaks against it
	// AskOllama says that no model was found without asking Ollama: the caller asks it after the first frame, and calls
	// [Choose] again.
	AskOllama bool
}

// Name is the shown and written form of the choice: provider/model, or "builtin".
func (c Choice) Name() string {
	if c.Model == "" {
		return c.Provider
	}
	return c.Provider + "/" + c.Model
}

// Choose returns the model for a start: the flag, else FANTAIL_MODEL, else the last choice in the workspace, else the
// configuration, else the provider of the first key that is set, else Ollama if it answers, else the built-in engine. A
// model that was named and is unavailable is an error, and is never replaced; only the remembered one may be gone, and
// then Lost says so. ollama returns the name of a model that the Ollama server has, or "" if none answers; if ollama is
// nil Choose does not ask.
func Choose(c Config, env func(string) string, flagModel, remembered string, ollama func() string) (Choice, error) {
	if flagModel != "" || strings.TrimSpace(env("FANTAIL_MODEL")) != "" || remembered == "" {
		return choose(c, env, flagModel, ollama)
	}
	choice, lost := c.Resolve(env, remembered)
	if lost == nil {
		choice.Why = choice.Name() + " — chosen here with /model"
		return choice, nil
	}
	choice, err := choose(c, env, "", ollama)
	if err == nil {
		choice.Lost = fmt.Sprintf("%s, chosen here with /model, can't be had now: %v. %s is used.", remembered, lost, choice.Name())
	}
	return choice, err
}

// choose is Choose without a remembered model.
func choose(c Config, env func(string) string, flagModel string, ollama func() string) (Choice, error) {
	for _, asked := range []struct{ name, by string }{
		{flagModel, "--model"},
		{strings.TrimSpace(env("FANTAIL_MODEL")), "FANTAIL_MODEL"},
		{c.Model, "the configuration"},
	} {
		if asked.name == "" {
			continue
		}
		choice, err := c.Resolve(env, asked.name)
		if err != nil {
			return Choice{}, fmt.Errorf("%s: %w", asked.by, err)
		}
		choice.Why = choice.Name() + " — chosen by " + asked.by
		return choice, nil
	}
	for _, name := range c.byKey() {
		v, _ := c.row(name)
		if key := v.key(env); key != "" && v.Model != "" {
			choice, err := c.reach(env, v, v.Model)
			if err != nil {
				return Choice{}, err
			}
			choice.Why = fmt.Sprintf("%s — %s is set", choice.Name(), key)
			return choice, nil
		}
	}
	none := Choice{Provider: Builtin, Protocol: Builtin}
	if ollama == nil {
		none.AskOllama = true
		none.Why = "builtin — no key found; set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama"
		return none, nil
	}
	if model := ollama(); model != "" {
		v, _ := c.row("ollama")
		choice, err := c.reach(env, v, model)
		if err != nil {
			return Choice{}, err
		}
		choice.Why = choice.Name() + " — no key found, and Ollama answers"
		return choice, nil
	}
	none.Why = "builtin — no key found and Ollama does not answer; set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama"
	return none, nil
}

// Resolve finds a model by provider/name, by a provider alone (its default model), by a model's name alone, or by a part
// of a known name, such as opus: then it is the newest of them. If a provider's key is missing, the error names the
// variable.
func (c Config) Resolve(env func(string) string, name string) (Choice, error) {
	name = strings.TrimSpace(name)
	provider, model, _ := strings.Cut(name, "/")
	provider = strings.ToLower(provider)
	if provider == Builtin {
		if model != "" {
			return Choice{}, fmt.Errorf("model %q: the built-in engine has no models; write just %q", name, Builtin)
		}
		return Choice{Provider: Builtin, Protocol: Builtin, Why: "builtin — as asked"}, nil
	}
	if provider == ACP {
		return c.agentOf(model)
	}
	v, ok := c.row(provider)
	if !ok {
		if provider, model = c.named(env, name); provider == "" {
			return Choice{}, c.noSuch(name, name)
		}
		v, _ = c.row(provider)
	}
	if model == "" {
		model = v.Model
	}
	if model == "" {
		return Choice{}, fmt.Errorf("model %q: say which model of it, as %s/NAME", name, v.Name)
	}
	if !v.has(env) {
		return Choice{}, fmt.Errorf("model %q: %s needs a key; set %s", name, v.Name, strings.Join(v.KeyEnvs, " or "))
	}
	return c.reach(env, v, model)
}

// Local returns the providers on this machine that need no key: the user's own first.
func (c Config) Local(env func(string) string) (all []Choice) {
	for _, name := range append(sorted(c.Providers), c.ProviderNames()...) {
		v, ok := c.row(name)
		if !ok || v.Protocol != OpenAI || v.NeedsKey || slices.ContainsFunc(all, func(had Choice) bool { return had.Provider == name }) {
			continue
		}
		choice, err := c.reach(env, v, v.Model)
		if err != nil {
			continue
		}
		if u, err := url.Parse(choice.BaseURL); err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()) {
			all = append(all, choice)
		}
	}
	return all
}

// ErrUnknown is the error of a model whose provider is unknown.
var ErrUnknown = errors.New("no such provider")

func (c Config) noSuch(name, provider string) error {
	names := c.ProviderNames()
	hint := ""
	if meant := Nearest(provider, names); meant != "" {
		hint = fmt.Sprintf("did you mean %q? ", meant)
	}
	return fmt.Errorf("model %q: %w; %swrite PROVIDER/NAME; the providers are %s", name, ErrUnknown, hint, strings.Join(names, ", "))
}

// reach is the choice of that vendor's model.
func (c Config) reach(env func(string) string, v Vendor, model string) (Choice, error) {
	base, err := v.base(env)
	if err != nil {
		return Choice{}, fmt.Errorf("%s: %w", v.Name, err)
	}
	key := v.key(env)
	first, _ := c.Providers[v.Name].firstByte() // it was checked before
	help := ""
	if key == "" {
		help = v.keyHelp(env)
	}
	choice := Choice{
		Provider: v.Name, Protocol: v.Protocol, Model: model, BaseURL: base,
		KeyEnv: key, KeyHelp: help, Bearer: key == bearerEnv, AtOnce: v.AtOnce, First: first, Known: c.Known(v.Name, model),
	}
	if usual, _ := vendor(v.Name); base == usual.BaseURL {
		choice.Doubt = c.doubt(v.Name, model)
	}
	return choice, nil
}

// key is the name of the first of v's variables that is set.
func (v Vendor) key(env func(string) string) string {
	for _, name := range v.KeyEnvs {
		if strings.TrimSpace(env(name)) != "" {
			return name
		}
	}
	return ""
}

// keyHelp says how to give v a key.
func (v Vendor) keyHelp(env func(string) string) string {
	if len(v.KeyEnvs) > 0 {
		return "Set " + v.KeyEnvs[0] + "."
	}
	file, err := paths.File(env)
	if err != nil {
		file = "config.toml"
	}
	return fmt.Sprintf("Put it into a variable, and name that in %s, under [providers.%s]: key_env = \"VARIABLE\".", file, v.Name)
}

// byKey is the order of the keys that are tried: Anthropic, OpenAI, the user's own rows, the other vendors.
func (c Config) byKey() []string {
	names := []string{"anthropic", "openai"}
	for _, name := range sorted(c.Providers) {
		if _, known := vendor(name); !known {
			names = append(names, name)
		}
	}
	for _, v := range vendors[2:] {
		names = append(names, v.Name)
	}
	return names
}
