package models

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fantail/agents/acp/schema"
	"fantail/agents/acp/vendor"
	"fantail/agents/engine"
	"fantail/store/config"
	"fantail/ui/cli/shell"
)

// Abroad says how agents of other vendors are started.
type Abroad struct {
	Root string // the workspace: no program in it is one of them
	Self string // this program, which they start to use tools of their agent's; "": they get none

	// Serves is [vendor.Options.Serves].
	Serves func(s engine.Seat, door string) (server schema.Server, end func(), err error)
}

// Abroad has the agents of other vendors started like that. Without it there are none. Call it before others use m.
func (m *Models) Abroad(a Abroad) { m.abroad = a }

// vendors makes the engine of another vendor's agents.
func (m *Models) vendor(c config.Choice) (*vendor.Vendor, error) {
	a, err := m.conf.Agent(c.Model)
	if err != nil {
		return nil, err
	}
	path, err := m.abroad.program(a, m.own("PATH"))
	if err != nil {
		return nil, err
	}
	o := vendor.Options{
		Name: a.Name, Login: a.Login, Version: shell.Version(), Serves: m.abroad.Serves,
		Mode: a.Mode, Settings: a.Options, Careful: a.Careful, Reckless: a.Reckless,
		Program: engine.Program{Argv: append([]string{path}, a.Command[1:]...), Free: a.Free, Read: []string{m.abroad.Self, path}},
	}
	for _, name := range a.Env {
		if v := m.env(name); v != "" {
			o.Program.Env = append(o.Program.Env, name+"="+v)
		}
	}
	for _, path := range a.Write {
		if rest, home := strings.CutPrefix(path, "~/"); home {
			path = filepath.Join(m.own("HOME"), rest)
		}
		if filepath.IsAbs(path) {
			o.Program.Write = append(o.Program.Write, path)
		}
	}
	return vendor.New(o), nil
}

// program is the path of an agent's program: the configured one, else the first of its name on the path that lies outside
// the workspace, by its name and in truth: what a repository brings is never one.
func (a Abroad) program(of config.Agent, path string) (string, error) {
	if of.Own {
		return of.Command[0], runs(of.Command[0])
	}
	for _, dir := range filepath.SplitList(path) {
		at := filepath.Join(dir, of.Command[0])
		if !filepath.IsAbs(at) || runs(at) != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(at)
		if err != nil || a.within(at) || a.within(real) {
			continue
		}
		return at, nil
	}
	how := ""
	if of.Install != "" {
		how = " (" + of.Install + ")"
	}
	return "", fmt.Errorf("%s: there is no program %s on the PATH outside of the workspace: install it%s, or say where it is by command in [agents.%s] of the configuration",
		of.Name, of.Command[0], how, of.Name)
}

// within reports whether a path lies in the workspace.
func (a Abroad) within(path string) bool {
	roots := []string{a.Root}
	if real, err := filepath.EvalSymlinks(a.Root); err == nil {
		roots = append(roots, real)
	}
	return slices.ContainsFunc(roots, func(root string) bool {
		rest, err := filepath.Rel(root, path)
		return err == nil && filepath.IsLocal(rest)
	})
}

// runs returns why a file is no program; nil: it is one.
func runs(path string) error {
	i, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("look for a program: %w", err)
	case i.IsDir() || i.Mode()&0o111 == 0:
		return &fs.PathError{Op: "run", Path: path, Err: fs.ErrPermission}
	}
	return nil
}

// vendors lists the models that are agents of other vendors whose programs are there.
func (m *Models) vendors() (names []string) {
	if m.abroad.Root == "" {
		return nil
	}
	for _, name := range m.conf.AgentNames() {
		a, err := m.conf.Agent(name)
		if err == nil {
			_, err = m.abroad.program(a, m.own("PATH"))
		}
		if err == nil {
			names = append(names, config.ACP+"/"+name)
		}
	}
	return names
}
