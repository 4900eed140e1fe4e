package rulebook

import (
	"path/filepath"
	"testing"

	"fantail/agents/permissions"
	"fantail/tools/permit"
)

// FuzzProject: whatever a workspace's files say, nothing is allowed that was not without them.
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
		without := New(root, env).Read()
		name := ".claude/settings.json"
		if toml {
			name = ".fantail/config.toml"
		}
		put(t, filepath.Join(root, name), text)
		with := New(root, env).Read()
		for _, m := range permit.Modes() {
			before, after := gate(t, m, without), gate(t, m, with)
			for _, a := range []permit.Action{
				command(root, "go test ./..."), command(root, "go vet ./..."), command(root, "git push"), command(root, "make"), command(root, "rm x"), command(root, "curl https://x"),
				{Tool: "read_file", Kind: permit.Read, Paths: []string{"/etc/x"}, Outside: true, Dir: root},
				{Tool: "write_file", Kind: permit.Write, Paths: []string{filepath.Join(root, "a.go")}, Dir: root},
				{Tool: "bash", Kind: permit.Widen, Wants: permit.NetworkRule, Dir: root},
			} {
				was, is := before.Decide(a).Decision, after.Decide(a).Decision
				if strict(is) < strict(was) {
					t.Fatalf("%s in %s with %q: %s, and %s without", a.Command+a.Title, m, text, is, was)
				}
			}
		}
	})
}

func command(root, text string) permit.Action {
	return permit.Action{Tool: "bash", Kind: permit.Command, Command: text, Dir: root}
}

func gate(t *testing.T, m permit.Mode, is permissions.Reading) *permit.Gate {
	t.Helper()
	g, err := permit.NewGate(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	permissions.Begin(g, is)
	return g
}

// strict orders decisions.
func strict(d permit.Decision) int {
	return map[permit.Decision]int{permit.Allow: 0, permit.AskHuman: 1, permit.Deny: 2}[d]
}
