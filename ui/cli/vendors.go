package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fantail/agents/acp"
	"fantail/agents/engine"
	"fantail/store/config"
	"fantail/ui/screen"
)

// Vendors says how agents of other vendors are started.
type Vendors struct {
	Root string // the workspace: no program in it is used
	Self string // this program, which gives them their agent's tools; "": they get none

	// Serves is [acp.VendorOptions.ServeMCP].
	Serves func(s engine.Options, door string) (server acp.MCPServer, end func(), err error)
}

// Abroad sets how agents of other vendors are started. Without it there are none. Call it before
// others use m.
func (m *Models) Abroad(a Vendors) { m.abroad = a }

// vendor returns the engine of another vendor's agents.
func (m *Models) vendor(c config.Choice) (*acp.Vendor, error) {
	a, err := m.conf.Agent(c.Model)
	if err != nil {
		return nil, err
	}
	path, err := m.abroad.program(a, m.own("PATH"))
	if err != nil {
		return nil, err
	}
	return acp.NewVendor(m.engine(a, path)), nil
}

// engine returns how to start an agent of another vendor whose program is at path.
func (m *Models) engine(a config.Agent, path string) acp.VendorOptions {
	o := acp.VendorOptions{
		Name: a.Name, Login: a.Login, Version: screen.Version(), ServeMCP: m.abroad.Serves,
		Mode: a.Mode, Settings: a.Options, SafeMode: a.Careful, BypassModes: a.Reckless, OwnSandbox: a.Holds,
		Program: engine.Program{Argv: append([]string{path}, a.Command[1:]...), Free: a.Free, Read: append(packages(path), m.abroad.Self)},
	}
	for _, name := range a.Env {
		if v := m.env(name); v != "" {
			o.Program.Env = append(o.Program.Env, name+"="+v)
		}
	}
	for _, path := range a.Write {
		if path = m.kept(path); filepath.IsAbs(path) {
			o.Program.Write = append(o.Program.Write, path)
		}
	}
	return o
}

// moved are the variables that move a program's files out of the home directory.
var moved = []struct{ env, from string }{
	{"CLAUDE_CONFIG_DIR", "~/.claude/"},
	{"CODEX_HOME", "~/.codex/"},
	{"XDG_CONFIG_HOME", "~/.config/"},
	{"XDG_DATA_HOME", "~/.local/share/"},
	{"XDG_STATE_HOME", "~/.local/state/"},
	{"XDG_CACHE_HOME", "~/.cache/"},
}

// kept returns where a program keeps its files for a path, which may begin with ~/. A path that
// ends in / is a directory.
func (m *Models) kept(path string) string {
	for _, v := range moved {
		at := m.own(v.env)
		if rest, is := strings.CutPrefix(path, v.from); is && filepath.IsAbs(at) {
			return strings.TrimSuffix(at, "/") + "/" + rest
		}
	}
	if rest, is := strings.CutPrefix(path, "~/"); is {
		return strings.TrimSuffix(m.own("HOME"), "/") + "/" + rest
	}
	return path
}

// program returns the path of an agent's program: the configured one, else the first one in PATH
// outside the workspace. Both its name and its resolved path must be outside: a program from a
// repository is never used.
func (a Vendors) program(of config.Agent, path string) (string, error) {
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

// packages returns what a program must see of its installation: itself, and the package tree it is
// in.
func packages(path string) []string {
	all := []string{path}
	const tree = "/node_modules/"
	for _, at := range []string{path, resolved(path)} {
		if above, _, is := strings.Cut(filepath.ToSlash(at), tree); is {
			all = append(all, filepath.FromSlash(above+strings.TrimSuffix(tree, "/")))
		}
	}
	return all
}

// resolved returns a path with its links resolved as far as possible.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// within reports whether a path is in the workspace.
func (a Vendors) within(path string) bool {
	return slices.ContainsFunc([]string{a.Root, resolved(a.Root)}, func(root string) bool {
		rest, err := filepath.Rel(root, path)
		return err == nil && filepath.IsLocal(rest)
	})
}

// runs returns why a file can't be run; nil: it can.
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

// vendors lists the agents of other vendors whose programs are installed.
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

// VendorCLI returns another vendor's agent whose program is there, else one whose own command-line tool is there, with the
// command that installs the program; "": there is neither.
func (m *Models) VendorCLI() (agent, install string) {
	if all := m.vendors(); len(all) > 0 {
		return strings.TrimPrefix(all[0], config.ACP+"/"), ""
	}
	for _, name := range m.conf.AgentNames() {
		a, err := m.conf.Agent(name)
		if err != nil || a.Own || a.Install == "" || m.abroad.Root == "" {
			continue
		}
		tool, _, _ := strings.Cut(a.Login, " ")
		if _, err := m.abroad.program(config.Agent{Name: name, Command: []string{tool}}, m.own("PATH")); err == nil {
			return name, a.Install
		}
	}
	return "", ""
}
