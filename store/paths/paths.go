// Package paths says where configuration, data and sockets are. The start gate needs it, so it imports only small
// packages of the standard library.
package paths

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// HostLog is the file in the data directory for a host's output that has no terminal.
const HostLog = "host.log"

// socketPath is the longest path of a socket that works everywhere, in bytes with its closing NUL; socketName is the
// longest name in the runtime directory.
const (
	socketPath = 104
	socketName = 40
)

// Dir is the directory of the configuration: $XDG_CONFIG_HOME/fantail, else .config/fantail under $HOME.
func Dir(env func(string) string) (string, error) {
	base, err := xdg(env, "XDG_CONFIG_HOME", ".config")
	if err != nil {
		return "", err
	}
	return path.Join(base, "fantail"), nil
}

// File is config.toml in [Dir].
func File(env func(string) string) (string, error) {
	dir, err := Dir(env)
	if err != nil {
		return "", err
	}
	return path.Join(dir, "config.toml"), nil
}

// Data is the directory of the database and outputs of the workspace with that root: $XDG_DATA_HOME/fantail/SLUG-HASH,
// else under .local/share of $HOME. root is a result of [Workspace].
func Data(env func(string) string, root string) (string, error) {
	base, err := xdg(env, "XDG_DATA_HOME", ".local/share")
	if err != nil {
		return "", err
	}
	return path.Join(base, "fantail", Slug(root)), nil
}

// Workspaces returns the data directories of all of this user's workspaces.
func Workspaces(env func(string) string) ([]string, error) {
	base, err := xdg(env, "XDG_DATA_HOME", ".local/share")
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path.Join(base, "fantail"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the workspaces: %w", err)
	}
	var all []string
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, path.Join(base, "fantail", e.Name()))
		}
	}
	return all, nil
}

// xdg is the base directory in a variable, else the one under $HOME. According to the XDG rules, a relative value
// counts as unset.
func xdg(env func(string) string, name, under string) (string, error) {
	if dir := env(name); path.IsAbs(dir) {
		return path.Clean(dir), nil
	}
	home := env("HOME")
	switch {
	case home == "":
		return "", fmt.Errorf("find the user's directories: neither %s nor HOME is set; set HOME", name)
	case !path.IsAbs(home):
		return "", errors.New("find the user's directories: HOME is not an absolute path")
	}
	return path.Join(home, under), nil
}

// Runtime is the directory for sockets: $XDG_RUNTIME_DIR/fantail, else fantail-UID under the directory for temporary
// files, else under /tmp, the first in which sockets' paths are shorter than 104 bytes. [MakePrivate] makes it.
func Runtime(env func(string) string, uid int) string {
	own := "fantail-" + strconv.Itoa(uid)
	for _, dir := range []string{
		absolute(env("XDG_RUNTIME_DIR"), "fantail"),
		absolute(env("TMPDIR"), own),
	} {
		if dir != "" && len(dir)+1+socketName < socketPath {
			return dir
		}
	}
	return path.Join("/tmp", own)
}

// Bell is the path of the socket on which an outside process wakes the host of the workspace with that data; Screens is
// the path of the socket for screens.
func Bell(env func(string) string, uid int, data string) string {
	return socket(env, uid, data, "bell")
}

// Screens is described at [Bell].
func Screens(env func(string) string, uid int, data string) string {
	return socket(env, uid, data, "sock")
}

func socket(env func(string) string, uid int, data, kind string) string {
	return path.Join(Runtime(env, uid), fmt.Sprintf("%.8x.%s", sha256.Sum256([]byte(data)), kind))
}

func absolute(dir, name string) string {
	if !path.IsAbs(dir) {
		return ""
	}
	return path.Join(dir, name)
}

// MakePrivate makes dir and its parents, readable by this user only. It returns an error if a directory belongs to
// someone else, is a symbolic link or can't be made private: another user could have put it there.
func MakePrivate(dir string) error {
	if err := strange(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", dir, barred(dir, err))
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("make %s: %w", dir, barred(dir, err))
	}
	if !info.IsDir() {
		return fmt.Errorf("make %s: it is not a directory; remove it", dir)
	}
	if err := Foreign(dir, info); err != nil {
		return err
	}
	// A read-only directory stays as it is, and so does one on a read-only file system.
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		if err := os.Chmod(dir, perm&^0o077); err != nil && !errors.Is(err, syscall.EROFS) {
			return fmt.Errorf("make %s private: %w", dir, err)
		}
	}
	return nil
}

