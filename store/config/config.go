// Package config reads the configuration and the rule files that people write, and says where a mistake is.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fantail/store/paths"
)

// Config is the content of config.toml. The zero value is not the default; see [Default].
type Config struct {
	Model          string `toml:"model"`           // provider/name; "" chooses by the environment
	Theme          string `toml:"theme"`           // "" follows the terminal
	PermissionMode string `toml:"permission_mode"` // ask, accept-edits, auto, plan or yolo; "" means ask
	Sandbox        string `toml:"sandbox"`         // on, off, bubblewrap, namespaces or landlock; "" means on
	MaxRunning     int    `toml:"max_running"`     // running agents at once; 0 means the pool's default
	MaxSchedules   int    `toml:"max_schedules"`   // active scheduled tasks and commands; 0 means the pool's default
	Mouse          bool   `toml:"mouse"`
	Editor         string `toml:"editor"`               // "" means VISUAL, else EDITOR
	Notify         string `toml:"notify"`               // auto, osc9, osc777, osc99, bell, desktop or off; "" means auto
	HostLinger     string `toml:"host_linger"`          // how long an idle host stays without a screen; "" means 10m
	IdleTimeout    string `toml:"idle_timeout"`         // how long an agent waits for input; "" means 5m, "0s" for ever
	AgentBudget    string `toml:"agent_budget"`         // of a background agent and those below: "200k", "$2"; "": none
	TaskTimeout    string `toml:"default_task_timeout"` // of a task that names none; "": none
	StatusStyle    string `toml:"status_style"`         // pending, or msg for `2 msgs`; "" means pending
	ReduceMotion   bool   `toml:"reduce_motion"`        // spinners and pulses stand still

	// Limits for one observer, which a schedule starts while the user is away; 0 or "": the default.
	ObserverTimeout string `toml:"observer_timeout"`
	ObserverTokens  int    `toml:"observer_tokens"`
	ObserverCalls   int    `toml:"observer_calls"`

	DisabledTools []string `toml:"disabled_tools"` // no model is offered them
	Rules
	Permissions Permissions            `toml:"permissions"`
	Providers   map[string]ProviderRow `toml:"providers"`
	Agents      map[string]AgentRow    `toml:"agents"`
	Hooks       map[string][]HookGroup `toml:"hooks"` // by the event at which they run
	MCP         map[string]ServerRow   `toml:"mcp"`   // servers of tools

	servedAt map[string]int // by the name of one: the line of the file that it begins on
}

// Rules are permission rules in their written form, such as `bash(go test *)`, or `bash(make lint)` for a tool without
// a list of harmless uses. Their keys are at the top of the file.
type Rules struct {
	Allow []string `toml:"allow"`
}

// Permissions are rules that several tools understand, such as `Bash(git push *)`: deny, then ask, takes precedence
// over allow.
type Permissions struct {
	Allow []string `toml:"allow"`
	Ask   []string `toml:"ask"`
	Deny  []string `toml:"deny"`
}

// ProviderRow is one [providers.NAME]: a vendor that the user defines, or changes to a known one. Empty fields mean the
// known vendor's.
type ProviderRow struct {
	Protocol string              `toml:"protocol"` // anthropic, openai or openai-responses
	BaseURL  string              `toml:"base_url"`
	KeyEnv   string              `toml:"key_env"`            // the name of the variable, never the key
	Model    string              `toml:"model"`              // its default model
	AtOnce   int                 `toml:"at_once"`            // background agents that it serves at once; 0: default
	First    string              `toml:"first_byte_timeout"` // how long the first byte may take; "": the default
	Models   map[string]ModelRow `toml:"models"`
}

// ModelRow is one [providers.NAME.models."MODEL"]. Prices are dollars per million tokens; if input and output are both
// absent, tokens are counted, but no cost is shown.
type ModelRow struct {
	Window     int      `toml:"window"`
	MaxOutput  int      `toml:"max_output"`
	Input      *float64 `toml:"input"`
	Output     *float64 `toml:"output"`
	CacheRead  float64  `toml:"cache_read"`
	CacheWrite float64  `toml:"cache_write"`
	Images     *bool    `toml:"images"` // it accepts pictures; absent: as listed
}

