package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents/hooks"
)

// The doctor tells of hooks that do not run, of what is broken, and of what a repository may not set.
func TestBrings(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := `{"env":{},"hooks":{"Stop":[{"hooks":[{"command":"x"},{"type":"prompt"}]}]}}`
	if err := os.WriteFile(filepath.Join(root, ".claude", "settings.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	brought, err := hooks.OpenTrust(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	room := hooks.New(hooks.Settings{Root: root, Trust: brought})
	brought.Add(hooks.TrustSource{Kind: "command", Parts: func() []hooks.TrustPart {
		return []hooks.TrustPart{{Kind: "command", Name: "x.md", Commands: []string{"true"}}}
	}})
	var lines []string
	for _, f := range DoctorBrings(brought, room, nil, errors.New("a broken book")) {
		lines = append(lines, fmt.Sprintf("%v %s: %s", f.Bad, f.What, f.Says))
	}
	all := strings.Join(lines, "\n")
	for _, want := range []string{
		"true trust: a broken book", "false hooks: 0 yours, 0 of the repository that you trust, 1 that do not run", "false hook: .claude/settings.json:1: Stop is not trusted yet",
		"false command: x.md is not trusted yet; /trust asks",
		"true hook: .claude/settings.json:1:54: ",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	for _, f := range DoctorBrings(brought, room, []string{".claude/settings.json:1:54: said by the reader of rules"}, nil) {
		if f.Bad {
			t.Errorf("said twice: %+v", f)
		}
	}
}
