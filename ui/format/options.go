package format

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"fantail/store/config"
	"fantail/tools"
)

// LeadingOptions takes key=value words with these keys from the front of s (a value with spaces is
// quoted) and returns the rest unchanged, line breaks included. A key that almost matches is an
// error, so that no time-out is lost to a typo; a text that begins that way can be quoted.
func LeadingOptions(s string, keys ...string) (map[string]string, string, error) {
	opts := map[string]string{}
	for {
		s = strings.TrimLeft(s, " \t\n")
		key, behind, ok := strings.Cut(s, "=")
		if !ok || !slices.Contains(keys, key) {
			if meant := config.Nearest(key, keys); ok && meant != "" && isWord(key) {
				return nil, "", fmt.Errorf("unknown option %s=. Did you mean %s=? Put a prompt that begins like this in quotes", key, meant)
			}
			return opts, s, nil
		}
		value, rest := cutValue(behind)
		if value == "" {
			return nil, "", fmt.Errorf("%s= needs a value", key)
		}
		if _, twice := opts[key]; twice {
			return nil, "", fmt.Errorf("%s= is given twice", key)
		}
		opts[key], s = value, rest
	}
}

// isWord reports whether s consists of letters.
func isWord(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// cutValue cuts s after the value at its front: a quoted text, or else a word.
func cutValue(s string) (value, rest string) {
	if len(s) > 0 && (s[0] == '"' || s[0] == '\'') {
		if i := strings.IndexByte(s[1:], s[0]); i >= 0 {
			return s[1 : 1+i], s[2+i:]
		}
	}
	if i := strings.IndexAny(s, " \t\n"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// FlagOptions takes --key=value words with these keys from the front of s (a value with spaces is
// quoted) and returns the rest unchanged.
func FlagOptions(s string, keys ...string) (map[string][]string, string, error) {
	flags := map[string][]string{}
	for {
		s = strings.TrimLeft(s, " \t\n")
		key, value, ok := strings.Cut(s, "=")
		key, dashed := strings.CutPrefix(key, "--")
		if !ok || !dashed || !slices.Contains(keys, key) {
			return flags, s, nil
		}
		var word string
		word, s = cutValue(value)
		if strings.TrimSpace(word) == "" {
			return nil, "", fmt.Errorf("--%s= needs a value", key)
		}
		flags[key] = append(flags[key], word)
	}
}

// FirstWord cuts s after its first word.
func FirstWord(s string) (word, rest string) {
	if i := strings.IndexAny(s, " \t\n"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

// Unquote strips the quotes from a text that is quoted as a whole.
func Unquote(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] && strings.Count(s, s[:1]) == 2 {
		return s[1 : n-1]
	}
	return s
}

// Seconds parses 300, 90s, 5m.
func Seconds(s string) (time.Duration, error) {
	if n, err := strconv.Atoi(s); err == nil {
		s = strconv.Itoa(n) + "s"
	}
	d, err := time.ParseDuration(s)
	if err == nil && d <= 0 {
		err = errors.New("it must be more than nothing")
	}
	return d, err
}

// pushKeys are the options of /push.
var pushKeys = []string{"model", "agent", "name", "timeout", "budget", "deliver", "after", "resume", "interactive", "idle"}

// PushOptions takes the options of /push from the front of s and returns the rest unchanged. The
// word interactive is one of them, as interactive=true. So is resume, if a name says whose
// transcript to continue; without a name it belongs to the prompt. resume=NAME sets name too.
func PushOptions(s string) (opts map[string]string, prompt string, err error) {
	opts = map[string]string{}
	var before map[string]string // as before the word resume
	var from string
	for {
		more, rest, err := LeadingOptions(s, pushKeys...)
		if err != nil {
			return nil, "", err
		}
		for k, v := range more {
			if _, twice := opts[k]; twice {
				return nil, "", fmt.Errorf("%s is given twice", k)
			}
			opts[k] = v
		}
		word, behind := FirstWord(rest)
		_, has := opts[word]
		switch {
		case has || word != "interactive" && word != "resume":
			switch name := opts["resume"]; {
			case name != "":
				opts["name"] = name
			case before != nil && opts["name"] == "":
				return before, from, nil
			}
			return opts, rest, nil
		case word == "resume":
			before, from = maps.Clone(opts), rest
			opts[word] = ""
		default:
			opts[word] = "true"
		}
		s = behind
	}
}

// InteractiveOption returns whether the agent of a task awaits input after its turns, and for how
// long.
func InteractiveOption(opts map[string]string) (is bool, idle time.Duration, err error) {
	switch s := opts["interactive"]; s {
	case "", "true", "false":
		is = s == "true"
	default:
		return false, 0, fmt.Errorf("interactive=%s is neither true nor false", s)
	}
	s, ok := opts["idle"]
	switch d, zero := time.ParseDuration(s); {
	case !ok:
		return is, 0, nil
	case !is:
		return false, 0, errors.New("idle= needs an interactive agent: interactive idle=" + s)
	case zero == nil && d == 0:
		return true, tools.Forever, nil
	}
	if idle, err = Seconds(s); err != nil {
		return false, 0, fmt.Errorf("idle=%s is not a time (300, 90s, 5m; 0: never close)", s)
	}
	return true, idle, nil
}