// Default is the configuration without a file.
func Default() Config { return Config{Mouse: true} }

// Read is the configuration file with the environment over it.
func Read(env func(string) string) (Config, error) {
	c, err := ReadFile(env)
	if err != nil {
		return c, err
	}
	return c.Override(env)
}

// maxSchedules is the largest number of schedules.
const maxSchedules = 50

// lingers is the default of host_linger.
const lingers = 10 * time.Minute

// Linger is how long an idle host stays without a screen.
func (c Config) Linger() (time.Duration, error) {
	if c.HostLinger == "" {
		return lingers, nil
	}
	d, err := time.ParseDuration(c.HostLinger)
	if err != nil || d < 0 {
		return 0, errors.New(`host_linger: want a time such as "10m" or "1h30m", or "0s"`)
	}
	return d, nil
}

// idles is the default of idle_timeout.
const idles = 5 * time.Minute

// Idle is how long an interactive agent awaits input after a turn; 0: for ever.
func (c Config) Idle() (time.Duration, error) {
	if c.IdleTimeout == "" {
		return idles, nil
	}
	d, err := time.ParseDuration(c.IdleTimeout)
	if err != nil || d < 0 {
		return 0, errors.New(`idle_timeout: want a time such as "5m" or "90s", or "0s" for no end`)
	}
	return d, nil
}

// Upper bounds of an observer's limits.
const (
	maxObserving      = 30 * time.Minute
	maxObserverTokens = 200_000
	maxObserverCalls  = 50
)

// Observing is how long an observer may take; 0: the default.
func (c Config) Observing() (time.Duration, error) {
	if c.ObserverTimeout == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(c.ObserverTimeout)
	if err != nil || d < time.Second || d > maxObserving {
		return 0, errors.New(`observer_timeout: want a time from "1s" to "30m"`)
	}
	return d, nil
}

// Timeout is the default limit of a task; 0: none.
func (c Config) Timeout() (time.Duration, error) {
	if c.TaskTimeout == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(c.TaskTimeout)
	if err != nil || d < 0 {
		return 0, errors.New(`default_task_timeout: want a time such as "30m" or "1h", or "0s" for no end`)
	}
	return d, nil
}

// Values of the key sandbox besides the kinds of sandboxes, each of which means only that kind.
const (
	SandboxOn  = "on"  // the best that works
	SandboxOff = "off" // commands run as the user
)

// ReadFile is the configuration file alone.
func ReadFile(env func(string) string) (Config, error) {
	path, err := paths.File(env)
	if err != nil {
		return Config{}, err
	}
	return Load(path)
}

// Load reads the file at path. A missing file is [Default]. An error names the file, the line, the cause and the
// nearest existing key; it never quotes a value, because a value might be a key.
func Load(path string) (Config, error) {
	c := Default()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read the configuration: %w", err)
	}
	if err := parse(path, data, &c); err != nil {
		return Default(), err
	}
	if at, err := c.check(); err != nil {
		return Default(), fmt.Errorf("%s:%d: %w", path, lineOf(data, at), err)
	}
	for name := range c.MCP {
		if c.servedAt == nil {
			c.servedAt = map[string]int{}
		}
		c.servedAt[name] = lineOf(data, []string{"mcp", name})
	}
	return c, nil
}

