// Package git knows which programs git runs because a repository says so.
//
// Does: read a repository's configuration and index as git does, name the program that git would run for them, and make
// the environment in which a git that only reads runs none; have such a git list files; find what it writes outside of
// a work tree, and which files there lead it to a program.
//
// Does not: run git for anything else, or judge a command; permission does.
package git

import (
	"bytes"
	big "encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	maxConfig = 1 << 20   // the largest configuration that is read
	maxIndex  = 256 << 20 // and the largest index
	maxDepth  = 5         // depth of submodules that are checked
)

// variables are environment variables that say which repository git works on and which programs it runs for a command
// that only reads.
var variables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE",
	"GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_OPTIONAL_LOCKS", "GIT_CONFIG_PARAMETERS", "GIT_ALLOW_PROTOCOL", "GIT_TRACE2_EVENT",
}

// calmSettings keep a git that only reads from running a program of the repository's: it watches no files through one,
// calls no hook, checks no signature, fetches no missing object. A repository's drivers have names of its own choice;
// Runs looks for those first.
var calmSettings = [][2]string{{"core.fsmonitor", "false"}, {"core.hooksPath", "/dev/null"}, {"core.pager", "cat"}, {"log.showSignature", "false"}}

// Calm returns the environment for a command in which git only reads.
func Calm(env []string) []string {
	n := 0
	out := make([]string, 0, len(env)+2*len(calmSettings)+5)
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case slices.Contains(variables, name):
			continue
		case name == "GIT_CONFIG_COUNT":
			n, _ = strconv.Atoi(value)
			continue
		}
		out = append(out, v)
	}
	n = max(n, 0)
	for i, s := range calmSettings {
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n+i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n+i, s[1]))
	}
	return append(out, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n+len(calmSettings)),
		"GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0")
}

// Runs says which program git would run because the configuration of the workspace's repository, or the environment,
// names it; "" if none. Programs in the user's own configuration don't count.
func Runs(root string, environ []string) string {
	for _, v := range environ {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(variables[:8], name) {
			return name + " is set, which says what git works on and runs"
		}
	}
	return runsAbove(root, false)
}

// RunsWhenReading is Runs for a git that only reads, in the environment from Calm.
func RunsWhenReading(root string) string { return runsAbove(root, true) }

func runsAbove(root string, reads bool) string {
	for dir := root; ; dir = filepath.Dir(dir) {
		if g := RepositoryOf(dir); g != "" {
			return runsIn(g, dir, reads, reads, maxDepth)
		}
		if dir == "/" {
			return ""
		}
	}
}

// RepositoryOf is the repository of a directory: the directory that .git is or leads to, or the directory itself if it
// is a bare repository; "" if it has none.
func RepositoryOf(dir string) string {
	p := filepath.Join(dir, ".git")
	fi, err := os.Stat(p)
	switch {
	case err == nil && fi.IsDir():
		return p
	case err == nil && fi.Mode().IsRegular():
		text, err := readSmall(p, 4096)
		to, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir:")
		if err != nil || !ok {
			return ""
		}
		if to = strings.TrimSpace(to); !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		return to
	}
	if !whole(dir) {
		return ""
	}
	return dir
}

// runsIn is Runs for a repository and those below it, which git enters to see whether they changed. calm: the
// environment applies to it; it does not apply to those below.
func runsIn(g, tree string, reads, calm bool, depth int) string {
	if depth == 0 {
		return "its submodules are nested too deep to look at"
	}
	dirs := []string{g}
	if text, err := readSmall(filepath.Join(g, "commondir"), 4096); err == nil {
		common := strings.TrimSpace(text)
		if !filepath.IsAbs(common) {
			common = filepath.Join(g, common)
		}
		dirs = append(dirs, common)
	}
	hash := 20
	for _, d := range dirs {
		for _, f := range []string{"config", "config.worktree"} {
			text, err := readSmall(filepath.Join(d, f), maxConfig)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			var all []setting
			if err == nil {
				all, err = parse(text)
			}
			if err != nil {
				return f + " of the repository: " + err.Error()
			}
			for _, s := range all {
				if s.runs(reads, calm) {
					return "the repository's configuration names what git runs (" + s.section + "." + s.name + ")"
				}
				if s.section == "extensions" && s.name == "objectformat" && s.value == "sha256" {
					hash = 32
				}
			}
		}
	}
	subs, err := submodules(g, hash)
	if err != nil {
		return "the repository's index: " + err.Error()
	}
	for _, s := range subs {
		at := filepath.Join(tree, s)
		if sub := RepositoryOf(at); sub != "" && sub != at {
			if why := runsIn(sub, at, reads, false, depth-1); why != "" {
				return "in " + s + " " + why
			}
		}
	}
	return ""
}

