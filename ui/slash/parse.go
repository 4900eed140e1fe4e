package slash

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"fantail/store/config/near"
)

// leadingOptions takes key=value words with these keys from the front of s (a value with spaces is
// quoted) and returns the rest as it is, line breaks included. A key that almost matches is an
// error, so that no time-out is lost to a typo; a text that begins that way can be quoted.
func leadingOptions(s string, keys ...string) (map[string]string, string, error) {
	opts := map[string]string{}
	for {
		s = strings.TrimLeft(s, " \t\n")
		key, behind, ok := strings.Cut(s, "=")
		if !ok || !slices.Contains(keys, key) {
			if meant := near.Word(key, keys); ok && meant != "" && isWord(key) {
				return nil, "", fmt.Errorf("%s= is no option, is it %s=? A prompt that begins so stands in quotes", key, meant)
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

// leadingFlags takes --key=value words with these keys from the front of s (a value with spaces is
// quoted) and returns the rest as it is.
func leadingFlags(s string, keys ...string) (map[string][]string, string, error) {
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

// firstWord cuts s after its first word.
func firstWord(s string) (word, rest string) {
	if i := strings.IndexAny(s, " \t\n"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

// unquote strips the quotes from a text that is quoted as a whole.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] && strings.Count(s, s[:1]) == 2 {
		return s[1 : n-1]
	}
	return s
}

// seconds parses 300, 90s, 5m.
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
