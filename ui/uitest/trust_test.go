package uitest_test

import (
	"fmt"
	"testing"

	"fantail/ui/uitest"
)

// TestTrustFrames: /trust shows what the repository would run and asks; /hooks lists it; a letter decides only in the box.
func TestTrustFrames(t *testing.T) {
	files := map[string]string{
		".claude/settings.json": `{"env": {"A": "b"}, "hooks": {
"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "sh .claude/hooks/guard.sh", "timeout": 10}]}],
"TaskFinished": [{"hooks": [{"type": "command", "command": "true"}, {"type": "http"}]}]}}`,
		".claude/hooks/guard.sh": "grep -q 'rm -rf' && exit 2\nexit 0\n",
	}
	for _, size := range sizes {
		t.Run(fmt.Sprint(size[0]), func(t *testing.T) {
			play(t, uitest.Options{W: size[0], H: size[1], Provider: uitest.Script(actor), Files: files}, func(s *uitest.Session) {
				s.Enter("think") // else the path of the workspace stands behind it
				s.See("Done thinking.")
				s.Enter("/trust")
				s.See("What this repository runs")
				s.Golden(fmt.Sprintf("trust-%d", size[0]))
				for range 9 { // a yes counts once all of it was there to be read
					s.Press("pgdown")
				}
				s.Press("y")
				s.See("Trusted as it is now")
				s.Enter("/hooks")
				s.See("never ran")
				s.Golden(fmt.Sprintf("hooks-%d", size[0]))
				s.Press("esc")
				s.Enter("/trust")
				s.See("TaskFinished, trusted")
			})
		})
	}
}
