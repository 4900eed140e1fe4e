package ui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
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

// nearest is the command whose name is like name, "" if none is.
func nearest(name string) string {
	best, most := "", 3
	for _, c := range commands() {
		for _, n := range append([]string{c.name}, c.aliases...) {
			d := distance(name, n)
			if name != "" && strings.HasPrefix(n, name) {
				d = min(d, 1)
			}
			if d < most {
				best, most = c.name, d
			}
		}
	}
	return best
}

// distance is how many letters must change, or neighbours change places, to make
// a of b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
