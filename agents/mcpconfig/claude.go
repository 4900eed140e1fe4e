package mcpconfig

import "path/filepath"

// claudeDir names the variable that sets the directory of Claude Code's files.
const claudeDir = "CLAUDE_CONFIG_DIR"

// claudes returns the file of Claude Code's user settings, if there can be one. It does not use a directory in the
// workspace, even if the variable names one: its content is not the user's word. left says that this was the case.
func (s Settings) claudes() (f file, is bool, left string) {
	f = file{claude, "", maxClaude}
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

// file returns the last part of the source's name.
func (s Source) file() string { return filepath.Base(s.Name) }

// within reports whether a path leads into the directory root, or may do so.
func within(root, path string) bool {
	lies := func(path string) bool {
		below, err := filepath.Rel(root, path)
		return err != nil || filepath.IsLocal(below)
	}
	if lies(path) {
		return true
	}
	is, err := filepath.EvalSymlinks(path)
	return err == nil && lies(is) // a path that does not exist leads nowhere, and its file is looked for each time
}
