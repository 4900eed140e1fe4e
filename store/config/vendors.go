package config

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// The protocols, and the engine that needs none.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"           // Chat Completions
	Responses = "openai-responses" // OpenAI's own
	Builtin   = "builtin"
)

// Vendor is a known provider.
type Vendor struct {
	Name     string
	Protocol string
	BaseURL  string   // "" means the protocol's default
	BaseEnv  string   // the variable that overrides BaseURL
	KeyEnvs  []string // the variables that may hold the key; the first one that is set counts
	NeedsKey bool
	Model    string // the default model; "": it depends on the installation
	AtOnce   int    // background agents that it serves at once, where more would wait for each other; 0: no limit
}

// The order is the one in which keys are tried.
var vendors = []Vendor{
	{"anthropic", Anthropic, "", "ANTHROPIC_BASE_URL", []string{"ANTHROPIC_API_KEY", bearerEnv}, true, "claude-sonnet-5-5", 0},
	{"openai", OpenAI, "https://api.openai.com/v1", "OPENAI_BASE_URL", []string{"OPENAI_API_KEY"}, true, "gpt-5.6-terra", 0},
	{"openrouter", OpenAI, "https://openrouter.ai/api/v1", "", []string{"OPENROUTER_API_KEY"}, true, "anthropic/claude-sonnet-5.5", 0},
	{"deepseek", OpenAI, "https://api.deepseek.com/v1", "", []string{"DEEPSEEK_API_KEY"}, true, "deepseek-flash", 0},
	{"groq", OpenAI, "https://api.groq.com/openai/v1", "", []string{"GROQ_API_KEY"}, true, "openai/gpt-oss-120b", 0},
	{"mistral", OpenAI, "https://api.mistral.ai/v1", "", []string{"MISTRAL_API_KEY"}, true, "mistral-medium-latest", 0},
	{"xai", OpenAI, "https://api.x.ai/v1", "", []string{"XAI_API_KEY"}, true, "grok-4.6", 0},
	{"together", OpenAI, "https://api.together.xyz/v1", "", []string{"TOGETHER_API_KEY"}, true, "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", 0},
	{"fireworks", OpenAI, "https://api.fireworks.ai/inference/v1", "", []string{"FIREWORKS_API_KEY"}, true, "accounts/fireworks/models/qwen3-coder-480b-a35b-instruct", 0},
	{"cerebras", OpenAI, "https://api.cerebras.ai/v1", "", []string{"CEREBRAS_API_KEY"}, true, "gpt-oss-120b", 0},
	{"moonshot", OpenAI, "https://api.moonshot.ai/v1", "", []string{"MOONSHOT_API_KEY"}, true, "kimi-k2-0905-preview", 0},
	{"ollama", OpenAI, "http://127.0.0.1:11434/v1", "OLLAMA_HOST", nil, false, "", 1},
	{"lmstudio", OpenAI, "http://127.0.0.1:1234/v1", "", nil, false, "", 0},
	{"llamacpp", OpenAI, "http://127.0.0.1:8080/v1", "", nil, false, "default", 0},
	{"vllm", OpenAI, "http://127.0.0.1:8000/v1", "", []string{"VLLM_API_KEY"}, false, "", 0},
}

// bearerEnv holds a token that is sent in the Authorization header instead of the protocol's own.
const bearerEnv = "ANTHROPIC_AUTH_TOKEN"

func vendor(name string) (Vendor, bool) {
	for _, v := range vendors {
		if v.Name == name {
			return v, true
		}
	}
	return Vendor{}, false
}

// ProviderNames lists the names for `--model`: the vendors, c's own rows and the built-in engine.
func (c Config) ProviderNames() []string {
	var names []string
	for _, v := range vendors {
		names = append(names, v.Name)
	}
	for _, name := range sorted(c.Providers) {
		if _, known := vendor(name); !known {
			names = append(names, name)
		}
	}
	return append(names, Builtin)
}

// KeyEnvs lists the variables that may hold a key: those of all vendors and of c's own rows, in use or not.
func (c Config) KeyEnvs() []string {
	var names []string
	for _, v := range vendors {
		names = append(names, v.KeyEnvs...)
	}
	for _, name := range sorted(c.Providers) {
		if key := c.Providers[name].KeyEnv; key != "" {
			names = append(names, key)
		}
	}
	return names
}

