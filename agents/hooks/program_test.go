package hooks

import (
	"os"
	"strings"
	"testing"
	"time"

	"fantail/tools/proc"
	"fantail/tools/secret"
)

// TestRun: a line is read by the same shell as agents' commands, gets its parameters and input, and its end is
// reported.
func TestRun(t *testing.T) {
	shell, err := proc.Shell()
	if err != nil || !strings.HasSuffix(shell, "bash") {
		t.Skip("there is no bash")
	}
	g := ProgramOptions{
		Root: t.TempDir(), Environ: os.Environ(), Keys: secret.New(nil, os.Getenv),
		Go: func(_ string, f func()) { go f() },
	}
	d := g.Run(t.Context(), ProgramLine{Command: `echo "$BASH $0 $1 $(cat) $FANTAIL_PROJECT_DIR"; echo wrong >&2; exit 3`, Args: []string{"me", "one"}, Input: []byte("fed"), Timeout: time.Minute})
	if want := shell + " me one fed " + g.Root + "\n"; d.Out != want || d.Err != "wrong\n" || d.Exit != 3 || d.Fault != "" || d.TimedOut {
		t.Errorf("%+v, want %q", d, want)
	}
	if d := g.Run(t.Context(), ProgramLine{Command: "exec sleep 60", Timeout: 10 * time.Millisecond}); !d.TimedOut || d.Exit != -1 {
		t.Errorf("one that takes too long: %+v", d)
	}
}
