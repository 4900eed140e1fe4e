package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"fantail/agents/llm"
	"fantail/agents/llm/anthropic"
	"fantail/agents/llm/builtin"
	"fantail/agents/llm/openai"
	"fantail/agents/llm/responses"
	"fantail/store/config"
	"fantail/ui/shell"
)

// Models turns names into providers, according to the configuration and the environment. It is safe
// for concurrent use.
type Models struct {
	conf config.Config
	own  func(string) string // the environment it was made with

	abroad Vendors

	mu      sync.Mutex
	known   map[string]llm.Model // by name; one provider each, so that connections are reused
	keyed   map[string]*keyed    // providers that may have a key
	told    lists
	brought sync.Map // variables to values, from environments that brought a key; they override own
}

// NewModels returns the models that conf and the environment define.
func NewModels(conf config.Config, env func(string) string) *Models {
	return &Models{conf: conf, own: env, known: map[string]llm.Model{}, keyed: map[string]*keyed{}}
}

// env returns the value of a variable.
func (m *Models) env(name string) string {
	if v, is := m.brought.Load(name); is {
		return v.(string)
	}
	return m.own(name)
}

// keyed is a provider that is replaced when its key changes.
type keyed struct{ now atomic.Pointer[llm.Provider] }

var _ llm.Provider = &keyed{}

func (k *keyed) serve(p llm.Provider) { k.now.Store(&p) }

// Stream implements [llm.Provider].
func (k *keyed) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
	return (*k.now.Load()).Stream(ctx, req)
}

// Use applies the keys of another environment from now on, to models in use too. A key is sent only
// to the address set in the same environment, so Use takes the provider's address from there as
// well. It returns the variables that changed. Keys that env does not have stay.
func (m *Models) Use(env func(string) string) (fresh []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.conf.Accesses() {
		at := slices.IndexFunc(a.Keys, func(name string) bool { return strings.TrimSpace(env(name)) != "" })
		if at < 0 {
			continue
		}
		all := a.Keys
		if a.Base != "" {
			all = append(slices.Clone(all), a.Base)
		}
		var set []string
		changed := false
		for _, name := range all {
			v := strings.TrimSpace(env(name))
			if v == strings.TrimSpace(m.env(name)) {
				continue
			}
			changed = true
			m.brought.Store(name, v)
			if v != "" {
				set = append(set, name)
			}
		}
		if changed && set == nil {
			set = []string{a.Keys[at]} // the address that belonged to the key is no longer set
		}
		fresh = append(fresh, set...)
	}
	if fresh == nil {
		return nil
	}
	m.told.mu.Lock()
	m.told.all = nil
	m.told.mu.Unlock()
	for name, k := range m.keyed {
		c, err := m.conf.Resolve(m.env, name)
		if err != nil {
			continue // the address is invalid; the next request for another model reports it
		}
		if p, err := provider(c, m.env); err == nil {
			k.serve(p)
		}
	}
	slices.Sort(fresh)
	return slices.Compact(fresh)
}

// Choose returns the model to start with: the flag's, else what [config.Choose] finds. If ollama is
// nil, Ollama is not asked.
func (m *Models) Choose(flag, remembered string, ollama func() string) (config.Choice, error) {
	return m.choose(m.env, flag, remembered, ollama)
}

// ChooseIn is Choose with another environment and without a remembered model.
func (m *Models) ChooseIn(env func(string) string, flag string, ollama func() string) (config.Choice, error) {
	return m.choose(env, flag, "", ollama)
}

func (m *Models) choose(env func(string) string, flag, remembered string, ollama func() string) (config.Choice, error) {
	c, err := config.Choose(m.conf, env, flag, remembered, ollama)
	if err != nil && flag != "" {
		return c, shell.Misused("%v", err)
	}
	return c, err
}

// Resolve returns the model of that name. Its error names the known providers.
func (m *Models) Resolve(name string) (llm.Model, error) {
	m.mu.Lock() // key and address must come from the same environment
	defer m.mu.Unlock()
	c, err := m.conf.Resolve(m.env, name)
	if err != nil {
		return llm.Model{}, err
	}
	if model, met := m.known[c.Name()]; met {
		return model, nil
	}
	p, err := m.provider(c)
	if err != nil {
		return llm.Model{}, err
	}
	if c.Protocol != config.Builtin && c.Protocol != config.ACP {
		k := &keyed{}
		k.serve(p)
		m.keyed[c.Name()], p = k, k
	}
	model := llm.Model{Name: c.Name(), Provider: p, ID: c.Model, Vendor: c.Provider, AtOnce: c.AtOnce, Window: c.Known.Window, MaxOut: c.Known.MaxOutput, Sees: c.Known.Images}
	if c.Known.Priced {
		model.Price = func(u llm.Usage) int64 { return c.Known.Cost(u.Input, u.Output, u.CacheRead, u.CacheWrite) }
	}
	m.known[c.Name()] = model
	return model, nil
}

