package uitest_test

import (
	"os"
	"path/filepath"
	"testing"

	"fantail/ui/uitest"
)

// TestTrustFrames: /trust shows what the repository would run and asks; /hooks lists it; a letter decides only in the box.
func TestTrustFrames(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".claude/settings.json": `{"env": {"A": "b"}, "hooks": {
"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "sh .claude/hooks/guard.sh", "timeout": 10}]}],
"TaskFinished": [{"hooks": [{"type": "command", "command": "true"}, {"type": "http"}]}]}}`,
		".claude/hooks/guard.sh": "grep -q 'rm -rf' && exit 2\nexit 0\n",
	}
	play(t, uitest.Options{W: usual[0], H: usual[1], Provider: uitest.Script(actor), Files: files}, func(s *uitest.Session) {
		s.Enter("think") // else the path of the workspace stands behind it
		s.See("Done thinking.")
		s.Enter("/trust")
		s.See("Trust this repository?")
		goldens(s, "trust")
		for range 9 { // a yes counts once all of it was there to be read
			s.Press("pgdown")
		}
		s.Press("y")
		s.See("Trusted as it is now")
		s.Enter("/hooks")
		s.See("never ran")
		goldens(s, "hooks")
		s.Press("esc")
		s.Enter("/trust")
		s.See("TaskFinished, trusted")
	})
}

// TestLinesOnTheScreen: what a command of the repository's wants run does not run before the human agrees, runs then, and
// not once the script that it names is another; what stands beside a hook is shown and asked about with it.
func TestLinesOnTheScreen(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".claude/settings.json":     `{"hooks": {"TaskFinished": [{"hooks": [{"type": "command", "command": "true"}]}]}}`,
		".claude/commands/where.md": "We are on !`sh where.sh`.",
		"where.sh":                  "echo the branch",
	}
	play(t, uitest.Options{W: 120, H: 40, Provider: uitest.Script(actor), Files: files}, func(s *uitest.Session) {
		s.Enter("/where")
		s.See("We are on !`sh where.sh` (not run: the user has not agreed to it (not trusted yet)", "0s · 1 step")
		s.Enter("/trust")
		s.See("1. command lines: .claude/commands/where.md", "2. hooks: .claude/settings.json TaskFinished", "where runs: sh where.sh", "echo the branch", "trust only .claude/commands/where.md")
		s.Press("pgdown")
		s.Press("1")
		s.See("Trusted as it is now")
		s.Enter("/where")
		s.See("We are on <output>the branch</output>.")
		s.Enter("/trust list")
		s.See("hooks: .claude/settings.json TaskFinished, not trusted yet", "command lines: .claude/commands/where.md, trusted")
		if err := os.WriteFile(filepath.Join(s.Home.Root, "where.sh"), []byte("echo evil"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.Enter("/where")
		s.See("(not run: the user has not agreed to it (changed since you trusted it)")
		s.NotSee("<output>evil")
	})
}
