// Package place is the workspace on disk, and which process is its host.
//
// Does: find the workspace and its directories, or a temporary place beside it; lock it
// for its host; hang the host's bell and ring it; tell whether other machines may see it.
//
// Does not: open the database, read the configuration.
//
// Imports: agents/instructions, store/config/paths, tools/proc, ui/cli/shell.
package place

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fantail/store/config/paths"
	"fantail/ui/cli/shell"
)

// Place is where the program works: the workspace and its directories, all
// absolute. Temporary places are removed by Leave.
type Place struct {
	Root    string // of the workspace
	Dir     string // where the program was started, inside Root
	Data    string // database, outputs, lock, crash files
	Private []string
	Bell    string // where the host's bell hangs; "" in a temporary place
	Screens string // the socket on which screens reach the host; "" in a temporary place

	temporary bool
}

// Find finds the workspace of dir ("" is the present directory, which a given
// dir becomes) and makes its data directory.
func Find(dir string, env func(string) string) (Place, error) {
	if dir != "" {
		if err := os.Chdir(dir); err != nil {
			return Place{}, shell.Misused("--cwd: %v", err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		return Place{}, fmt.Errorf("find the present directory: %w: change to one that exists, or name one with --cwd", err)
	}
	root, err := paths.Workspace(here)
	if err != nil {
		return Place{}, err
	}
	if real, err := filepath.EvalSymlinks(here); err == nil {
		here = real
	}
	p := Place{Root: root, Dir: here}
	if p.Data, err = paths.Data(env, root); err != nil {
		return Place{}, err
	}
	if err := paths.MakePrivate(p.Data); err != nil {
		return Place{}, err
	}
	if err := p.foreign(); err != nil {
		return Place{}, err
	}
	settings, err := paths.Dir(env)
	if err != nil {
		return Place{}, err
	}
	p.Bell, p.Screens = paths.Bell(env, os.Geteuid(), p.Data), paths.Screens(env, os.Geteuid(), p.Data)
	p.Private = []string{p.Data, settings, paths.Runtime(env, os.Geteuid())}
	return p, nil
}

// Database is the path of the workspace's database.
func (p Place) Database() string { return filepath.Join(p.Data, "fantail.db") }

// foreign is an error if another user owns what this one has to write. Even who may
// write to it all must not: what SQLite makes beside it would shut its owner out.
func (p Place) foreign() error {
	beside, err := os.ReadDir(p.Data)
	if err != nil {
		return fmt.Errorf("look at the workspace's data: %w", err)
	}
	for _, e := range beside {
		path := filepath.Join(p.Data, e.Name())
		if e.Name() != hostLock && !strings.HasPrefix(path, p.Database()) {
			continue
		}
		info, err := os.Stat(path) // of what a link leads to
		if err != nil {
			continue // it has just gone, or opening it says why
		}
		if err := paths.Foreign(path, info); err != nil {
			return err
		}
	}
	return nil
}

// Aside is the same workspace with a data directory of its own that nobody else
// sees and that is gone after Leave.
func (p Place) Aside() (Place, error) {
	dir, err := os.MkdirTemp("", "fantail-")
	if err != nil {
		return p, fmt.Errorf("make a temporary database: %w", err)
	}
	p.Private = append(p.Private[:len(p.Private):len(p.Private)], dir)
	p.Data, p.Bell, p.Screens, p.temporary = dir, "", "", true
	return p, nil
}

// Leave removes what was only there for this run.
func (p Place) Leave() {
	if p.temporary {
		_ = os.RemoveAll(p.Data)
	}
}
