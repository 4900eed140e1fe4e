package git

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Tracking is the configuration file in which git records what the branches of the work tree at root track. It returns
// "" if git, while it makes, renames or deletes a branch, or sends one to that remote ("": to none), could run a
// program that a command wrote: a hook, a program that a configuration names, or a repository of this machine with
// hooks of its own.
func Tracking(root string, environ []string, home, remote string) string {
	file := configOf(root)
	if file == "" || Runs(root, environ) != "" || slices.ContainsFunc(environ, namesProgram) {
		return ""
	}
	dirs := []string{RepositoryOf(root), filepath.Dir(file)}
	if slices.ContainsFunc(dirs, func(d string) bool { return len(Armed(d)) > 0 }) {
		return ""
	}
	known := remote == ""
	for _, f := range append(usersConfigs(home), file, filepath.Join(dirs[0], "config.worktree")) {
		text, err := readSmall(f, maxConfig)
		if os.IsNotExist(err) {
			continue
		}
		var all []setting
		if err == nil {
			all, err = parse(text)
		}
		if err != nil || slices.ContainsFunc(all, func(s setting) bool { return s.surprises(remote) }) {
			return ""
		}
		known = known || slices.ContainsFunc(all, func(s setting) bool { return s.section == "remote."+remote && s.name == "url" })
	}
	if !known { // git treats an unknown name as a path
		return ""
	}
	return file
}

// namesProgram reports whether a variable can make git run a program, or load another library.
func namesProgram(variable string) bool {
	return slices.ContainsFunc([]string{"GIT_SSH", "GIT_EXEC_PATH=", "GIT_CONFIG", "GIT_PROXY_COMMAND=", "LD_"}, func(begin string) bool {
		return strings.HasPrefix(variable, begin)
	})
}

// distant matches the address of a repository on another machine.
var distant = regexp.MustCompile(`^(https?|ssh|git)://|^[\w.-]+@[\w.-]+:[^:]`)

// surprises reports whether a setting, even of the user's own, can make git run a program that a command wrote: hooks
// elsewhere, those of submodules, and those of a repository of this machine, if a branch is sent to a remote.
func (s setting) surprises(remote string) bool {
	pushes := remote != ""
	top, _, _ := strings.Cut(s.section, ".")
	switch {
	case top == "core" && s.name == "hookspath":
		return true
	case top == "submodule" && s.name == "recurse", top == "push" && s.name == "recursesubmodules":
		return s.value != "false" && s.value != "no"
	case top == "remote" && (s.name == "url" || s.name == "pushurl"):
		return pushes && !distant.MatchString(s.value)
	case top == "branch" && (s.name == "remote" || s.name == "pushremote"), top == "remote" && s.name == "pushdefault":
		return pushes && strings.ContainsAny(s.value, "/:")
	case top == "url": // replaces one address by another
		return pushes
	}
	return false
}

// configOf is the configuration file of the repository of the work tree at root, without links; "" if there is none.
func configOf(root string) string {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return ""
	}
	dir := filepath.Join(real, ".git")
	if outside := Outside(real); len(outside) > 0 {
		dir = outside[0]
	}
	if i, err := os.Lstat(dir); err != nil || !i.IsDir() {
		return ""
	}
	file := filepath.Join(dir, "config")
	if i, err := os.Lstat(file); err != nil || !i.Mode().IsRegular() {
		return ""
	}
	return file
}

// OnlyTracks reports whether a change of the configuration file at path, which must be that of the work tree at root,
// only concerns what branches track: that runs no program.
func OnlyTracks(root, path string, was, is []byte) bool {
	if len(was) > maxConfig || len(is) > maxConfig || path != configOf(root) {
		return false
	}
	old, err := parse(string(was))
	if err != nil {
		return false
	}
	now, err := parse(string(is))
	if err != nil {
		return false
	}
	ofBranch := func(s setting) bool { return strings.HasPrefix(s.section, "branch.") }
	rest := slices.DeleteFunc(slices.Clone(now), func(s setting) bool {
		return ofBranch(s) && (s.tracks(now) || slices.ContainsFunc(old, func(o setting) bool { // it follows a renamed branch
			return ofBranch(o) && o.name == s.name && o.value == s.value
		}))
	})
	return slices.Equal(rest, slices.DeleteFunc(old, ofBranch))
}

// tracks reports whether a setting of a branch says what it tracks, in the form that git itself writes: a remote by a
// name in the configuration, as git takes any other for an address.
func (s setting) tracks(all []setting) bool {
	switch s.name {
	case "remote", "pushremote":
		return s.value == "." || slices.ContainsFunc(all, func(o setting) bool { return o.section == "remote."+s.value && o.name == "url" })
	case "merge":
		return strings.HasPrefix(s.value, "refs/")
	case "rebase":
		return slices.Contains([]string{"true", "false", "merges"}, s.value)
	case "description":
		return true
	}
	return false
}
