package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// ServerRow is one [mcp.NAME]: a server of the Model Context Protocol whose tools agents may use. Texts in it may hold
// ${VARIABLE} and ${VARIABLE:-what else}.
type ServerRow struct {
	Command string            `toml:"command"` // the program that is started
	Args    []string          `toml:"args"`
	Env     map[string]string `toml:"env"`     // what it gets beside what commands get
	URL     string            `toml:"url"`     // of a streamable HTTP server, in place of a command
	Headers map[string]string `toml:"headers"` // that each request to it carries

	Client    string `toml:"client"`     // the OAuth client that was registered for us there; "": none was
	SecretEnv string `toml:"secret_env"` // the name of the variable that holds that client's secret, never the secret

	Timeout  string `toml:"timeout"`  // of one call; "": as long as usual
	Honest   bool   `toml:"honest"`   // it is trusted to say which of its tools only read
	Disabled bool   `toml:"disabled"` // it is not used
}

// Server is a row with its name and the line that its table begins on; 0: not known.
type Server struct {
	Name string
	Line int
	ServerRow
}

// Servers are the rows of c, in the order of their names.
func (c Config) Servers() (all []Server) {
	for _, name := range sorted(c.MCP) {
		all = append(all, Server{Name: name, Line: c.servedAt[name], ServerRow: c.MCP[name]})
	}
	return all
}

// mostCall is how long one call of a server's tool may take at most.
const mostCall = time.Hour

// Call is how long one call may take; 0: as long as usual.
func (r ServerRow) Call() (time.Duration, error) {
	if r.Timeout == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(r.Timeout)
	if err != nil || d < time.Second || d > mostCall {
		return 0, errors.New(`want a time from "1s" to "1h"`)
	}
	return d, nil
}

var (
	serverForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	headerForm = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

// ServerName says why a server can't have that name; nil: it can. The names of its tools begin with it: two underscores
// part them.
func ServerName(name string) error {
	switch {
	case !serverForm.MatchString(name):
		return errors.New("a server's name is 1 to 64 letters, digits, underscores and dashes")
	case strings.Contains(name, "__") || strings.Trim(name, "_") != name:
		return errors.New("a server's name holds no two underscores in a row, and none at its beginning or end: they part it from the names of its tools")
	}
	return nil
}

// Header says why no header can have that name and that text; nil: one can.
func Header(name, text string) error {
	switch {
	case !headerForm.MatchString(name):
		return errors.New("it is no name of a header")
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return errors.New("a header is one line of text")
	}
	return nil
}

// ServerURL says why a server can't be reached there; nil: it can.
func ServerURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("want a URL such as https://mcp.example.com/mcp")
	case u.User != nil:
		return errors.New("a URL must not hold a user or a password; put them in headers")
	}
	return nil
}

// VariableName reports whether an environment variable may have that name.
func VariableName(name string) bool { return envForm.MatchString(name) }

func (r ServerRow) check(name string) (at []string, err error) {
	if err := ServerName(name); err != nil {
		return nil, fmt.Errorf("mcp.%s: %w", name, err)
	}
	switch {
	case r.Command == "" && r.URL == "":
		return nil, fmt.Errorf("mcp.%s: command or url is missing: the program that is started, or where the server is reached", name)
	case r.Command != "" && r.URL != "":
		return []string{"url"}, fmt.Errorf("mcp.%s: command and url exclude each other", name)
	case r.Command == "" && (len(r.Args) > 0 || len(r.Env) > 0):
		return nil, fmt.Errorf("mcp.%s: args and env belong to a command", name)
	case r.URL == "" && (len(r.Headers) > 0 || r.Client != "" || r.SecretEnv != ""):
		return nil, fmt.Errorf("mcp.%s: headers, client and secret_env belong to a url", name)
	case r.SecretEnv != "" && !VariableName(r.SecretEnv):
		return []string{"secret_env"}, fmt.Errorf("mcp.%s.secret_env: want the name of an environment variable, not the secret itself", name)
	case r.SecretEnv != "" && r.Client == "":
		return []string{"secret_env"}, fmt.Errorf("mcp.%s.secret_env: it is the secret of a client; client is missing", name)
	}
	for _, key := range sorted(r.Env) {
		if !VariableName(key) {
			return []string{"env"}, fmt.Errorf("mcp.%s.env: want names of environment variables, and what they hold", name)
		}
	}
	for _, key := range sorted(r.Headers) {
		if err := Header(key, r.Headers[key]); err != nil {
			return []string{"headers"}, fmt.Errorf("mcp.%s.headers: %w", name, err)
		}
	}
	if r.URL != "" && !strings.Contains(r.URL, "${") { // else it is known once the variables are
		if err := ServerURL(r.URL); err != nil {
			return []string{"url"}, fmt.Errorf("mcp.%s.url: %w", name, err)
		}
	}
	if _, err := r.Call(); err != nil {
		return []string{"timeout"}, fmt.Errorf("mcp.%s.timeout: %w", name, err)
	}
	return nil, nil
}
