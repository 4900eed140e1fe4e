package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents/skills"
	"fantail/inbox/policy"
	"fantail/store/config"
	"fantail/tools"
	"fantail/ui/workspace"
)

// TestPolicies: the file that describes an agent may say how its mail is handled; a file of policies says it first, and what is
// wrong names its place in the file.
func TestPolicies(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		".claude/agents/a.md": "---\nname: a\ndescription: x\nmessage_handling:\n  default: queue\n---\nx",
		".claude/agents/b.md": "---\nname: b\ndescription: x\nmessage_handling:\n  default: queue\n---\nx",
		".claude/agents/c.md": "---\nname: c\ndescription: x\nmessage_handling:\n  default: loud\n---\nx",
		".agents/b.yml":       "message_handling:\n  default: fork\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := SkillOptions(workspace.Place{Root: root, Dir: root}, func(string) string { return "" }, config.Config{}, tools.New())
	good, broken := Policies(root, skills.New(o))
	if len(good) != 2 || good["a"].Default != policy.Queue || good["b"].Default != policy.Fork {
		t.Errorf("%+v", good)
	}
	if err := broken["c"]; len(broken) != 1 || err == nil || !strings.HasPrefix(err.Error(), ".claude/agents/c.md:5:12: ") {
		t.Errorf("%v", broken)
	}
}

// TestOptions: nothing is looked for where no home is known, and the program's own words and other vendors' names are known.
func TestOptions(t *testing.T) {
	env := map[string]string{"HOME": "relative"}
	o := SkillOptions(workspace.Place{Root: "/ws", Dir: "/ws/sub"}, func(k string) string { return env[k] }, config.Config{}, tools.New())
	if o.Home != "" || o.Root != "/ws" || o.Dir != "/ws/sub" || len(o.Words) < 40 || len(o.Vendors) < 3 || len(o.Tools) < 20 {
		t.Errorf("%+v", o)
	}
}
