package tools

import (
	"os"
	"testing"

	"fantail/tools/permit"
)

// TestWrite_whatRunsOrIsObeyed: in accept-edits what programs execute by
// themselves asks; in every mode what agents obey does; the rest is free.
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
	link(t, "docs/guide.md", e.Root+"/AGENTS.md")
	link(t, "AGENTS.md", e.Root+"/CLAUDE.md")
	link(t, "docs/guide.md", e.Root+"/web/CLAUDE.md")
	link(t, "../skills", e.Root+"/.claude/skills")
	for p, want := range map[string]struct{ accept, yolo permit.Decision }{
		"main.go": {permit.Allow, permit.Allow}, "new.go": {permit.Allow, permit.Allow}, "config": {permit.Allow, permit.Allow}, "src/objects/x.go": {permit.Allow, permit.Allow},
		"tool.py": {permit.AskHuman, permit.Allow}, "gradlew": {permit.AskHuman, permit.Allow}, "GRADLEW": {permit.AskHuman, permit.Allow}, "build": {permit.AskHuman, permit.Allow},
		"editor/tasks.json": {permit.AskHuman, permit.Allow}, ".envrc": {permit.AskHuman, permit.Allow}, ".hg/hgrc": {permit.AskHuman, permit.Allow},
		"x/HEAD": {permit.AskHuman, permit.Allow}, "x/head": {permit.AskHuman, permit.Allow}, "bare/config": {permit.AskHuman, permit.Allow}, "bare/objects/info/a": {permit.AskHuman, permit.Allow},
		"bare/refs/heads/main": {permit.AskHuman, permit.Allow}, "bare/hooks/post-checkout": {permit.AskHuman, permit.Allow}, "bare/readme.txt": {permit.Allow, permit.Allow},
		"AGENTS.md": {permit.AskHuman, permit.AskHuman}, "sub/claude.md": {permit.AskHuman, permit.AskHuman}, ".agents/a.yml": {permit.AskHuman, permit.AskHuman},
		"docs/guide.md": {permit.AskHuman, permit.AskHuman}, "web/docs/guide.md": {permit.AskHuman, permit.AskHuman}, "docs/other.md": {permit.Allow, permit.Allow},
		"skills/x/notes.md": {permit.AskHuman, permit.AskHuman}, "skills/new/SKILL.md": {permit.AskHuman, permit.AskHuman}, "skillset.md": {permit.Allow, permit.Allow},
		".claude/settings.json": {permit.AskHuman, permit.AskHuman}, ".claude/settings.local.json": {permit.AskHuman, permit.AskHuman}, ".fantail/config.toml": {permit.AskHuman, permit.AskHuman}, ".mcp.json": {permit.AskHuman, permit.AskHuman},
		"./AGENTS.md": {permit.AskHuman, permit.AskHuman}, "sub//CLAUDE.md": {permit.AskHuman, permit.AskHuman}, "AGENTS.md/": {permit.AskHuman, permit.AskHuman},
		"sub/../aGeNtS.md": {permit.AskHuman, permit.AskHuman}, "agentſ.md": {permit.AskHuman, permit.AskHuman}, "../AGENTS.md": {permit.AskHuman, permit.AskHuman},
		".git/config": {permit.Deny, permit.Deny}, "sub/.GIT/hooks/x": {permit.Deny, permit.Deny}, "sub/.git": {permit.Deny, permit.Deny},
		top(e) + "/config/config.toml": {permit.Deny, permit.Deny}, top(e) + "/data/x": {permit.Deny, permit.Deny},
	} {
		for m, want := range map[permit.Mode]permit.Decision{permit.AcceptEdits: want.accept, permit.Yolo: want.yolo} {
			g, err := permit.NewGate(m, []permit.Rule{"write(*)", "write(/**)"})
			if err != nil {
				t.Fatal(err)
			}
			target, err := e.tree().Target(p, permit.Write)
			if err != nil {
				t.Fatal(err)
			}
			act := target.Touch(permit.Action{Kind: permit.Write, Dir: e.Root})
			if v := g.Decide(act); v.Decision != want || v.Decision == permit.AskHuman && v.Rule != "" {
				t.Errorf("%s in %s: %+v, want %s", p, m, v, want)
			}
		}
	}
}
