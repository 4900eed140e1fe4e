package mcpconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fantail/store/config"
	"fantail/tools/mcp"
	"fantail/tools/proc"
	"fantail/tools/secret"
)

// expander inserts variables into a server's entry: ${NAME}, and ${NAME:-otherwise} for one that is unset or empty.
// The value of a variable is not expanded again.
type expander struct {
	env  func(name string) (string, bool)
	keys *secret.Keys
	own  bool // the entry is the user's

	secret bool     // insert variables that may hold a secret
	reads  []string // the variables that were named
	gets   []string // those of them that may hold a secret
	seen   []string // the others, with their values
}

// text returns s with its variables expanded.
func (x *expander) text(s string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		inside, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", errors.New("a ${ is not closed by a }")
		}
		name, text, defaulted := strings.Cut(inside, ":-")
		var otherwise *string
		if defaulted {
			otherwise = &text
		}
		if !config.VariableName(name) {
			return "", fmt.Errorf("${%s} names no variable of the environment: here stands ${NAME} or ${NAME:-otherwise}", inner(inside))
		}
		value, err := x.variable(name, otherwise)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		s = after
	}
}

// inner returns the text in the braces, for people.
func inner(s string) string {
	if s == "" {
		return ""
	}
	return plain(cut(s))
}

// cut returns the beginning of a text.
func cut(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

// variable returns the value of a variable, or otherwise if it is unset or empty; otherwise nil: there is no other
// value.
func (x *expander) variable(name string, otherwise *string) (string, error) {
	value, set := x.env(name)
	if !x.own && proc.Ours(name, value, x.keys) {
		return "", fmt.Errorf("the variable %s is for models' providers: it is not handed to what a repository brings; an [mcp.NAME] of your ~/.config/fantail/config.toml may name it", name)
	}
	if !slices.Contains(x.reads, name) {
		x.reads = append(x.reads, name)
	}
	if value == "" && otherwise != nil {
		return *otherwise, nil
	}
	if !set {
		return "", fmt.Errorf("the variable %s is not set; ${%s:-otherwise} says what to take then", name, name)
	}
	if len(proc.Clean([]string{name + "=" + value}, x.keys)) == 0 {
		if !slices.Contains(x.gets, name) {
			x.gets = append(x.gets, name)
		}
		if !x.secret {
			return "${" + name + "}", nil
		}
	} else if line := name + " is " + word(value); !slices.Contains(x.seen, line) {
		x.seen = append(x.seen, line)
	}
	return value, nil
}

// wrongText is a text whose variables can't be expanded.
type wrongText struct {
	key string // of what: "args", "env.NAME"
	err error
}

// server returns a server with its variables expanded.
func (x *expander) server(w mcp.Server) (s mcp.Server, bad *wrongText) {
	put := func(key, text string) string {
		is, err := x.text(text)
		if err == nil && strings.ContainsRune(is, 0) {
			err = errors.New("it holds a NUL byte")
		}
		if err != nil && bad == nil {
			bad = &wrongText{key, err}
		}
		return is
	}
	s = w
	s.Command, s.URL = put("command", w.Command), put("url", w.URL)
	s.Args = nil
	for _, a := range w.Args {
		s.Args = append(s.Args, put("args", a))
	}
	// The variables that affect what runs are all in seen now; those of Env and Headers go into gets.
	decides := slices.Clone(x.seen)
	s.Env, s.Headers = nil, nil
	for _, k := range sorted(w.Env) {
		if s.Env == nil {
			s.Env = map[string]string{}
		}
		s.Env[k] = put("env."+k, w.Env[k])
	}
	for _, k := range sorted(w.Headers) {
		if s.Headers == nil {
			s.Headers = map[string]string{}
		}
		s.Headers[k] = put("headers."+k, w.Headers[k])
	}
	for _, line := range x.seen[len(decides):] {
		name, _, _ := strings.Cut(line, " ")
		x.gets = append(x.gets, name)
	}
	x.seen = decides
	return s, bad
}

// fill expands the variables of an entry. It returns the text that can't be expanded.
func (e *Entry) fill(env func(name string) (string, bool), keys *secret.Keys) (bad *wrongText) {
	x := &expander{env: env, keys: keys, own: e.Source.Own, secret: true}
	is, bad := x.server(e.Written)
	switch {
	case bad != nil:
		return bad
	case is.URL != "":
		if err := config.ServerURL(is.URL); err != nil {
			return &wrongText{"url", err}
		}
	case strings.TrimSpace(is.Command) == "":
		return &wrongText{"command", errors.New("it is empty")}
	}
	for _, k := range sorted(is.Headers) {
		if err := config.Header(k, is.Headers[k]); err != nil {
			return &wrongText{"headers." + k, err}
		}
	}
	e.Server = is
	shown := &expander{env: env, keys: keys, own: e.Source.Own}
	e.shown, _ = shown.server(e.Written)
	e.Reads, e.gets, e.seen = x.reads, x.gets, x.seen
	slices.Sort(e.Reads)
	slices.Sort(e.gets)
	e.gets = slices.Compact(e.gets)
	return nil
}
