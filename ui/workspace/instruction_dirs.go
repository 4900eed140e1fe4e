package workspace

import (
	"path/filepath"

	"fantail/agents/instructions"
	"fantail/store/paths"
)

// Written returns where people keep instructions for agents that work here.
func (p Place) Written(env func(string) string) instructions.Place {
	at := instructions.Place{Root: p.Root, Dir: p.Dir, Home: env("HOME")}
	if dir, err := paths.Dir(env); err == nil {
		at.Config = filepath.Dir(dir)
	}
	if home, err := filepath.EvalSymlinks(at.Home); err == nil && filepath.IsAbs(home) {
		at.Home = home
	} else {
		at.Home = ""
	}
	return at
}
