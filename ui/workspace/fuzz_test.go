package workspace

import (
	"path/filepath"
	"testing"

	"fantail/agents/approval"
	"fantail/tools/permission"
)

// FuzzProject: whatever a workspace's files contain, nothing is allowed that was not allowed without them.
func FuzzProject(f *testing.F) {
	for _, text := range []string{
		`{"permissions": {"allow": ["Bash", "Bash(*)", "Read", "Edit", "*", "sandbox(network)"], "defaultMode": "bypassPermissions", "additionalDirectories": ["/"]}}`,
		`{"permissions": {"deny": ["Bash(git push *)", "Read(./secret/**)"], "ask": ["Edit(*.go)"]}}`, `{"permissions": {"allow": ["Bash"`, "{", "",
		"permission_mode = \"yolo\"\nallow = [\"bash(go test *)\"]\n[permissions]\nallow = [\"Bash(go test *)\"]\n",
	} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, toml bool) {
		_, root, env := home(t, map[string]string{".claude/settings.json": `{"permissions": {"ask": ["Bash(make *)"], "deny": ["Bash(rm *)"], "allow": ["Bash(go vet:*)"]}}`})
		without := NewRuleFiles(root, env).Read()
		name := ".claude/settings.json"
		if toml {
			name = ".fantail/config.toml"
		}
		put(t, filepath.Join(root, name), text)
		with := NewRuleFiles(root, env).Read()
		for _, m := range permission.Modes() {
			before, after := gate(t, m, without), gate(t, m, with)
			for _, a := range []permission.Action{
				command(root, "go test ./..."), command(root, "go vet ./..."), command(root, "git push"), command(root, "make"), command(root, "rm x"), command(root, "curl https://x"),
				{Tool: "read_file", Kind: permission.Read, Paths: []string{"/etc/x"}, Outside: true, Dir: root},
				{Tool: "write_file", Kind: permission.Write, Paths: []string{filepath.Join(root, "a.go")}, Dir: root},
				{Tool: "bash", Kind: permission.Widen, Wants: permission.NetworkRule, Dir: root},
			} {
				was, is := before.Decide(a).Decision, after.Decide(a).Decision
				if strict(is) < strict(was) {
					t.Fatalf("%s in %s with %q: %s, and %s without", a.Command+a.Title, m, text, is, was)
				}
			}
		}
	})
}

func command(root, text string) permission.Action {
	return permission.Action{Tool: "bash", Kind: permission.Command, Command: text, Dir: root}
}

func gate(t *testing.T, m permission.Mode, is approval.RuleReading) *permission.Gate {
	t.Helper()
	g, err := permission.NewGate(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	approval.BeginRules(g, is)
	return g
}

// strict orders decisions.
func strict(d permission.Decision) int {
	return map[permission.Decision]int{permission.Allow: 0, permission.AskHuman: 1, permission.Deny: 2}[d]
}
