package mcp

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fantail/tools"
)

var modelName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// oddNames are names as people give them to servers, and servers to tools.
var oddNames = []string{
	"github", "git-hub_2", "GitHub", "my server", "my_server", "my@server", "my/server", "my.server", "my:server", "my  server", "my__server",
	"@scope/name", "@modelcontextprotocol/server-filesystem", "github.com/o/r", "a.b.c", "wörter", "wo\u0308rter", "w_rter", "naïve café", "größe", "日本語", "中国語",
	"한국어", "🚀", "🚀🚀", "👩‍💻", "✅ done", "a", "_", "__", "_a", "a_", "-", "--", "...", " ", "(old)", "files (old)", "50%", "a&b", "a+b", "C++", "C#", "x=y",
	"a,b", "a;b", "a'b", `a"b`, "a\\b", "a|b", "tab\tbed", "nbsp\u00a0name", "mcp__x__y", "mcp", "server", "read_resource", "read.resource",
	strings.Repeat("n", 41), strings.Repeat("n", 42), strings.Repeat("n", 64), strings.Repeat("n", 65), strings.Repeat("n", 300), strings.Repeat("ü", 90), strings.Repeat("n", 80) + "a", strings.Repeat("n", 80) + "b",
	strings.Repeat("a b ", 40), "a" + strings.Repeat("_", 70) + "b",
}

// servers are servers of those names, as they are sent to models.
func oddServers(all []string) (servers []Server) {
	taken := map[string]bool{}
	for _, name := range all {
		s := Server{Name: name, Clean: WordFor(name, func(word string) bool { return taken[word] })}
		taken[s.Clean] = true
		servers = append(servers, s)
	}
	return servers
}

// Whatever servers and tools are called, each tool has a name of its own that every model takes, the same each time and in
// whatever order a server lists its tools.
func TestToolNames(t *testing.T) {
	of := map[string]string{}
	for _, s := range oddServers(oddNames) {
		if strings.Contains(s.Word(), "__") || strings.HasSuffix(s.Word(), "_") || len(s.Word()) > maxWord {
			t.Errorf("%q has the word %q", s.Name, s.Word())
		}
		back := slices.Clone(oddNames)
		slices.Reverse(back)
		names, again := toolNames(s, oddNames), toolNames(s, back)
		slices.Reverse(again)
		for n, name := range names {
			if !modelName.MatchString(name) {
				t.Errorf("%q of %q is sent as %q", oddNames[n], s.Name, name)
			}
			if was := of[name]; was != "" {
				t.Errorf("%q of %q is sent as %q, which is %s", oddNames[n], s.Name, name, was)
			}
			of[name] = fmt.Sprintf("%q of %q", oddNames[n], s.Name)
			if name != again[n] {
				t.Errorf("%s is sent as %q, and in another order as %q", of[name], name, again[n])
			}
			if !strings.HasPrefix(name, tools.LentName+s.Word()+"__") {
				t.Errorf("%s is sent as %q", of[name], name)
			}
		}
	}
	if len(of) != len(oddNames)*len(oddNames) {
		t.Errorf("%d names of %d", len(of), len(oddNames)*len(oddNames))
	}
}

// Names that need no other word keep it, and others are called as Claude Code calls them where that can be.
func TestToolNames_are(t *testing.T) {
	for _, c := range []struct{ server, tool, want string }{
		{"git-hub_2", "wörter", "mcp__git-hub_2__w_rter"},
		{"my server", "get.issue", "mcp__my_server__get_issue"},
		{"@scope/name", "get", "mcp___scope_name__get"},
		{"github.com/o/r", "get", "mcp__github_com_o_r__get"},
		{"my__server", "get__it", "mcp__my_server__get__it"},
		{"日本語", "get", "mcp__server-" + shortHash("日本語") + "__get"},
		{"a", "日本語", "mcp__a__tool_" + shortHash("日本語")},
	} {
		s := Server{Name: c.server, Clean: WordFor(c.server, func(string) bool { return false })}
		if got := toolNames(s, []string{c.tool})[0]; got != c.want {
			t.Errorf("%s of %s is sent as %s, want %s", c.tool, c.server, got, c.want)
		}
	}
	got := toolNames(Server{Name: "s"}, []string{"get.it", "get_it", "get/it"})
	want := []string{"mcp__s__get_it_" + shortHash("get.it"), "mcp__s__get_it", "mcp__s__get_it_" + shortHash("get/it")}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A call by the name that was sent reaches the server and the tool that it was sent for.
func TestNames_lead(t *testing.T) {
	good := child(t, "good", "good")
	var all []Server
	for _, s := range oddServers([]string{"my server", "my_server", "my@server", "größe 🚀"}) {
		s.Own, s.Command, s.Args, s.Env = good.Own, good.Command, good.Args, maps.Clone(good.Env)
		all = append(all, s)
	}
	b := open(t, Options{}, all...)
	from := map[string]int{}
	for _, tool := range b.Lend(t.Context()) {
		if !modelName.MatchString(tool.Name) {
			t.Errorf("%q is sent", tool.Name)
		}
		again, is := b.Borrow(tool.Name)
		if !is || again.From != tool.From || again.Own != tool.Own {
			t.Errorf("%s leads to %s of %s", tool.Name, again.Own, again.From)
		}
		from[tool.From]++
		for _, about := range b.Tools(tool.From) {
			if about.Name == tool.Own && about.LentName != tool.Name {
				t.Errorf("%s is told of as %s", tool.Name, about.LentName)
			}
		}
	}
	for _, s := range all {
		if from[s.Name] == 0 || from[s.Name] != from["my server"] {
			t.Errorf("%s lends %d tools of %d", s.Name, from[s.Name], from["my server"])
		}
	}
}