// strange returns an error if dir would be made in another user's directory: root may write there, but the owner can't
// use the files that root leaves.
func strange(dir string) error {
	if os.Geteuid() != 0 {
		return nil // it could not
	}
	for {
		info, err := os.Stat(dir)
		if err == nil {
			return Foreign(dir, info)
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == path.Dir(dir) {
			return nil // making it returns the reason
		}
		dir = path.Dir(dir)
	}
}

// ErrForeign is the error of a file or directory that belongs to another user.
var ErrForeign = errors.New("it is another user's")

// Foreign is an error that names a file and its owner if that is another user than
// this process's.
func Foreign(file string, info fs.FileInfo) error {
	st, known := info.Sys().(*syscall.Stat_t)
	if !known || int(st.Uid) == os.Geteuid() {
		return nil
	}
	return fmt.Errorf("%s belongs to %s, and this program runs as %s: %w: run it as its owner, have XDG_DATA_HOME and XDG_RUNTIME_DIR name directories of yours, or give it to yourself (chown)",
		file, person(int(st.Uid)), person(os.Geteuid()), ErrForeign)
}

// person is the name and number of a user, or only the number if the system's file lacks the name.
func person(uid int) string {
	number := strconv.Itoa(uid)
	text, _ := os.ReadFile("/etc/passwd")
	for line := range strings.Lines(string(text)) {
		if f := strings.SplitN(line, ":", 4); len(f) == 4 && f[0] != "" && f[2] == number {
			return fmt.Sprintf("%s (uid %s)", f[0], number)
		}
	}
	return "uid " + number
}

// barred adds to err who owns the directory that keeps this user from a file, if that is the cause.
func barred(file string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if info, e := os.Stat(dir); e == nil {
			if foreign := Foreign(dir, info); foreign != nil {
				return fmt.Errorf("%w: %w", err, foreign)
			}
			return err
		}
		if dir == path.Dir(dir) {
			return err
		}
	}
}

// Abs is the absolute path of a file that is named from the present directory.
func Abs(file string) (string, error) {
	if path.IsAbs(file) {
		return path.Clean(file), nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return path.Join(dir, file), nil
}

// maxLinks is how many symbolic links a path may lead through.
const maxLinks = 255

// resolve is an absolute path of the same file without symbolic links.
func resolve(abs string) (string, error) {
	at, links := "/", 0
	for rest := abs; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, name)
		info, err := os.Lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if rest != "" && !info.IsDir() {
				return "", &fs.PathError{Op: "resolve", Path: next, Err: syscall.ENOTDIR}
			}
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "resolve", Path: abs, Err: syscall.ELOOP}
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if path.IsAbs(to) {
			at = "/"
		}
		rest = to + "/" + rest
	}
	return at, nil
}

// Workspace is the root of the workspace of dir, with symbolic links resolved: dir or its nearest parent that has a git
// repository (or the file of a worktree), else dir itself.
func Workspace(dir string) (string, error) {
	abs, err := Abs(dir)
	if err == nil {
		abs, err = resolve(abs)
	}
	if err != nil {
		return "", fmt.Errorf("find the workspace: %w", err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("find the workspace: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("find the workspace: %s is not a directory", abs)
	}
	for at := abs; ; at = path.Dir(at) {
		found, err := repository(at)
		switch {
		case found:
			return at, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
			return "", fmt.Errorf("find the workspace: %w", err)
		case at == path.Dir(at):
			return abs, nil
		}
	}
}

// repository reports whether dir has a git repository, or leads to one. To git a directory without HEAD is none:
// sandboxes of other programs put an empty .git over /tmp and the like while their commands run.
func repository(dir string) (bool, error) {
	git := path.Join(dir, ".git")
	info, err := os.Lstat(git)
	if err != nil || !info.IsDir() {
		return err == nil, err
	}
	_, err = os.Lstat(path.Join(git, "HEAD"))
	return !errors.Is(err, fs.ErrNotExist), nil
}

// Slug names a workspace in a path: its last name for people, and a hash of its whole path, so that two workspaces with
// the same name differ.
func Slug(root string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(path.Base(root)) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if n := b.Len(); n > 0 && b.String()[n-1] != '-' {
			b.WriteByte('-')
		}
	}
	name := b.String()
	name = strings.Trim(name[:min(len(name), 32)], "-")
	if name == "" {
		name = "workspace"
	}
	return fmt.Sprintf("%s-%x", name, sha256.Sum256([]byte(root)))[:len(name)+1+10]
}
