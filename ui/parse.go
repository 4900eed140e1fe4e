package ui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fantail/store/config/near"
)

// leadingOptions takes key=value words of the given keys from the front of s;
// what stands behind them is returned whole, line breaks included.
func leadingOptions(s string, keys ...string) (map[string]string, string, error) {
	opts := map[string]string{}
	for {
		s = strings.TrimLeft(s, " \t\n")
		word := s
		if i := strings.IndexAny(s, " \t\n"); i >= 0 {
			word = s[:i]
		}
		key, value, ok := strings.Cut(word, "=")
		if !ok || !contains(keys, key) {
			return opts, s, nil
		}
		if value == "" {
			return nil, "", fmt.Errorf("%s= needs a value", key)
		}
		if _, twice := opts[key]; twice {
			return nil, "", fmt.Errorf("%s= is given twice", key)
		}
		opts[key] = value
		s = s[len(word):]
	}
}

// leadingFlags takes --key=value words of the given keys from the front of s, a
// value in quotes if it has spaces; what stands behind them is returned whole.
func leadingFlags(s string, keys ...string) (map[string][]string, string, error) {
	flags := map[string][]string{}
	for {
		s = strings.TrimLeft(s, " \t\n")
		key, value, ok := strings.Cut(s, "=")
		key, dashed := strings.CutPrefix(key, "--")
		if !ok || !dashed || !contains(keys, key) {
			return flags, s, nil
		}
		word := value
		if q := value; len(q) > 0 && (q[0] == '"' || q[0] == '\'') && strings.IndexByte(q[1:], q[0]) >= 0 {
			word, s = q[1:1+strings.IndexByte(q[1:], q[0])], q[2+strings.IndexByte(q[1:], q[0]):]
		} else if i := strings.IndexAny(value, " \t\n"); i >= 0 {
			word, s = value[:i], value[i:]
		} else {
			s = ""
		}
		if strings.TrimSpace(word) == "" {
			return nil, "", fmt.Errorf("--%s= needs a value", key)
		}
		flags[key] = append(flags[key], word)
	}
}

func contains(xs []string, x string) bool {
	for _, y := range xs {
		if x == y {
			return true
		}
	}
	return false
}

// firstWord cuts s behind its first word.
func firstWord(s string) (word, rest string) {
	if i := strings.IndexAny(s, " \t\n"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

// unquote takes the quotes from a text that is quoted as a whole.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] && strings.Count(s, s[:1]) == 2 {
		return s[1 : n-1]
	}
	return s
}

// seconds reads 300, 90s, 5m.
func seconds(s string) (time.Duration, error) {
	if n, err := strconv.Atoi(s); err == nil {
		s = strconv.Itoa(n) + "s"
	}
	d, err := time.ParseDuration(s)
	if err == nil && d <= 0 {
		err = errors.New("it must be more than nothing")
	}
	return d, err
}

// nearest is the command whose name or alias is most like name, "" if none is.
func nearest(name string) string {
	var names []string
	for _, c := range commands() {
		names = append(append(names, c.name), c.aliases...)
	}
	c, _ := find(near.Word(name, names))
	return c.name
}
