package proc

import (
	"os"
	"strings"
	"testing"
)

// A command that exceeds a limit is ended, with all processes that it started; any other runs to its end.
func TestRun_limits(t *testing.T) {
	needs(t, "setsid")
	for _, c := range []struct {
		shell string
		l     Limits
		over  string
	}{
		{`for i in $(seq 40); do setsid sleep 300 & done; wait`, Limits{Processes: 20}, "more than 20 processes"},
		{`head -c 400M /dev/zero | tail; sleep 300`, Limits{Memory: 100 << 20}, "of memory"},
		{`head -c 50M /dev/zero | tail >/dev/null; sleep 0.6`, Limits{Processes: 20, Memory: 1 << 30}, ""},
	} {
		r, err := Run(t.Context(), Spec{Shell: c.shell, Dir: t.TempDir(), Env: os.Environ(), Limits: c.l, Head: 100, Tail: 100})
		if err != nil || (r.Over == "") != (c.over == "") || !strings.Contains(r.Over, c.over) {
			t.Errorf("%s: %v, over %q, exit code %d", c.shell, err, r.Over, r.Exit)
		}
	}
}
