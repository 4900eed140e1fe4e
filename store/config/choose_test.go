package config

import (
	"fmt"
	"strings"
	"testing"
)

const secret = "sk-very-secret"

func TestChoose(t *testing.T) {
	price := 1.0
	local := Config{Providers: map[string]ProviderRow{"local": {
		Protocol: OpenAI, BaseURL: "http://h:1/v1", KeyEnv: "LOCAL_KEY",
		Models: map[string]ModelRow{"m": {Window: 7, Input: &price, Output: &price}},
	}}}
	answers := func() string { return "qwen3:8b" }
	silent := func() string { return "" }
	for name, tc := range map[string]struct {
		c       Config
		env     string // NAME NAME=VALUE …
		flag    string
		here    string // the last choice with /model
		lost    string
		ollama  func() string
		want    string // name, base URL, key variable
		why     string
		failing string
	}{
		"nothing, not asked":         {want: "builtin  ", why: "no key found; set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama"},
		"nothing, Ollama silent":     {ollama: silent, want: "builtin  ", why: "Ollama does not answer"},
		"nothing, Ollama answers":    {ollama: answers, want: "ollama/qwen3:8b http://127.0.0.1:11434/v1 ", why: "Ollama answers"},
		"Ollama elsewhere":           {env: "OLLAMA_HOST=box:99", ollama: answers, want: "ollama/qwen3:8b http://box:99/v1 "},
		"anthropic key":              {env: "ANTHROPIC_API_KEY", want: "anthropic/claude-sonnet-5-5  ANTHROPIC_API_KEY", why: "anthropic/claude-sonnet-5-5 — ANTHROPIC_API_KEY is set"},
		"anthropic token":            {env: "ANTHROPIC_AUTH_TOKEN", want: "anthropic/claude-sonnet-5-5  ANTHROPIC_AUTH_TOKEN"},
		"key before token":           {env: "ANTHROPIC_AUTH_TOKEN ANTHROPIC_API_KEY", want: "anthropic/claude-sonnet-5-5  ANTHROPIC_API_KEY"},
		"anthropic before openai":    {env: "OPENAI_API_KEY ANTHROPIC_API_KEY", want: "anthropic/claude-sonnet-5-5  ANTHROPIC_API_KEY"},
		"anthropic base":             {env: "ANTHROPIC_API_KEY ANTHROPIC_BASE_URL=http://127.0.0.1:9/", want: "anthropic/claude-sonnet-5-5 http://127.0.0.1:9 ANTHROPIC_API_KEY"},
		"openai base":                {env: "OPENAI_API_KEY OPENAI_BASE_URL=http://127.0.0.1:9/v1", want: "openai/gpt-5.6-terra http://127.0.0.1:9/v1 OPENAI_API_KEY"},
		"openai":                     {env: "OPENAI_API_KEY", want: "openai/gpt-5.6-terra https://api.openai.com/v1 OPENAI_API_KEY"},
		"another vendor":             {env: "GROQ_API_KEY", want: "groq/openai/gpt-oss-120b https://api.groq.com/openai/v1 GROQ_API_KEY"},
		"own row before others":      {c: local, env: "GROQ_API_KEY LOCAL_KEY", want: "local/m http://h:1/v1 LOCAL_KEY"},
		"a blank key is none":        {env: "ANTHROPIC_API_KEY=  ", want: "builtin  "},
		"flag":                       {env: "ANTHROPIC_API_KEY OPENAI_API_KEY", flag: "openai/gpt-5-mini", want: "openai/gpt-5-mini https://api.openai.com/v1 OPENAI_API_KEY", why: "chosen by --model"},
		"flag beats FANTAIL_MODEL":   {env: "ANTHROPIC_API_KEY FANTAIL_MODEL=anthropic", flag: "builtin", want: "builtin  ", why: "chosen by --model"},
		"FANTAIL_MODEL beats file":   {c: Config{Model: "nonsense/x"}, env: "FANTAIL_MODEL=builtin ANTHROPIC_API_KEY", want: "builtin  ", why: "FANTAIL_MODEL"},
		"file beats keys":            {c: Config{Model: "ollama/qwen3"}, env: "ANTHROPIC_API_KEY", want: "ollama/qwen3 http://127.0.0.1:11434/v1 ", why: "the configuration"},
		"provider alone":             {env: "MISTRAL_API_KEY", flag: "mistral", want: "mistral/mistral-medium-latest https://api.mistral.ai/v1 MISTRAL_API_KEY"},
		"model alone":                {env: "ANTHROPIC_API_KEY", flag: "claude-opus-4-5", want: "anthropic/claude-opus-4-5  ANTHROPIC_API_KEY"},
		"a part of a name":           {env: "ANTHROPIC_API_KEY OPENAI_API_KEY", flag: "opus", want: "anthropic/claude-opus-5-5  ANTHROPIC_API_KEY"},
		"the default first":          {env: "ANTHROPIC_API_KEY", flag: "Sonnet", want: "anthropic/claude-sonnet-5-5  ANTHROPIC_API_KEY"},
		"the newest":                 {env: "ANTHROPIC_API_KEY", flag: "haiku", want: "anthropic/claude-haiku-5-5  ANTHROPIC_API_KEY"},
		"with its version":           {env: "ANTHROPIC_API_KEY", flag: "opus-5", want: "anthropic/claude-opus-5  ANTHROPIC_API_KEY"},
		"with half a version":        {env: "ANTHROPIC_API_KEY", flag: "claude-sonnet-4", want: "anthropic/claude-sonnet-4  ANTHROPIC_API_KEY"},
		"a version with a dot":       {env: "ANTHROPIC_API_KEY", flag: "sonnet 4.5", want: "anthropic/claude-sonnet-4-5  ANTHROPIC_API_KEY"},
		"gpt-5":                      {env: "OPENAI_API_KEY", flag: "gpt-5", want: "openai/gpt-5 https://api.openai.com/v1 OPENAI_API_KEY"},
		"gpt":                        {env: "OPENAI_API_KEY", flag: "gpt", want: "openai/gpt-5.6-terra https://api.openai.com/v1 OPENAI_API_KEY"},
		"where the key is":           {env: "OPENROUTER_API_KEY", flag: "sonnet", want: "openrouter/anthropic/claude-sonnet-5.5 https://openrouter.ai/api/v1 OPENROUTER_API_KEY"},
		"a part without a key":       {env: "OPENAI_API_KEY", flag: "opus", failing: "anthropic needs a key; set ANTHROPIC_API_KEY"},
		"a part of an own model":     {c: local, env: "LOCAL_KEY ANTHROPIC_API_KEY", flag: "m", want: "local/m http://h:1/v1 LOCAL_KEY"},
		"a part in the file":         {c: Config{Model: "opus"}, env: "ANTHROPIC_API_KEY", want: "anthropic/claude-opus-5-5  ANTHROPIC_API_KEY", why: "the configuration"},
		"letters are no part":        {env: "ANTHROPIC_API_KEY", flag: "opu", failing: "no such provider"},
		"a number is no part":        {env: "ANTHROPIC_API_KEY", flag: "5", failing: "no such provider"},
		"new model alone":            {env: "OPENAI_API_KEY", flag: "gpt-77", want: "openai/gpt-77 https://api.openai.com/v1 OPENAI_API_KEY"},
		"slashes belong to the name": {env: "OPENROUTER_API_KEY", flag: "openrouter/a/b/c", want: "openrouter/a/b/c https://openrouter.ai/api/v1 OPENROUTER_API_KEY"},
		"own server without a key":   {env: "OPENAI_BASE_URL=http://127.0.0.1:9/v1", flag: "openai/x", want: "openai/x http://127.0.0.1:9/v1 "},
		"here":                       {env: "OPENAI_API_KEY", here: "openai/x", want: "openai/x https://api.openai.com/v1 OPENAI_API_KEY", why: "chosen here with /model"},
		"here beats file":            {c: Config{Model: "ollama/qwen3"}, env: "OPENAI_API_KEY", here: "openai/x", want: "openai/x https://api.openai.com/v1 OPENAI_API_KEY"},
		"here beats a broken file":   {c: Config{Model: "nonsense/x"}, here: "builtin", want: "builtin  ", why: "chosen here"},
		"FANTAIL_MODEL beats here":   {env: "FANTAIL_MODEL=builtin OPENAI_API_KEY", here: "openai/x", want: "builtin  ", why: "FANTAIL_MODEL"},
		"flag beats here":            {env: "OPENAI_API_KEY", flag: "builtin", here: "openai/x", want: "builtin  ", why: "--model"},
		"here is gone":               {c: Config{Model: "ollama/qwen3"}, here: "openai/x", want: "ollama/qwen3 http://127.0.0.1:11434/v1 ", why: "the configuration", lost: "openai needs a key; set OPENAI_API_KEY. ollama/qwen3 is used."},
		"here nobody knows it":       {here: "gone/x", want: "builtin  ", why: "no key", lost: "gone/x, chosen here with /model, can't be had now"},
		"here and the file are gone": {c: Config{Model: "nonsense/x"}, here: "openai/x", failing: `the configuration: model "nonsense/x"`},
		"unknown provider":           {flag: "antropic/x", failing: `--model: model "antropic/x": no such provider; did you mean "anthropic"? write PROVIDER/NAME; the providers are anthropic, openai, openrouter`},
		"unknown in FANTAIL_MODEL":   {env: "FANTAIL_MODEL=what ANTHROPIC_API_KEY", failing: `FANTAIL_MODEL: model "what": no such provider`},
		"key missing":                {env: "OPENAI_API_KEY", flag: "anthropic/claude-x", failing: "anthropic needs a key; set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"},
		"own key missing":            {c: local, flag: "local/m", failing: "local needs a key; set LOCAL_KEY"},
		"Ollama without a model":     {flag: "ollama", failing: "say which model of it, as ollama/NAME"},
		"builtin has no models":      {flag: "builtin/x", failing: "no models"},
		"bad base":                   {env: "OPENAI_API_KEY OPENAI_BASE_URL=" + secret, failing: "OPENAI_BASE_URL: want a URL"},
		"bad Ollama host":            {env: "OLLAMA_HOST=ftp://" + secret, flag: "ollama/x", failing: "OLLAMA_HOST: want"},
	} {
		t.Run(name, func(t *testing.T) {
			env := func(key string) string {
				for word := range strings.SplitSeq(strings.ReplaceAll(tc.env, "=  ", "=\t"), " ") {
					k, v, given := strings.Cut(word, "=")
					if k == key && given {
						return strings.TrimSpace(v)
					}
					if k == key {
						return secret
					}
				}
				return ""
			}
			got, err := Choose(tc.c, env, tc.flag, tc.here, tc.ollama)
			if shown := fmt.Sprintf("%+v %v", got, err); strings.Contains(shown, secret) {
				t.Errorf("a key is printed: %s", shown)
			}
			if tc.failing != "" {
				if err == nil || !strings.Contains(err.Error(), tc.failing) {
					t.Errorf("got %v, %v\nwant an error with %s", got, err, tc.failing)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s := got.Name() + " " + got.BaseURL + " " + got.KeyEnv; s != tc.want {
				t.Errorf("got %q, want %q", s, tc.want)
			}
			if !strings.Contains(got.Lost, tc.lost) || (got.Lost == "") != (tc.lost == "") {
				t.Errorf("lost: %q, want …%q", got.Lost, tc.lost)
			}
			if got.Why == "" || !strings.Contains(got.Why, tc.why) || !strings.HasPrefix(got.Why, got.Name()+" — ") {
				t.Errorf("why: %q, want …%q", got.Why, tc.why)
			}
			if got.AskOllama != (tc.ollama == nil && got.Provider == Builtin && strings.Contains(got.Why, "no key")) {
				t.Errorf("AskOllama is %v", got.AskOllama)
			}
			if got.Bearer != (got.KeyEnv == "ANTHROPIC_AUTH_TOKEN") {
				t.Errorf("Bearer is %v", got.Bearer)
			}
		})
	}
}

// TestResolve_doubt: a name that a vendor is not known to have is taken with a doubt, unless another server answers.
func TestResolve_doubt(t *testing.T) {
	env := func(key string) string {
		return map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GROQ_API_KEY": "k"}[key]
	}
	c := Config{Providers: map[string]ProviderRow{"anthropic": {Models: map[string]ModelRow{"claude-mine": {}}}}}
	for name, want := range map[string]string{
		"anthropic/claude-sonet-5-5": `anthropic is not known to have a model "claude-sonet-5-5"; did you mean claude-sonnet-5-5?`,
		"gpt-77":                     `openai is not known to have a model "gpt-77"`, "openai/zzzzzzzz": `openai is not known to have a model "zzzzzzzz"`,
		"anthropic/claude-mine": "", "anthropic/claude-opus-4-5-20251101": "", "groq/new": "", "ollama/x": "", "builtin": "",
	} {
		choice, err := c.Resolve(env, name)
		if err != nil || !strings.HasPrefix(choice.Doubt, want) || (choice.Doubt == "") != (want == "") {
			t.Errorf("%s: %q, %v, want %q", name, choice.Doubt, err, want)
		}
	}
	c.Providers["openai"] = ProviderRow{BaseURL: "http://h:1/v1"}
	if choice, err := c.Resolve(env, "openai/x"); err != nil || choice.Doubt != "" {
		t.Errorf("%q, %v", choice.Doubt, err)
	}
}

func TestVendors_areWhole(t *testing.T) {
	none := func(string) string { return "" }
	for _, v := range vendors {
		if v.Protocol != Anthropic && v.Protocol != OpenAI {
			t.Errorf("%s: protocol %q", v.Name, v.Protocol)
		}
		if v.BaseURL != "" {
			if err := checkURL(v.BaseURL); err != nil {
				t.Errorf("%s: %v", v.Name, err)
			}
		}
		if v.NeedsKey && (len(v.KeyEnvs) == 0 || v.Model == "") {
			t.Errorf("%s needs a key and a default model", v.Name)
		}
		if c, err := (Config{}).Resolve(none, v.Name+"/m"); (err != nil) != v.NeedsKey {
			t.Errorf("%s without a key: %+v, %v", v.Name, c, err)
		}
	}
}

func TestKnown(t *testing.T) {
	for name, tc := range map[string]struct {
		provider, model string
		window          int
		priced          bool
		cost            int64 // of 1,000 in, 1,000 out
	}{
		"exact":             {"anthropic", "claude-sonnet-4-5", 200_000, true, 18_000},
		"dated":             {"anthropic", "claude-sonnet-4-5-20250929", 200_000, true, 18_000},
		"older":             {"anthropic", "claude-sonnet-4-20250514", 200_000, true, 18_000},
		"latest":            {"openai", "gpt-4o-latest", 128_000, true, 12_500},
		"with dashes":       {"openai", "gpt-5-2025-08-07", 400_000, true, 11_250},
		"mini is its own":   {"openai", "gpt-5-mini", 400_000, true, 2_250},
		"not a prefix":      {"openai", "gpt-5-unheard-of", 0, false, 0},
		"haiku, short":      {"anthropic", "claude-haiku-5-5", 1_000_000, true, 600},
		"no fixed price":    {"deepseek", "deepseek-flash", 1_000_000, false, 0},
		"not a prefix .":    {"openai", "gpt-5.9", 0, false, 0},
		"another vendor":    {"openai", "claude-sonnet-4-5", 0, false, 0},
		"through a router":  {"openrouter", "anthropic/claude-sonnet-4.5", 200_000, true, 18_000},
		"router and openai": {"openrouter", "openai/gpt-4.1", 1_047_576, true, 10_000},
		"behind a proxy":    {"company", "claude-sonnet-4-5", 200_000, false, 0},
		"unknown":           {"ollama", "qwen3:8b", 0, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := Config{}.Known(tc.provider, tc.model)
			if m.Window != tc.window || m.Priced != tc.priced || m.Cost(1000, 1000, 0, 0) != tc.cost {
				t.Errorf("got window %d, priced %v, cost %d", m.Window, m.Priced, m.Cost(1000, 1000, 0, 0))
			}
		})
	}
	if got := (Config{}).Known("anthropic", "claude-opus-4-5").Cost(100, 10, 1000, 200); got != 100*5+10*25+500+1250 {
		t.Errorf("with a cache: %d", got)
	}
	long := Config{}.Known("openai", "gpt-5.6-luna")
	if got := long.Cost(272_000, 1000, 0, 0); got != 54_400+1_200 {
		t.Errorf("at the threshold: %d", got)
	}
	if got := long.Cost(2_001, 1000, 270_000, 0); got != 2*(400+5400)+1800 { // 400.2 and 5,400 for the prompt
		t.Errorf("above the threshold: %d", got)
	}
	c := Config{Providers: map[string]ProviderRow{"openai": {Models: map[string]ModelRow{"gpt-5": {Window: 9}}}}}
	if m := c.Known("openai", "gpt-5"); m.Window != 9 || m.MaxOutput != 128_000 || !m.Priced {
		t.Errorf("the user's row hides the table: %+v", m)
	}
}

func TestOllamaURL(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "http://127.0.0.1:11434",
		"box":                      "http://box:11434",
		"box:99":                   "http://box:99",
		":99":                      "http://127.0.0.1:99",
		"0.0.0.0":                  "http://127.0.0.1:11434",
		"0.0.0.0:99":               "http://127.0.0.1:99",
		"::1":                      "http://[::1]:11434",
		"[::1]:99":                 "http://[::1]:99",
		"[::]":                     "http://127.0.0.1:11434",
		"http://box":               "http://box:80",
		"https://box":              "https://box:443",
		"https://box:99/":          "https://box:99",
		"https://box/path":         "https://box:443/path",
		` "box:99" `:               "http://box:99",
		"ftp://box":                "!",
		"me:pass@box":              "!",
		"box:notaport:1:":          "!",
		"http://box name":          "!",
		"http://box:99999999999x/": "!",
	} {
		got, err := OllamaURL(in)
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%q: got %q (%v), want %q", in, got, err, want)
		}
	}
}

