package wall

import (
	"os"
	"path/filepath"

	"fantail/store/config/paths"
	"fantail/tools/git"
	"fantail/tools/permit/filenames"
	"fantail/tools/sandbox"
	"fantail/ui/cli/place"
)

// Ground is what the sandboxes of the workspace at that place stand on, for commands with that environment. Their files
// for a while lie in the directory scratch.
func Ground(at place.Place, scratch string, environ []string) sandbox.Ground {
	g := sandbox.Ground{Root: resolved(at.Root), Git: git.Outside(at.Root), Environ: environ, Scratch: scratch, Secret: filenames.Sensitive}
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		g.Home = resolved(home)
	}
	if kept, err := paths.Data(os.Getenv, at.Root); err == nil {
		g.Private = append(g.Private, resolved(filepath.Dir(kept))) // the data of all workspaces
	}
	for _, p := range at.Private {
		g.Private = append(g.Private, resolved(p))
	}
	return g
}

// Boxes makes sandboxes on that ground; nil where there are none.
func Boxes(w *sandbox.Wall, g sandbox.Ground) func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error) {
	if w.Level() == sandbox.None {
		return nil
	}
	return func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error) {
		g := g
		g.Environ = environ
		return w.Box(g, p, leave, g.Root)
	}
}

// resolved is a path without links, as far as it exists.
func resolved(path string) string {
	if is, err := filepath.EvalSymlinks(path); err == nil {
		return is
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}
