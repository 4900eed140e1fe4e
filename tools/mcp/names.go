package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"fantail/tools"
)

const (
	maxName = 64 // characters of a tool's name that every model accepts
	maxWord = 41 // of these for the server; the rest suffices for a tool and a hash
)

var underscores = regexp.MustCompile(`__+`)

// Word returns the server's part of its tools' names.
func (s Server) Word() string { return cmp.Or(s.Clean, s.Name) }

// WordFor returns the word for a server of that name in the names of its tools, in which two
// underscores separate it from the tool. The word differs from the words of other servers, for
// which taken is true.
func WordFor(name string, taken func(word string) bool) string {
	word := strings.TrimRight(underscores.ReplaceAllString(sanitize(name), "_"), "_")
	switch {
	case word == "" && name != "":
		word = "server-" + shortHash(name)
	case len(word) > maxWord: // the hash keeps it apart from a server with the shortened name
		word = word[:maxWord-9] + "-" + shortHash(name)
	}
	if taken(word) {
		word = word[:min(len(word), maxWord-9)] + "-" + shortHash(name)
	}
	for n := 2; taken(word); n++ { // another server has this name on purpose
		word = fmt.Sprintf("server-%s-%d", shortHash(name), n)
	}
	return word
}

// sanitize replaces characters that some model servers refuse in a name with underscores.
func sanitize(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, name)
}

// shortHash identifies a text that is cut off or would be ambiguous.
func shortHash(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:4])
}

// toolNames returns the names of a server's tools for models, one for each name in own, whatever
// their order. It keeps a name that every model accepts. If several names would become the same,
// the changed ones get a hash.
func toolNames(s Server, own []string) []string {
	alike := map[string]int{}
	for _, name := range own {
		alike[sanitize(name)]++
	}
	all, taken := make([]string, len(own)), map[string]bool{}
	for n, name := range own {
		clean := sanitize(name)
		switch {
		case clean == name:
		case strings.Trim(clean, "_") == "":
			clean = "tool_" + shortHash(name)
		case alike[clean] > 1:
			clean += "_" + shortHash(name)
		}
		all[n] = s.toolName(clean, name)
		for i := 2; taken[all[n]]; i++ {
			all[n] = s.toolName(fmt.Sprintf("%s_%d", clean, i), name)
		}
		taken[all[n]] = true
	}
	return all
}

// toolName returns a tool's name for models. If it is too long, a hash replaces its end.
func (s Server) toolName(clean, own string) string {
	name := tools.LentName + s.Word() + "__" + clean
	if len(name) <= maxName {
		return name
	}
	sum := shortHash(s.Name + "\x00" + own + "\x00" + clean)
	return name[:maxName-len(sum)-1] + "_" + sum
}
