package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

// TestThreadsStayFree starts commands in a wall that restricts the thread they are started from: no thread that lives on
// may be held to it, the first one of the process least of all.
func TestThreadsStayFree(t *testing.T) {
	w := sandbox.Find(t.Context(), sandbox.Landlock)
	if w.Level() == sandbox.None {
		t.Skip(w.Why())
	}
	g := sandbox.Ground{Root: t.TempDir(), Scratch: t.TempDir(), Environ: os.Environ()}
	before := held(t)
	for range 50 {
		box, err := w.Box(g, sandbox.Command, sandbox.Leave{}, g.Root)
		must(t, err)
		r, err := proc.Run(t.Context(), proc.Spec{Shell: `grep Seccomp: /proc/self/status`, Dir: g.Root, Env: os.Environ(), Box: box, Head: 1 << 10, Tail: 1 << 10})
		must(t, err)
		if !strings.Contains(r.Text, "2") {
			t.Fatalf("the command is not held: %q", r.Text)
		}
	}
	if after := held(t); after > before {
		t.Errorf("%d threads are held to a sandbox, %d were before", after, before)
	}
	must(t, os.WriteFile(filepath.Join(t.TempDir(), "outside"), nil, 0o600))
}

// held is how many threads of this process are held to a filter that it was not started with. A thread that is being
// thrown away is none.
func held(t *testing.T) (n int) {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/status")
	must(t, err)
	for _, f := range tasks {
		text, _ := os.ReadFile(f)
		if s := string(text); strings.Contains(s, "Seccomp:\t2") && !strings.Contains(s, "State:\tX") && !strings.Contains(s, "State:\tZ") {
			n++
		}
	}
	return n
}