// Access has the variables for a provider's address and key.
type Access struct {
	Keys []string // variables for its key; the first one that is set counts
	Base string   // the variable for its address; "": none
}

// Accesses lists those of all providers that may have a key.
func (c Config) Accesses() (all []Access) {
	for _, name := range c.ProviderNames() {
		if v, ok := c.row(name); ok && len(v.KeyEnvs) > 0 {
			all = append(all, Access{v.KeyEnvs, v.BaseEnv})
		}
	}
	return all
}

// Keyed returns a choice of each provider that has a key, to ask it which models it has. Its model may be "".
func (c Config) Keyed(env func(string) string) (all []Choice) {
	for _, name := range c.ProviderNames() {
		v, ok := c.row(name)
		if !ok || v.key(env) == "" {
			continue
		}
		if choice, err := c.reach(env, v, v.Model); err == nil {
			all = append(all, choice)
		}
	}
	return all
}

// has reports whether the provider can be asked: it has its key, or needs none.
func (v Vendor) has(env func(string) string) bool {
	return !v.NeedsKey || v.key(env) != "" || v.BaseEnv != "" && env(v.BaseEnv) != ""
}

// row is the vendor of that name with c's changes.
func (c Config) row(name string) (Vendor, bool) {
	v, known := vendor(name)
	p, own := c.Providers[name]
	if !known && !own {
		return v, false
	}
	v.Name = name
	if p.Protocol != "" {
		v.Protocol = p.Protocol
	}
	if p.BaseURL != "" {
		v.BaseURL = p.BaseURL
	}
	if p.Model != "" {
		v.Model = p.Model
	}
	if p.AtOnce > 0 {
		v.AtOnce = p.AtOnce
	}
	if v.Model == "" && len(p.Models) > 0 {
		v.Model = sorted(p.Models)[0]
	}
	switch {
	case p.KeyEnv != "":
		v.KeyEnvs, v.NeedsKey = []string{p.KeyEnv}, true
	case p.BaseURL != "":
		v.NeedsKey = false // a server of the user's own
	}
	return v, true
}

// base is the base URL of the environment, else the row's.
func (v Vendor) base(env func(string) string) (string, error) {
	s := ""
	if v.BaseEnv != "" {
		s = strings.TrimSpace(env(v.BaseEnv))
	}
	switch {
	case s == "":
		return v.BaseURL, nil
	case v.BaseEnv == "OLLAMA_HOST":
		root, err := OllamaURL(s)
		return root + "/v1", err
	}
	if err := checkURL(s); err != nil {
		return "", errors.New(v.BaseEnv + ": " + err.Error())
	}
	return strings.TrimRight(s, "/"), nil
}

// OllamaURL returns the URL of an Ollama server from a value of OLLAMA_HOST: a host, host:port, :port or a URL; "" is
// the default. An address to listen on (0.0.0.0, ::) becomes loopback. The result has no slash at its end.
func OllamaURL(host string) (string, error) {
	const port = "11434"
	bad := errors.New("OLLAMA_HOST: want a host, host:port or URL, such as 127.0.0.1:11434")
	host = strings.Trim(strings.TrimSpace(host), `"'`)
	scheme, rest, ok := strings.Cut(host, "://")
	if !ok {
		scheme, rest = "http", host
	}
	if scheme != "http" && scheme != "https" {
		return "", bad
	}
	rest = strings.TrimRight(rest, "/")
	rest, path, _ := strings.Cut(rest, "/")
	if strings.Contains(rest, "@") {
		return "", bad
	}
	name, p := rest, ""
	switch {
	case strings.Count(rest, ":") > 1 && !strings.HasPrefix(rest, "["): // a bare IPv6 address
	case strings.HasPrefix(rest, "[") && strings.HasSuffix(rest, "]"):
		name = rest[1 : len(rest)-1]
	case strings.Contains(rest, ":"):
		var err error
		if name, p, err = net.SplitHostPort(rest); err != nil {
			return "", bad
		}
	}
	if p == "" {
		switch {
		case !ok:
			p = port
		case scheme == "https":
			p = "443"
		default:
			p = "80"
		}
	}
	if name == "" || net.ParseIP(name).IsUnspecified() {
		name = "127.0.0.1"
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(name, p)}
	if path != "" {
		u.Path = "/" + path
	}
	if again, err := url.Parse(u.String()); err != nil || again.Host != u.Host || strings.ContainsAny(name, " \t#?%") {
		return "", bad
	}
	return u.String(), nil
}
