package tools

import (
	"os"
	"testing"

	"fantail/tools/permission"
)

// TestWrite_whatRunsOrIsObeyed: in accept-edits, writing a file that programs run by themselves asks; in every mode,
// writing one that agents obey does; other files are free.
func TestWrite_whatRunsOrIsObeyed(t *testing.T) {
	e := place(t)
	for _, p := range []string{"tool.py", "main.go", "bare/HEAD", "gradlew"} {
		put(t, e.Root+"/"+p, "one\n")
	}
	if err := os.Chmod(e.Root+"/tool.py", 0o744); err != nil {
		t.Fatal(err)
	}
	link(t, "gradlew", e.Root+"/build")
	link(t, ".vscode", e.Root+"/editor")
	if err := os.Mkdir(e.Root+"/.vscode", 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, e.Root+"/docs/guide.md", "one\n")
	put(t, e.Root+"/web/docs/guide.md", "one\n")
	put(t, e.Root+"/skills/x/notes.md", "one\n")
	put(t, e.Root+"/.claude/x", "one\n")
	put(t, e.Root+"/.git/config", "[core]\n\thooksPath = tools/hooks\n[filter \"x\"]\n\tclean = tools/clean\n")
	put(t, e.Root+"/tools/clean", "one\n")
	link(t, "docs/guide.md", e.Root+"/AGENTS.md")
	link(t, "AGENTS.md", e.Root+"/CLAUDE.md")
	link(t, "docs/guide.md", e.Root+"/web/CLAUDE.md")
	link(t, "../skills", e.Root+"/.claude/skills")
	for p, want := range map[string]struct{ accept, yolo permission.Decision }{
		"main.go": {permission.Allow, permission.Allow}, "new.go": {permission.Allow, permission.Allow}, "config": {permission.Allow, permission.Allow}, "src/objects/x.go": {permission.Allow, permission.Allow},
		"tool.py": {permission.AskHuman, permission.Allow}, "gradlew": {permission.AskHuman, permission.Allow}, "GRADLEW": {permission.AskHuman, permission.Allow}, "build": {permission.AskHuman, permission.Allow},
		"tools/hooks/pre-commit": {permission.AskHuman, permission.Allow}, "tools/clean": {permission.AskHuman, permission.Allow}, "tools/other": {permission.Allow, permission.Allow},
		"editor/tasks.json": {permission.AskHuman, permission.Allow}, ".envrc": {permission.AskHuman, permission.Allow}, ".hg/hgrc": {permission.AskHuman, permission.Allow},
		"x/HEAD": {permission.AskHuman, permission.Allow}, "x/head": {permission.AskHuman, permission.Allow}, "bare/config": {permission.AskHuman, permission.Allow}, "bare/objects/info/a": {permission.AskHuman, permission.Allow},
		"bare/refs/heads/main": {permission.AskHuman, permission.Allow}, "bare/hooks/post-checkout": {permission.AskHuman, permission.Allow}, "bare/readme.txt": {permission.Allow, permission.Allow},
		"AGENTS.md": {permission.AskHuman, permission.AskHuman}, "sub/claude.md": {permission.AskHuman, permission.AskHuman}, ".agents/a.yml": {permission.AskHuman, permission.AskHuman},
		"docs/guide.md": {permission.AskHuman, permission.AskHuman}, "web/docs/guide.md": {permission.AskHuman, permission.AskHuman}, "docs/other.md": {permission.Allow, permission.Allow},
		"skills/x/notes.md": {permission.AskHuman, permission.AskHuman}, "skills/new/SKILL.md": {permission.AskHuman, permission.AskHuman}, "skillset.md": {permission.Allow, permission.Allow},
		".claude/settings.json": {permission.AskHuman, permission.AskHuman}, ".claude/settings.local.json": {permission.AskHuman, permission.AskHuman}, ".fantail/config.toml": {permission.AskHuman, permission.AskHuman}, ".mcp.json": {permission.AskHuman, permission.AskHuman},
		"./AGENTS.md": {permission.AskHuman, permission.AskHuman}, "sub//CLAUDE.md": {permission.AskHuman, permission.AskHuman}, "AGENTS.md/": {permission.AskHuman, permission.AskHuman},
		"sub/../aGeNtS.md": {permission.AskHuman, permission.AskHuman}, "agentſ.md": {permission.AskHuman, permission.AskHuman}, "../AGENTS.md": {permission.AskHuman, permission.AskHuman},
		".git/config": {permission.Deny, permission.Deny}, "sub/.GIT/hooks/x": {permission.Deny, permission.Deny}, "sub/.git": {permission.Deny, permission.Deny},
		top(e) + "/config/config.toml": {permission.Deny, permission.Deny}, top(e) + "/data/x": {permission.Deny, permission.Deny},
	} {
		for m, want := range map[permission.Mode]permission.Decision{permission.AcceptEdits: want.accept, permission.Yolo: want.yolo} {
			g, err := permission.NewGate(m, []permission.Rule{"write(*)", "write(/**)"})
			if err != nil {
				t.Fatal(err)
			}
			target, err := e.tree().Target(p, permission.Write)
			if err != nil {
				t.Fatal(err)
			}
			act := target.Touch(permission.Action{Kind: permission.Write, Dir: e.Root})
			if v := g.Decide(act); v.Decision != want || v.Decision == permission.AskHuman && v.Rule != "" {
				t.Errorf("%s in %s: %+v, want %s", p, m, v, want)
			}
		}
	}
}
