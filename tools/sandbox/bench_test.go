package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

// BenchmarkTrue measures what a sandbox adds to the shortest command: to the first one, and to one after a pause, for
// which a sandbox waits. An idle machine is slower then, also without a sandbox.
func BenchmarkTrue(b *testing.B) {
	base := b.TempDir()
	g := sandbox.Workspace{Root: filepath.Join(base, "work"), Home: os.Getenv("HOME"), Environ: os.Environ(), Scratch: filepath.Join(base, "scratch")}
	for _, d := range []string{g.Root, g.Scratch} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			b.Fatal(err)
		}
	}
	for _, k := range []sandbox.Kind{"bare", sandbox.Landlock, sandbox.Namespaces, sandbox.Bubblewrap} {
		b.Run(string(k), func(b *testing.B) {
			w := sandbox.Find(b.Context(), k)
			if k != "bare" && w.Level() == sandbox.None {
				b.Skip(w.Why())
			}
			run := func(a *proc.Ahead) {
				s := proc.Spec{Shell: "true", Dir: g.Root, Env: os.Environ(), Ahead: a, Head: 1 << 10, Tail: 1 << 10}
				if k != "bare" {
					var err error
					if s.Box, err = w.Box(g, sandbox.Command, sandbox.Leave{}, g.Root); err != nil {
						b.Fatal(err)
					}
				}
				if r, err := proc.Run(b.Context(), s); err != nil || r.Exit != 0 {
					b.Fatalf("%v, exit code %d, %s", err, r.Exit, r.Text)
				}
			}
			b.Run("first", func(b *testing.B) {
				for b.Loop() {
					run(nil)
				}
			})
			b.Run("next", func(b *testing.B) {
				var a proc.Ahead
				defer a.Close()
				for run(&a); b.Loop(); {
					b.StopTimer()
					<-time.After(50 * time.Millisecond) // an agent thinks, much longer
					b.StartTimer()
					run(&a)
				}
			})
		})
	}
}