// Override lays FANTAIL_THEME, FANTAIL_PERMISSION_MODE, FANTAIL_SANDBOX, FANTAIL_MAX_RUNNING,
// FANTAIL_NOTIFY, FANTAIL_MOUSE and, where editor is empty, VISUAL and EDITOR over c.
// FANTAIL_MODEL belongs to [Choose].
func (c Config) Override(env func(string) string) (Config, error) {
	if v := env("FANTAIL_THEME"); v != "" {
		c.Theme = v
	}
	if v := env("FANTAIL_PERMISSION_MODE"); v != "" {
		c.PermissionMode = v
		if !slices.Contains(modes, v) {
			return c, fmt.Errorf("FANTAIL_PERMISSION_MODE: %w", notOneOf(v, modes))
		}
	}
	if v := env("FANTAIL_SANDBOX"); v != "" {
		c.Sandbox = v
		if !slices.Contains(sandboxes, v) {
			return c, fmt.Errorf("FANTAIL_SANDBOX: %w", notOneOf(v, sandboxes))
		}
	}
	if v := env("FANTAIL_MAX_RUNNING"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > maxRunning {
			return c, fmt.Errorf("FANTAIL_MAX_RUNNING: want a number from 1 to %d", maxRunning)
		}
		c.MaxRunning = n
	}
	if v := env("FANTAIL_NOTIFY"); v != "" {
		c.Notify = v
		if !slices.Contains(notifies, v) {
			return c, fmt.Errorf("FANTAIL_NOTIFY: %w", notOneOf(v, notifies))
		}
	}
	if v := env("FANTAIL_MOUSE"); v != "" {
		on, err := strconv.ParseBool(v)
		if err != nil {
			return c, errors.New("FANTAIL_MOUSE: want true or false")
		}
		c.Mouse = on
	}
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if c.Editor == "" {
			c.Editor = env(name)
		}
	}
	return c, nil
}

const maxRunning = 1000

