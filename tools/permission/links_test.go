package permission

import (
	"slices"
	"strings"
	"testing"
)

// A command asks if one of its words may be a link that leads elsewhere: from any directory that the command may run
// in, also as a pattern, and above it as the kernel climbs.
func TestDecide_links(t *testing.T) {
	for _, c := range []struct {
		command string
		links   []string // paths that lead elsewhere; a pattern has a ? before it
		want    Decision
	}{
		{"cat a", nil, Allow},
		{"cat b", []string{"a"}, Allow},
		{"cat a", []string{"a"}, AskHuman},
		{"cat ./a", []string{"a"}, AskHuman},
		{"cat b sub/a", []string{"sub/a"}, AskHuman},
		{"cat b | grep x a", []string{"a"}, AskHuman},
		{"cat " + root + "/a", nil, Allow},
		{"cat " + root + "/a", []string{root + "/a"}, AskHuman},
		{"ls a*.go", nil, Allow},
		{"ls a*.go", []string{"?a*.go"}, AskHuman},
		{"ls b*.go", []string{"?a*.go"}, Allow},
		{"cat a", []string{"?a"}, Allow},
		{"cd sub && cat a", nil, Allow},
		{"cd sub && cat a", []string{"sub/a"}, AskHuman},
		{"cd sub && cat a", []string{"a"}, AskHuman},
		{"cd sub && cat a", []string{"sub"}, AskHuman},
		{"cd sub && cat " + root + "/a", []string{root + "/a"}, AskHuman},
		{"cd sub && cat ../a", nil, Allow},
		{"cd sub && cat ../a", []string{root + "/sub/../a"}, AskHuman},
		{"cd sub && cat ../a", []string{root + "/../a"}, Allow},
	} {
		looked := []string{}
		a := Action{
			Tool: "bash", Kind: Command, Command: c.command, Dir: root, Boxed: true,
			Leads: func(p string, pattern bool) string {
				if pattern {
					p = "?" + p
				}
				if looked = append(looked, p); slices.Contains(c.links, p) {
					return "leads elsewhere"
				}
				return ""
			},
			Secrets: func(string, Reach) string { return "" }, Strays: func(string) string { return "" },
		}
		if v := gate(t, Ask, "bash(cat *)", "bash(ls *)", "bash(grep *)").Decide(a); v.Decision != c.want {
			t.Errorf("%s with %q: %v %s; looked at %q", c.command, c.links, v.Decision, v.Reason, looked)
		}
	}
}

// If the repository makes git run a program, no rule covers a script with git in it, wherever git is; a command that
// only reads runs so that git runs no program. Scripts without git are not checked.
func TestDecide_gitRuns(t *testing.T) {
	for _, c := range []struct {
		command      string
		reads, other string // the program that git would run
		want         Decision
		asked        string // with which reads
	}{
		{"git commit -m x", "", "", Allow, "false"},
		{"git commit -m x", "", "evil", AskHuman, "false"},
		{"git status", "", "evil", Allow, "true"},
		{"git status", "evil", "", AskHuman, "true"},
		{"git status && git commit -m x", "", "evil", AskHuman, "false"},
		{"git commit -m x && git status", "", "evil", AskHuman, "false"},
		{"go test && git commit -m x", "", "evil", AskHuman, "false"},
		{"git status && git log", "", "evil", Allow, "true"},
		{"go test", "evil", "evil", Allow, ""},
	} {
		var asked []string
		a := Action{Tool: "bash", Kind: Command, Command: c.command, Dir: root, Boxed: true, Git: func(reads bool) string {
			if reads {
				asked = append(asked, "true")
				return c.reads
			}
			asked = append(asked, "false")
			return c.other
		}}
		v := gate(t, Ask, "bash(git commit *)", "bash(git status *)", "bash(git log *)", "bash(go test *)").Decide(a)
		if slices.Sort(asked); v.Decision != c.want || strings.Join(slices.Compact(asked), " ") != c.asked {
			t.Errorf("%s: %v %s; asked %q", c.command, v.Decision, v.Reason, asked)
		}
	}
}
