package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ServerRow is one [mcp.NAME]: a server of the Model Context Protocol whose tools agents may use. Its texts may hold
// ${VARIABLE} and ${VARIABLE:-default}.
type ServerRow struct {
	Command string            `toml:"command"` // the program that is started
	Args    []string          `toml:"args"`
	Env     map[string]string `toml:"env"`     // variables that it gets besides those of commands
	URL     string            `toml:"url"`     // of a streamable HTTP server, in place of a command
	Headers map[string]string `toml:"headers"` // sent with each request to it

	Client    string `toml:"client"`     // the OAuth client that was registered for us there; "": none was
	SecretEnv string `toml:"secret_env"` // the variable that holds that client's secret, never the secret

	RedirectPort int `toml:"redirect_port"` // of this machine, at which a login ends; 0: any that is free

	Timeout  string `toml:"timeout"`  // of one call; "": as long as usual
	Honest   bool   `toml:"honest"`   // trusted to say which of its tools only read
	Disabled bool   `toml:"disabled"` // it is not used
	Sampling bool   `toml:"sampling"` // it may ask an agent's model, each time with the user's consent
}

// Server is a row with its name and the line of its table; 0: unknown.
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

// maxCall is the longest limit of one call of a server's tool.
const maxCall = time.Hour

// Call is how long one call may take; 0: the default.
func (r ServerRow) Call() (time.Duration, error) {
	if r.Timeout == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(r.Timeout)
	if err != nil || d < time.Second || d > maxCall {
		return 0, errors.New(`want a time from "1s" to "1h"`)
	}
	return d, nil
}

var headerForm = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// longestName is the longest name of a server, in bytes.
const longestName = 1000

// ServerName says why a server can't have that name, or returns nil. People read and type this name; models may get
// another one.
func ServerName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return errors.New("a server's name is not empty")
	case len(name) > longestName:
		return fmt.Errorf("a server's name has at most %d bytes, this has %d", longestName, len(name))
	}
	before := rune(0)
	for _, c := range name {
		joins := c == '\u200d' && (unicode.In(before, unicode.So, unicode.Sk) || before == '\ufe0f') // two emoji to one
		if c == utf8.RuneError || !unicode.IsPrint(c) && !unicode.Is(unicode.Zs, c) && !joins {
			return fmt.Errorf("a server's name holds nothing that can't be seen, this holds %U", c)
		}
		before = c
	}
	return nil
}

// Header returns an error for an invalid header.
func Header(name, text string) error {
	switch {
	case !headerForm.MatchString(name):
		return errors.New("it is no name of a header")
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return errors.New("a header is one line of text")
	}
	return nil
}

// ServerURL returns an error for an invalid URL of a server.
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

// Port reports whether a login can end at that port of this machine.
func Port(n int) bool { return n >= 1024 && n <= 65535 }

// VariableName reports whether name is valid for an environment variable.
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
	case r.URL == "" && (len(r.Headers) > 0 || r.Client != "" || r.SecretEnv != "" || r.RedirectPort != 0):
		return nil, fmt.Errorf("mcp.%s: headers, client, secret_env and redirect_port belong to a url", name)
	case r.RedirectPort != 0 && !Port(r.RedirectPort):
		return []string{"redirect_port"}, fmt.Errorf("mcp.%s.redirect_port: want a port from 1024 to 65535", name)
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
