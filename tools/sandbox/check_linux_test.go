package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

// A check writes its temporary directory and the build tools' caches, but nothing in the workspace, even if a cache is
// there; it has no network.
func TestCheck(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			w := sandbox.Find(t.Context(), kind)
			if w.Level() == sandbox.None {
				t.Skip(w.Why())
			}
			base, err := filepath.EvalSymlinks(t.TempDir())
			must(t, err)
			bin, home := filepath.Join(base, "bin"), filepath.Join(base, "home")
			g := sandbox.Workspace{
				Root: filepath.Join(base, "work"), Home: home, Scratch: filepath.Join(base, "scratch"), Git: []string{filepath.Join(base, "git")},
				Environ: []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + home, "STATICCHECK_CACHE=" + filepath.Join(base, "work", "cache")},
			}
			for _, d := range []string{g.Root, home, g.Scratch, g.Git[0], bin, filepath.Join(home, ".cache", "go-build"), filepath.Join(g.Root, "cache")} {
				must(t, os.MkdirAll(d, 0o700))
			}
			for _, tool := range []string{"go", "staticcheck"} { // their caches are shown only if they are installed
				must(t, os.WriteFile(filepath.Join(bin, tool), nil, 0o700))
			}
			must(t, os.WriteFile(filepath.Join(g.Root, "f"), []byte("x"), 0o600))
			run := func(p sandbox.Profile) string {
				t.Helper()
				box, err := w.Box(g, p, sandbox.Leave{}, g.Root)
				must(t, err)
				r, err := proc.Run(t.Context(), proc.Spec{Shell: `
for f in f new cache/new "$HOME/new" ../git/new; do ( echo x >"$f" ) 2>/dev/null && echo "$f"; done
( echo x >"$HOME/.cache/go-build/new" ) 2>/dev/null && echo cache
( echo x >"$TMPDIR/new" ) 2>/dev/null && echo temporary
cat f >/dev/null && echo reads`, Dir: g.Root, Env: g.Environ, Box: box, Head: 1 << 12, Timeout: 30 * time.Second})
				must(t, err)
				return r.Text
			}
			if got, want := run(sandbox.Check), "cache\ntemporary\nreads\n"; got != want {
				t.Errorf("a check does %q, want %q", got, want)
			}
			if got, want := run(sandbox.Command), "f\nnew\ncache/new\n../git/new\ncache\ntemporary\nreads\n"; got != want {
				t.Errorf("a command does %q, want %q", got, want)
			}
		})
	}
}
