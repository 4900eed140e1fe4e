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
	maxName = 64 // letters of a tool's name that every model takes
	maxWord = 41 // of them for the server: what is left is enough for a tool and a sum
)

var underscores = regexp.MustCompile(`__+`)

// Word returns the part of the tools' names that stands for the server.
func (s Server) Word() string { return cmp.Or(s.Clean, s.Name) }

// WordFor is what stands for a server of that name in the names of its tools, where two underscores part it from the tool.
// taken are the words of others, which it is none of.
func WordFor(name string, taken func(word string) bool) string {
	word := strings.TrimRight(underscores.ReplaceAllString(sanitize(name), "_"), "_")
	switch {
	case word == "" && name != "":
		word = "server-" + shortHash(name)
	case len(word) > maxWord: // not to be taken for one that is called what is left
		word = word[:maxWord-9] + "-" + shortHash(name)
	}
	if taken(word) {
		word = word[:min(len(word), maxWord-9)] + "-" + shortHash(name)
	}
	for n := 2; taken(word); n++ { // somebody chose a name for this
		word = fmt.Sprintf("server-%s-%d", shortHash(name), n)
	}
	return word
}

// sanitize replaces characters that some model's server refuses in a name with underscores.
func sanitize(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, name)
}

// shortHash stands for a text that is cut off or can't be told apart.
func shortHash(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:4])
}

// toolNames returns the names of a server's tools for models, one for each of own, whatever their order. A name that every model
// takes is kept. If several names would become the same, the changed ones get a hash.
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

// toolName returns the name for models of a tool. If it is too long, a hash replaces its end.
func (s Server) toolName(clean, own string) string {
	name := tools.LentName + s.Word() + "__" + clean
	if len(name) <= maxName {
		return name
	}
	sum := shortHash(s.Name + "\x00" + own + "\x00" + clean)
	return name[:maxName-len(sum)-1] + "_" + sum
}
