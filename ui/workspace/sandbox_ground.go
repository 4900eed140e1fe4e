package workspace

import (
	"os"
	"path/filepath"

	"fantail/store/paths"
	"fantail/tools/files"
	"fantail/tools/git"
	"fantail/tools/permission/shell"
	"fantail/tools/sandbox"
)

// SandboxGround describes the workspace at that place to its sandboxes, for commands with that environment. Their
// temporary files are in the directory scratch.
func SandboxGround(at Place, scratch string, environ []string) sandbox.Workspace {
	g := sandbox.Workspace{Root: resolved(at.Root), Git: git.Outside(at.Root), Environ: environ, Scratch: scratch, Secret: shell.SensitiveFile, Secrets: shell.Home()}
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		g.Home = resolved(home)
	}
	g.Kept = func() []string { return files.Protected(g.Root, g.Git, g.Home) }
	if kept, err := paths.Data(os.Getenv, at.Root); err == nil {
		g.Private = append(g.Private, resolved(filepath.Dir(kept))) // the data of all workspaces
	}
	for _, p := range at.Private {
		g.Private = append(g.Private, resolved(p))
	}
	return g
}

// Boxes returns a function that makes sandboxes for that workspace; nil if none work.
func Boxes(w *sandbox.Backend, g sandbox.Workspace) func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error) {
	if w.Level() == sandbox.None {
		return nil
	}
	return func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error) {
		g := g
		g.Environ = environ
		return w.Box(g, p, leave, g.Root)
	}
}

// resolved returns a path with links resolved, for the part of it that exists.
func resolved(path string) string {
	if is, err := filepath.EvalSymlinks(path); err == nil {
		return is
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}
