package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fantail/agents/skills"
)

// TestDoctorBrought: what is used of files is counted, what is not is named with the reason, and only what can't be read gets in the way.
func TestDoctorBrought(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"skills/deploy/SKILL.md": "---\ndescription: x\nallowed-tools: Bash\n---\nx",
		"commands/deploy.md":     "x",
		"commands/model.md":      "x",
		"agents/a.md":            "---\nname: a\nmodel: some\n---\nx",
		"agents/b.md":            "---\nname: b\nisolation: worktree\n---\nx",
	} {
		path := filepath.Join(root, ".claude", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, f := range (DoctorMachine{Skills: skills.New(skills.Options{Root: root, Words: []string{"model"}})}).brought() {
		got = append(got, fmt.Sprintf("%s: %.75s %v", f.What, f.Says, f.Bad))
	}
	want := []string{
		"files for agents: 4 skills, 1 commands, 1 agents; /skills lists them false",
		"file used in part: .claude/skills/deploy/SKILL.md:3:1: allowed-tools is not used: a file allow false",
		"file not used: .claude/commands/deploy.md: shadowed by .claude/skills/deploy/SKILL.md false",
		"file not used: .claude/commands/model.md: /model is a command of the program false",
		"file that can't be read: .claude/agents/b.md:3:1: isolation: worktree can't be had yet, and the agen true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if (DoctorMachine{}).brought() != nil {
		t.Error("something was found where nobody looked")
	}
}