// Variables that name a program, by their last part, with the sections they count in. For a git that only reads the
// first list is enough.
var (
	readingRuns = map[string][]string{
		"external": {"diff"}, "command": {"diff"}, "textconv": {"diff"}, "clean": {"filter"}, "smudge": {"filter"}, "process": {"filter"},
		"alternaterefscommand": {"core"}, "program": {"gpg"}, "defaultkeycommand": {"gpg"}, "worktree": {"core"}, "path": {"include", "includeif"}, "fsmonitor": {"core"},
	}
	otherRuns = []string{
		"command", "cmd", "driver", "program", "helper", "editor", "sshcommand", "gitproxy", "askpass", "uploadpack", "receivepack", "vcs", "hookspath",
		"difffilter", "packobjectshook", "templatedir", "allow",
	}
	// Directories of hooks that a rule is bound to by content.
	boundHooks = []string{".husky", ".husky/_", ".githooks", ".git-hooks", "githooks", ".git/hooks", "/dev/null"}
	// Commands that git's extension for large files puts into a repository.
	largeFiles = []string{"git-lfs clean -- %f", "git-lfs smudge -- %f", "git-lfs smudge --skip -- %f", "git-lfs filter-process", "git-lfs filter-process --skip"}
)

// runs reports whether the setting names a program.
func (s setting) runs(reads, calm bool) bool {
	top, _, _ := strings.Cut(s.section, ".")
	switch {
	case s.value == "":
		return false
	case slices.Contains(readingRuns[s.name], top):
		return !slices.Contains(largeFiles, s.value) && (s.name != "fsmonitor" || !calm && !isBool(s.value))
	case reads:
		return false
	case s.name == "hookspath":
		return !slices.Contains(boundHooks, strings.TrimSuffix(s.value, "/"))
	case s.name == "update":
		return top == "submodule" && strings.HasPrefix(s.value, "!")
	case top == "alias":
		return strings.HasPrefix(s.value, "!")
	}
	return slices.Contains(otherRuns, s.name) || strings.Contains(s.value, "::")
}

func isBool(v string) bool {
	switch strings.ToLower(v) {
	case "true", "false", "yes", "no", "on", "off", "0", "1":
		return true
	}
	return false
}

// submodules lists the paths in an index that are repositories of their own.
func submodules(g string, hash int) (subs []string, err error) {
	files := []string{filepath.Join(g, "index")}
	shared, _ := filepath.Glob(filepath.Join(g, "sharedindex.*"))
	for _, f := range append(files, shared...) {
		text, err := readSmall(f, maxIndex)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		more, err := indexLinks([]byte(text), hash)
		if err != nil {
			return nil, err
		}
		subs = append(subs, more...)
	}
	return subs, nil
}

var errIndex = errors.New("it can't be read")

// indexLinks reads the entries of an index, version 2 to 4: 40 bytes of stat's data, with the mode at 24, the hash,
// flags, the name.
func indexLinks(b []byte, hash int) (subs []string, err error) {
	if len(b) < 12 || string(b[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := big.BigEndian.Uint32(b[4:]), big.BigEndian.Uint32(b[8:])
	b = b[12:]
	name := []byte{}
	for range count {
		fixed := 40 + hash + 2
		if len(b) < fixed {
			return nil, errIndex
		}
		mode := big.BigEndian.Uint32(b[24:])
		if version >= 3 && b[fixed-2]&0x40 != 0 {
			fixed += 2
		}
		if len(b) < fixed {
			return nil, errIndex
		}
		at := fixed
		if version == 4 { // the name shares the beginning of the one before
			strip, n := 0, 0
			for {
				if at+n >= len(b) || n > 4 {
					return nil, errIndex
				}
				c := b[at+n]
				if n > 0 {
					strip++
				}
				strip = strip<<7 | int(c&0x7f)
				n++
				if c&0x80 == 0 {
					break
				}
			}
			if at += n; strip > len(name) {
				return nil, errIndex
			}
			name = name[:len(name)-strip]
		} else {
			name = name[:0]
		}
		end := bytes.IndexByte(b[at:], 0)
		if end < 0 || version < 2 || version > 4 {
			return nil, errIndex
		}
		name = append(name, b[at:at+end]...)
		if mode&0o170000 == 0o160000 {
			subs = append(subs, string(name))
		}
		next := at + end + 1
		if version < 4 {
			next = (at + end + 8) &^ 7
		}
		if next > len(b) {
			return nil, errIndex
		}
		b = b[next:]
	}
	return subs, nil
}

// readSmall reads a regular file of at most that many bytes.
func readSmall(p string, most int64) (string, error) {
	fi, err := os.Stat(p)
	if err != nil {
		return "", bare(err)
	}
	if !fi.Mode().IsRegular() || fi.Size() > most {
		return "", errors.New("it is no file, or too large")
	}
	f, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return "", bare(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most))
	return string(b), bare(err)
}

// bare removes the system call's name and the path from an error: the caller names the file.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