var (
	modes      = []string{"ask", "accept-edits", "auto", "plan", "yolo"}
	sandboxes  = []string{SandboxOn, SandboxOff, "bubblewrap", "namespaces", "landlock"}
	notifies   = []string{"auto", "osc9", "osc777", "osc99", "bell", "desktop", "off"}
	styles     = []string{"pending", "msg"}
	protocols  = []string{Anthropic, OpenAI, Responses}
	budgetForm = regexp.MustCompile(`^(\$[0-9.]+|[0-9.]+[kKmM]?)$`)
	nameForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	envForm    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// check finds invalid values. at is the path of the key.
func (c Config) check() (at []string, err error) {
	if c.PermissionMode != "" && !slices.Contains(modes, c.PermissionMode) {
		return []string{"permission_mode"}, fmt.Errorf("permission_mode: %w", notOneOf(c.PermissionMode, modes))
	}
	if c.Sandbox != "" && !slices.Contains(sandboxes, c.Sandbox) {
		return []string{"sandbox"}, fmt.Errorf("sandbox: %w", notOneOf(c.Sandbox, sandboxes))
	}
	if c.Notify != "" && !slices.Contains(notifies, c.Notify) {
		return []string{"notify"}, fmt.Errorf("notify: %w", notOneOf(c.Notify, notifies))
	}
	if c.StatusStyle != "" && !slices.Contains(styles, c.StatusStyle) {
		return []string{"status_style"}, fmt.Errorf("status_style: %w", notOneOf(c.StatusStyle, styles))
	}
	if c.MaxRunning < 0 || c.MaxRunning > maxRunning {
		return []string{"max_running"}, fmt.Errorf("max_running: want a number from 1 to %d", maxRunning)
	}
	if c.MaxSchedules < 0 || c.MaxSchedules > maxSchedules {
		return []string{"max_schedules"}, fmt.Errorf("max_schedules: want a number from 1 to %d", maxSchedules)
	}
	if _, err := c.Linger(); err != nil {
		return []string{"host_linger"}, err
	}
	if _, err := c.Idle(); err != nil {
		return []string{"idle_timeout"}, err
	}
	if _, err := c.Observing(); err != nil {
		return []string{"observer_timeout"}, err
	}
	if c.ObserverTokens < 0 || c.ObserverTokens > maxObserverTokens {
		return []string{"observer_tokens"}, fmt.Errorf("observer_tokens: want a number from 1 to %d", maxObserverTokens)
	}
	if c.ObserverCalls < 0 || c.ObserverCalls > maxObserverCalls {
		return []string{"observer_calls"}, fmt.Errorf("observer_calls: want a number from 1 to %d", maxObserverCalls)
	}
	if _, err := c.Timeout(); err != nil {
		return []string{"default_task_timeout"}, err
	}
	if c.AgentBudget != "" && !budgetForm.MatchString(c.AgentBudget) {
		return []string{"agent_budget"}, errors.New(`agent_budget: want tokens such as "200k", or dollars such as "$2"`)
	}
	for _, name := range sorted(c.Providers) {
		if key, err := c.Providers[name].check(name); err != nil {
			return append([]string{"providers", name}, key...), err
		}
	}
	for _, name := range sorted(c.Agents) {
		if key, err := c.Agents[name].check(name); err != nil {
			return append([]string{"agents", name}, key...), err
		}
	}
	for _, name := range sorted(c.MCP) {
		if key, err := c.MCP[name].check(name); err != nil {
			return append([]string{"mcp", name}, key...), err
		}
	}
	return nil, nil
}

func (p ProviderRow) check(name string) (at []string, err error) {
	_, known := vendor(name)
	switch {
	case !nameForm.MatchString(name) || name == Builtin || name == ACP:
		return nil, fmt.Errorf("providers.%s: a provider's name is lower-case letters, digits, dots and dashes, and neither %q nor %q", name, Builtin, ACP)
	case p.Protocol == "" && !known:
		return nil, fmt.Errorf("providers.%s: protocol is missing: anthropic, openai or openai-responses", name)
	case p.Protocol != "" && !slices.Contains(protocols, p.Protocol):
		return []string{"protocol"}, fmt.Errorf("providers.%s.protocol: %w", name, notOneOf(p.Protocol, protocols))
	case p.BaseURL == "" && !known:
		return nil, fmt.Errorf("providers.%s: base_url is missing", name)
	case p.KeyEnv != "" && !envForm.MatchString(p.KeyEnv):
		return []string{"key_env"}, fmt.Errorf("providers.%s.key_env: want the name of an environment variable, not the key itself", name)
	}
	if p.AtOnce < 0 || p.AtOnce > maxRunning {
		return []string{"at_once"}, fmt.Errorf("providers.%s.at_once: want a number from 1 to %d", name, maxRunning)
	}
	if _, err := p.firstByte(); err != nil {
		return []string{"first_byte_timeout"}, fmt.Errorf("providers.%s.%w", name, err)
	}
	if p.BaseURL != "" {
		if err := checkURL(p.BaseURL); err != nil {
			return []string{"base_url"}, fmt.Errorf("providers.%s.base_url: %w", name, err)
		}
	}
	for _, model := range sorted(p.Models) {
		m, at := p.Models[model], []string{"models", model}
		switch {
		case m.Window < 0 || m.MaxOutput < 0:
			return at, fmt.Errorf("providers.%s.models.%s: window and max_output are numbers of tokens", name, model)
		case (m.Input == nil) != (m.Output == nil):
			return at, fmt.Errorf("providers.%s.models.%s: a price needs both input and output", name, model)
		case m.Input != nil && (*m.Input < 0 || *m.Output < 0) || m.CacheRead < 0 || m.CacheWrite < 0:
			return at, fmt.Errorf("providers.%s.models.%s: a price is not negative", name, model)
		}
	}
	return nil, nil
}

// firstByte is how long the provider's first byte may take; 0: the default.
func (p ProviderRow) firstByte() (time.Duration, error) {
	if p.First == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(p.First)
	if err != nil || d < time.Second || d > 24*time.Hour {
		return 0, errors.New(`first_byte_timeout: want a time from "1s" to "24h", such as "20m"`)
	}
	return d, nil
}

// checkURL checks a provider's URL. It refuses a URL with a user or a password: URLs are printed in errors and logs.
func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return errors.New("want a URL such as http://127.0.0.1:8000/v1")
	case u.User != nil:
		return errors.New("a URL must not hold a user or a password; use key_env")
	}
	return nil
}

func notOneOf(got string, want []string) error {
	if meant := Nearest(got, want); meant != "" {
		return fmt.Errorf("unknown value; did you mean %q? The values are %s", meant, strings.Join(want, ", "))
	}
	return fmt.Errorf("unknown value; the values are %s", strings.Join(want, ", "))
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
