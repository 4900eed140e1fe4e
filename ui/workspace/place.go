package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fantail/store/paths"
	"fantail/ui/shell"
)

// Place is where the program works: the workspace and its directories, all absolute. Leave removes a temporary one.
type Place struct {
	Root    string // of the workspace
	Dir     string // where the program was started, inside Root
	Data    string // database, outputs, lock, crash files
	Private []string
	Bell    string // the path of the host's wake-up socket; "" in a temporary place
	Screens string // the socket on which screens reach the host; "" in a temporary place

	temporary bool
}

// Find finds the workspace of dir and makes its data directory. "" is the current directory; another dir becomes it.
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

// Database returns the path of the workspace's database.
func (p Place) Database() string { return filepath.Join(p.Data, "fantail.db") }

// foreign returns an error if another user owns a file that this one has to write. That holds even if the user may
// write to it: files that SQLite makes beside it would lock its owner out.
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

// Aside returns the same workspace with a data directory of its own that no other process sees and that Leave removes.
func (p Place) Aside() (Place, error) {
	dir, err := os.MkdirTemp("", "fantail-")
	if err != nil {
		return p, fmt.Errorf("make a temporary database: %w", err)
	}
	p.Private = append(p.Private[:len(p.Private):len(p.Private)], dir)
	p.Data, p.Bell, p.Screens, p.temporary = dir, "", "", true
	return p, nil
}

// Leave removes the data directory of a temporary place.
func (p Place) Leave() {
	if p.temporary {
		_ = os.RemoveAll(p.Data)
	}
}
