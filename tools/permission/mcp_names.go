package permission

import (
	"slices"
	"strings"
	"unicode"
)

// served begins the names of tools of MCP servers: mcp__SERVER__TOOL.
const served = "mcp__"

// ToolSpellings are the ways in which people write the name of a server's tool in rules, besides the name that the
// model sees: the configured names, and the same with an underscore for each other character, as Claude Code writes
// them.
func ToolSpellings(server, tool string) []string {
	if server == "" {
		return nil
	}
	clean := func(c rune) rune {
		if c == '-' || c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
			return c
		}
		return '_'
	}
	written := served + server + "__" + tool
	return slices.Compact([]string{written, served + strings.Map(clean, server) + "__" + strings.Map(clean, tool)})
}

// inName reports whether a letter may be in the name of a rule's tool. A server's name may contain anything printable.
func inName(tool string, c rune) bool {
	return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_-.*:", c) || strings.HasPrefix(tool, served)
}

// calls reports whether the rule's name matches a tool of that name: it is the name, or a server, which means all of
// its tools.
func (r *ToolRule) calls(name string) bool {
	if !strings.HasPrefix(r.Tool, served) {
		return r.name.matches(name)
	}
	is := r.Tool
	if r.What == Other { // its name may contain parentheses: "files (old)"
		is = r.Text
	}
	return wild(is).matches(name) || strings.HasPrefix(name, is+"__")
}
