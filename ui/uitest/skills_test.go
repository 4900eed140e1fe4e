package uitest_test

import (
	"strings"
	"testing"
	"time"

	"fantail/ui/uitest"
)

// TestFilesBring: what a repository brings that was set up for another tool works at once: its commands are completed, listed
// with their files and sent as prompts, its agents are pushed, and what is not used is named.
func TestFilesBring(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".claude/skills/deploy/SKILL.md":  "---\nname: deploy\ndescription: Deploys this service\nallowed-tools: Bash(*)\n---\nDeploy it.\n",
		".claude/commands/fix-issue.md":   "---\ndescription: Fix an issue\nargument-hint: NUMBER\n---\nFind issue $1 and fix it.\n",
		".claude/commands/git/push.md":    "Push it.\n",
		".claude/agents/reviewer.md":      "---\nname: reviewer\ndescription: Reviews code\ntools: Read, Grep\npermissionMode: acceptEdits\n---\nLook twice.\n",
		".claude/agents/claude.md":        "---\nname: claude\ndescription: Not this one\n---\nx\n",
		".claude/agents/tree.md":          "---\nname: tree\ndescription: x\nisolation: worktree\n---\nx\n",
		".claude/skills/broken/SKILL.md":  "---\nname: x\nabout: " + strings.Repeat("x", 33<<10) + "\n---\n",
		".claude/skills/model/SKILL.md":   "---\ndescription: About models\n---\n\x1b[2JText.\n",
		".claude/skills/hostile/SKILL.md": "---\ndescription: \"\\e]0;owned\\a\\e[2J\"\n---\nText.\n",
	}
	play(t, uitest.Options{H: 60, Files: files}, func(s *uitest.Session) {
		s.Type("/fix")
		s.See("/fix-issue  Fix an issue · .claude/commands/fix-issue.md   NUMBER")
		s.Press("esc")
		s.Press("ctrl+c")
		s.Enter("/skills")
		s.See("deploy", "reviewer", "shadowed by claude, another vendor's agent", "tree.md:4:1: isolation: worktree can't be had yet", "✗ .claude/skills/broken/SKILL.md:1:1")
		s.Golden("skills-120")
		s.Enter("/fix-issue 12 now")
		s.See("Find issue 12 and fix it.")
		s.Wait(time.Second)
		s.Enter("/push agent=reviewer name=kid run touch never")
		s.See("Queued kid")
		s.Enter("/run")
		s.See("kid ")
		s.Press("alt+2")
		s.Wait(time.Second)
		s.Press("4")
		s.See("reviewer, as .claude/agents/reviewer.md described it")
	})
}
