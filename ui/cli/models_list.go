package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"fantail/store/config"
	"fantail/ui/cells"
)

// Bounds of a list of models that a provider sends.
const (
	listTime  = 5 * time.Second
	listBytes = 4 << 20
	listNames = 2000
	nameBytes = 200
)

// lists is what the providers with a key said they have. It is safe for concurrent use.
type lists struct {
	mu  sync.Mutex
	all map[string][]string // by provider
}

func (l *lists) of(provider string) ([]string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	names, ok := l.all[provider]
	return names, ok
}

// Ask asks each provider with a key for the models that it has, unless it told before with these keys. It returns once
// all have answered, at the latest after five seconds. One that does not answer is asked again next time.
func (m *Models) Ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	var asks sync.WaitGroup
	for _, c := range m.conf.Keyed(m.env) {
		if _, told := m.told.of(c.Provider); told {
			continue
		}
		key := m.env(c.KeyEnv)
		asks.Go(func() {
			names, err := list(ctx, c, key)
			if err != nil {
				return // Doubt is left to what is known
			}
			m.told.mu.Lock()
			defer m.told.mu.Unlock()
			if m.env(c.KeyEnv) == key { // not of a key that was replaced meanwhile
				if m.told.all == nil {
					m.told.all = map[string][]string{}
				}
				m.told.all[c.Provider] = names
			}
		})
	}
	asks.Wait()
}

// Unlisted says why the provider of a model may not have it, once it was asked; "": nothing speaks against it.
func (m *Models) Unlisted(ctx context.Context, name string) string {
	c, err := m.conf.Resolve(m.env, name)
	if err != nil || c.Model == "" || c.KeyEnv == "" || c.Known.Window > 0 {
		return ""
	}
	m.Ask(ctx)
	names, told := m.told.of(c.Provider)
	switch {
	case !told || len(names) == 0:
		return c.Doubt
	case slices.Contains(names, c.Model):
		return ""
	}
	return config.Unlisted(c.Provider, c.Model, names)
}

// Facts says in a few words what is known about a model: its window, its price per million tokens of input and output,
// its levels of effort, and the name that people say. "": nothing is.
func (m *Models) Facts(name string) string {
	provider, model, _ := strings.Cut(name, "/")
	k := m.conf.Known(provider, model)
	var facts []string
	if k.Window > 0 {
		facts = append(facts, windowSize(k.Window))
	}
	if input, output, ok := k.Price(); ok {
		facts = append(facts, fmt.Sprintf("$%g/$%g", input, output))
	}
	if n := len(k.Efforts); n > 1 {
		facts = append(facts, k.Efforts[0]+"–"+k.Efforts[n-1])
	}
	if k.Name != "" {
		facts = append(facts, k.Name)
	}
	return cells.CleanLine(strings.Join(facts, " · "))
}

// windowSize is a number of tokens, rounded: 1.05M, 128k.
func windowSize(tokens int) string {
	if tokens >= 1_000_000 {
		return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", float64(tokens)/1e6), "0"), ".") + "M"
	}
	return fmt.Sprintf("%dk", (tokens+500)/1000)
}

// list asks a provider which models it has. What is no name that can be shown is left out.
func list(ctx context.Context, c config.Choice, key string) ([]string, error) {
	at, header := strings.TrimRight(c.BaseURL, "/")+"/models", http.Header{}
	header.Set("Authorization", "Bearer "+key)
	if c.Protocol == config.Anthropic {
		base := c.BaseURL
		if base == "" {
			base = "https://api.anthropic.com"
		}
		at = strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1") + "/v1/models?limit=1000"
		header.Set("Anthropic-Version", "2023-06-01")
		if !c.Bearer {
			header.Del("Authorization")
			header.Set("X-Api-Key", key)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	req.Header = header
	// No redirect is followed, so that the key stays where it belongs, and no connection stays open.
	resp, err := (&http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var body struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", c.Provider, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, listBytes)).Decode(&body); err != nil {
		return nil, err
	}
	var names []string
	for _, d := range body.Data {
		if d.ID != "" && len(d.ID) <= nameBytes && cells.CleanLine(d.ID) == d.ID && !strings.ContainsAny(d.ID, " \t") && len(names) < listNames {
			names = append(names, d.ID)
		}
	}
	return names, nil
}
