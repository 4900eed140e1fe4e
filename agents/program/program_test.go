package program

import (
	"os"
	"strings"
	"testing"
	"time"

	"fantail/tools/proc"
	"fantail/tools/secret"
)

// TestRun: a line is read by the shell that reads the commands of agents, gets its parameters and input, and its end is told.
func TestRun(t *testing.T) {
	shell, err := proc.Shell()
	if err != nil || !strings.HasSuffix(shell, "bash") {
		t.Skip("there is no bash")
	}
	g := Ground{
		Root: t.TempDir(), Environ: os.Environ(), Keys: secret.New(nil, os.Getenv),
		Go: func(_ string, f func()) { go f() },
	}
	d := g.Run(t.Context(), Line{Command: `echo "$BASH $0 $1 $(cat) $FANTAIL_PROJECT_DIR"; echo wrong >&2; exit 3`, Args: []string{"me", "one"}, Input: []byte("fed"), Timeout: time.Minute})
	if want := shell + " me one fed " + g.Root + "\n"; d.Out != want || d.Err != "wrong\n" || d.Exit != 3 || d.Fault != "" || d.TimedOut {
		t.Errorf("%+v, want %q", d, want)
	}
	if d := g.Run(t.Context(), Line{Command: "exec sleep 60", Timeout: 10 * time.Millisecond}); !d.TimedOut || d.Exit != -1 {
		t.Errorf("one that takes too long: %+v", d)
	}
}