// Names lists the available models: the configured ones, each provider's default, and those that are known or that the
// provider listed, if its key is set. It sends no request.
func (m *Models) Names() []string {
	var names []string
	add := func(provider, model string) {
		if c, err := m.conf.Resolve(m.env, strings.TrimSuffix(provider+"/"+model, "/")); err == nil {
			names = append(names, c.Name())
		}
	}
	for _, o := range m.conf.Offered() {
		if _, told := m.told.of(o.Provider); !told || m.conf.Own(o) {
			add(o.Provider, o.Model)
		}
	}
	for _, provider := range m.conf.ProviderNames() {
		listed, _ := m.told.of(provider)
		for _, model := range listed {
			add(provider, model)
		}
	}
	add(config.Builtin, "")
	slices.Sort(names)
	return append(slices.Compact(names), m.vendors()...)
}

// Doubt returns, in one line, why the model of that name can't carry out a prompt; "": as far as
// known it can.
func (m *Models) Doubt(model, prompt string) string {
	known, err := m.Resolve(model)
	if err != nil {
		return ""
	}
	if p, ok := known.Provider.(builtin.Provider); ok {
		return p.Doubt(prompt)
	}
	return ""
}

// provider returns the provider for the choice.
func (m *Models) provider(c config.Choice) (llm.Provider, error) {
	if c.Protocol == config.ACP {
		return m.vendor(c)
	}
	return provider(c, m.env)
}

// provider returns a provider for the choice's protocol that retries after temporary failures.
func provider(c config.Choice, env func(string) string) (llm.Provider, error) {
	key := ""
	if c.KeyEnv != "" {
		key = env(c.KeyEnv)
	}
	switch c.Protocol {
	case config.Builtin:
		return builtin.Provider{Program: isProgram}, nil
	case config.Anthropic:
		o := anthropic.Options{Name: c.Provider, KeyVariable: c.KeyEnv, KeyHelp: c.KeyHelp, BaseURL: c.BaseURL, FirstByte: c.First}
		if c.Bearer {
			o.AuthToken = key
		} else {
			o.Key = key
		}
		return llm.Retry(anthropic.New(o), llm.RetryOptions{}), nil
	case config.Responses:
		return llm.Retry(responses.New(responses.Options{Name: c.Provider, Key: key, KeyVariable: c.KeyEnv, KeyHelp: c.KeyHelp, BaseURL: c.BaseURL, FirstByte: c.First}), llm.RetryOptions{}), nil
	case config.OpenAI:
		return llm.Retry(openai.New(openai.Options{Name: c.Provider, Key: key, KeyVariable: c.KeyEnv, KeyHelp: c.KeyHelp, BaseURL: c.BaseURL, FirstByte: c.First}), llm.RetryOptions{}), nil
	}
	return nil, fmt.Errorf("model %q: nobody here speaks the protocol %q", c.Name(), c.Protocol)
}

// askedFor is how long Ollama has to answer.
const askedFor = 300 * time.Millisecond

// Ollama asks the Ollama server of the environment for its models and returns the one used last; ""
// if no server answers in time.
func Ollama(ctx context.Context, env func(string) string) string {
	ctx, cancel := context.WithTimeout(ctx, askedFor)
	defer cancel()
	base, err := config.OllamaURL(env("OLLAMA_HOST"))
	if err != nil {
		return ""
	}
	var tags struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if !hear(ctx, base+"/api/tags", &tags) {
		return ""
	}
	for _, m := range tags.Models {
		if m.Name != "" {
			return m.Name
		}
	}
	return ""
}

// LocalModel asks the servers on this machine that need no key for their models. It returns the name of a model of the
// first that answers, and the server's address; "": none answers in time.
func (m *Models) LocalModel(ctx context.Context) (name, address string) {
	for _, c := range m.conf.Local(m.env) {
		if name := localModel(ctx, c); name != "" {
			u, _ := url.Parse(c.BaseURL)
			return name, u.Host
		}
	}
	return "", ""
}

// localModel is the name of the model of a server, or of the first that it lists; "": it does not answer in time.
func localModel(ctx context.Context, c config.Choice) string {
	ctx, cancel := context.WithTimeout(ctx, askedFor)
	defer cancel()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if !hear(ctx, c.BaseURL+"/models", &list) {
		return ""
	}
	for _, m := range list.Data {
		if m.ID != "" && !strings.ContainsFunc(m.ID, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			c.Model = cmp.Or(c.Model, m.ID)
			return c.Name()
		}
	}
	return ""
}

// hear asks a server of the user's own, and reads its JSON into answer.
func hear(ctx context.Context, address string, answer any) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	// A transport of its own, without a proxy: the question must not leave the
	// way the address names, and no connection stays behind.
	t := &http.Transport{DisableKeepAlives: true}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK && json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(answer) == nil
}
