package permission

import (
	"testing"

	"fantail/tools/permission/shell"
)

// A file called token holds a secret; a package, a directory and a search word of that name do not.
func TestDecide_bareNames(t *testing.T) {
	var rules []Rule
	for _, tool := range []string{"cat", "head", "tail", "grep", "rg", "sort", "nl", "cut", "uniq", "jq", "go test", "go vet", "ls", "wc", "git log"} {
		rules = append(rules, Rule("bash("+tool+" *)"))
	}
	g := gate(t, Ask, rules...)
	for line, want := range map[string]Decision{
		"cat token": AskHuman, "head -n 3 a/password": AskHuman, "tail secret.bak": AskHuman, "grep . passwd": AskHuman, "grep -e x token": AskHuman, "sort < token": AskHuman,
		"nl secret": AskHuman, "cut -c 1-9 password": AskHuman, "rg x -- token": AskHuman, "cat main.go ./token": AskHuman, "cat main.go | grep -f token": AskHuman,
		"grep -n password main.go": Allow, "rg token src/a.go": Allow, "go test ./tools/secret": Allow, "go vet ./token/...": Allow, "ls tools/secret": Allow, "wc -c token": Allow,
		"git log --grep token": Allow, "cat token.go": Allow, "cat token/token.go": Allow, "cat tokens/a.go": Allow,
	} {
		if got := g.Decide(Action{Kind: Command, Command: line, Dir: root}); got.Decision != want {
			t.Errorf("%s: %v, want %v: %s", line, got.Decision, want, got.Reason)
		}
	}
}

// Writing a file that agents obey asks in every mode, under any rules.
func TestDecide_obeyed(t *testing.T) {
	for _, p := range []string{"AGENTS.md", "sub/AGENTS.md", ".cursorrules", ".agents/reviewer.yml", ".claude/skills/x/SKILL.md", "agentſ.md"} {
		a := Action{Kind: Write, Paths: []string{root + "/" + p}, Dir: root, Sensitive: shell.Obeyed(p), Guarded: true}
		for _, m := range []Mode{Ask, AcceptEdits, Yolo} {
			if v := gate(t, m, "write(*)", Rule("write("+p+")"), "write(/**)").Decide(a); v.Decision != AskHuman || v.Rule != "" {
				t.Errorf("%s in %s: %+v", p, m, v)
			}
		}
	}
}