// Whether a model accepts pictures is known for the listed ones; a row of the user's says so for others.
func TestKnown_images(t *testing.T) {
	yes, no := true, false
	c := Config{Providers: map[string]ProviderRow{
		"local":     {Models: map[string]ModelRow{"llava": {Images: &yes}}},
		"anthropic": {Models: map[string]ModelRow{"claude-opus-5": {Images: &no}}},
	}}
	for name, want := range map[string]bool{
		"anthropic claude-sonnet-5": true, "openai gpt-5.6": true, "openrouter anthropic/claude-opus-4.5": true, "openrouter x-ai/unknown": false,
		"groq openai/gpt-oss-20b": false, "deepseek deepseek-flash": false, "local llava": true, "local other": false, "anthropic claude-opus-5": false,
	} {
		provider, model, _ := strings.Cut(name, " ")
		if got := c.Known(provider, model).Images; got != want {
			t.Errorf("%s takes pictures: %v", name, got)
		}
	}
}

// A provider without a key says how it gets one: its variable, or the line that names one and the file for it.
func TestKeyHelp(t *testing.T) {
	own := Config{Providers: map[string]ProviderRow{"own": {Protocol: OpenAI, BaseURL: "http://127.0.0.1:1", Model: "m"}}}
	for name, want := range map[string]string{
		"own":           `Put it into a variable, and name that in /conf/fantail/config.toml, under [providers.own]: key_env = "VARIABLE".`,
		"vllm/m":        "Set VLLM_API_KEY.",
		"openai":        "", // it has one
		"ollama/qwen:3": `Put it into a variable, and name that in /conf/fantail/config.toml, under [providers.ollama]: key_env = "VARIABLE".`,
	} {
		choice, err := own.Resolve(func(name string) string {
			return map[string]string{"XDG_CONFIG_HOME": "/conf", "OPENAI_API_KEY": "k"}[name]
		}, name)
		if err != nil || choice.KeyHelp != want {
			t.Errorf("%s: %q, %v", name, choice.KeyHelp, err)
		}
	}
}
