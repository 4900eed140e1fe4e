package uitest_test

import (
	"fmt"
	"testing"

	"fantail/tools/sandbox"
	"fantail/ui/uitest"
)

// TestSandboxFrame: /sandbox says what holds, how, and what keeps a better one from working; it says so too where there
// is none.
func TestSandboxFrame(t *testing.T) {
	t.Parallel()
	held := []string{
		"a command writes the workspace", "it has a temporary directory of its own", "it writes nothing outside", "it reads nothing that is private",
		"it reaches no socket that somebody else listens at", "it reaches no network", "it looks into no other process",
	}
	for name, wall := range map[string]*sandbox.Backend{
		"sandbox":         {Kind: sandbox.Seatbelt, Facts: held},
		"sandbox-detects": {Kind: sandbox.Landlock, Facts: held, Faults: []string{"bubblewrap: it is not installed (/usr/bin/bwrap)", "namespaces: operation not permitted"}},
		"sandbox-off":     nil,
	} {
		for _, size := range sizes[1:3] {
			name := fmt.Sprintf("%s-%d", name, size[0])
			t.Run(name, func(t *testing.T) {
				play(t, uitest.Options{W: size[0], H: size[1], Provider: uitest.Script(actor), Sandbox: wall}, func(s *uitest.Session) {
					s.Enter("/sandbox please")
					s.See("unexpected")
					s.Press("ctrl+c")
					s.Enter("/sandbox")
					s.See("Sandbox: ")
					s.Golden(name)
				})
			})
		}
	}
}
