package servers

import "path/filepath"

// claudeDir names the variable by which users of Claude Code keep its files in a directory of their choice.
const claudeDir = "CLAUDE_CONFIG_DIR"

// claudes is the file of Claude Code's user, if there can be one. A directory of the workspace's is not followed, whoever
// named it: what lies there is no word of the user's. left says that one was not.
func (s Settings) claudes() (f file, is bool, left string) {
	f = file{claude, "", mostClaude}
	if s.Home != "" {
		f.path, is = filepath.Join(s.Home, claude.file()), true
	}
	dir := ""
	if s.Env != nil {
		dir, _ = s.Env(claudeDir)
	}
	switch {
	case dir == "":
		return f, is, ""
	case !filepath.IsAbs(dir):
		return f, is, "it is no absolute path"
	case within(s.Root, dir):
		return f, is, "it leads into the workspace, and what lies there is not yours alone to say"
	}
	f.path = filepath.Join(dir, claude.file())
	if f.Name = f.path; s.Home != "" {
		if below, err := filepath.Rel(s.Home, f.path); err == nil && filepath.IsLocal(below) {
			f.Name = "~/" + below
		}
	}
	return f, true, ""
}

// file is the last part of the source's name.
func (s Source) file() string { return filepath.Base(s.Name) }

// within reports whether a path leads into the directory root, or can't be told not to.
func within(root, path string) bool {
	lies := func(path string) bool {
		below, err := filepath.Rel(root, path)
		return err != nil || filepath.IsLocal(below)
	}
	if lies(path) {
		return true
	}
	is, err := filepath.EvalSymlinks(path)
	return err == nil && lies(is) // what is not there leads nowhere, and its file is looked for each time
}
