package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/sandbox/cell"
)

// TestThreadsStayFree starts commands in a sandbox that restricts the thread that starts them: no thread that lives on
// may be restricted, least of all the first one of the process.
func TestThreadsStayFree(t *testing.T) {
	w := sandbox.Find(t.Context(), sandbox.Bubblewrap)
	if w.Level() == sandbox.None || cell.ABI() < cell.Scopes {
		t.Skip(w.Why())
	}
	own, err := os.ReadFile("/proc/self/status")
	must(t, err)
	if strings.Contains(string(own), bound) {
		t.Skip("all of this program is held to something")
	}
	g := small(t)
	for range 20 {
		box, err := w.Box(g, sandbox.Command, sandbox.Leave{Network: true}, g.Root)
		must(t, err)
		r, err := proc.Run(t.Context(), proc.Spec{Shell: `true`, Dir: g.Root, Env: os.Environ(), Box: box, Head: 1 << 10, Tail: 1 << 10})
		if must(t, err); r.Exit != 0 {
			t.Fatalf("the command does not run: %q", r.Text)
		}
	}
	until(t, "threads are held to a sandbox", func() bool { return held(t) == 0 }) // one may be ending
}

// bound is in the status of a thread that gave up new privileges, as a restricted one must.
const bound = "NoNewPrivs:\t1"

// held is how many threads of this process are restricted. A thread that is ending does not count.
func held(t *testing.T) (n int) {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/status")
	must(t, err)
	for _, f := range tasks {
		text, _ := os.ReadFile(f)
		if s := string(text); strings.Contains(s, bound) && !strings.Contains(s, "State:\tX") && !strings.Contains(s, "State:\tZ") {
			n++
		}
	}
	return n
}
