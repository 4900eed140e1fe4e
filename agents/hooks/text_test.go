package hooks

import (
	"slices"
	"testing"
	"time"

	"fantail/tools/sandbox"
)

// TestRun_words: the sandbox of a line gets the files that the line names.
func TestRun_words(t *testing.T) {
	var leave sandbox.Leave
	g := ProgramOptions{Root: t.TempDir(), Go: func(_ string, f func()) { go f() }, Box: func(_ sandbox.Profile, l sandbox.Leave, _ []string) (*sandbox.Box, error) {
		leave = l
		return nil, nil // none, which is nothing to a line that does nothing
	}}
	d := g.Run(t.Context(), ProgramLine{Command: `true "/tmp/a/run" --config=/tmp/b/c;true $(true </tmp/d)`, Profile: sandbox.Server, Timeout: time.Minute})
	if d.Exit > 1 || d.Fault != "" {
		t.Errorf("%+v", d)
	}
	for _, want := range []string{"/tmp/a/run", "--config=/tmp/b/c", "/tmp/d"} {
		if !slices.Contains(leave.Words, want) {
			t.Errorf("%s is not among %q", want, leave.Words)
		}
	}
}
