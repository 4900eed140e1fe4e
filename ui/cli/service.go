package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fantail/store/paths"
	"fantail/tools/files"
)

// UnitHost describes the host of a workspace to a service manager.
type UnitHost struct {
	Program string   // file to run, see [UnitProgram]
	Root    string   // directory of the workspace
	Env     []string // NAME=VALUE, see [UnitEnv]

	keys string // file with more NAME=VALUE lines that systemd reads; it may be missing
}

// Unit is a unit's file and the commands that apply it. A command is a program and its arguments.
type Unit struct {
	Name string // its name in the service manager
	Path string // path of the file
	Text string

	Runs   []string   // command that it runs
	Start  [][]string // starts it now and at each login
	Again  []string   // restarts a running one
	Stop   []string   // stops it until the next start
	Forget [][]string // stops it for good, before the file is removed
	Gone   [][]string // tells the service manager that the file is gone

	Lingers string // how it runs while the user is logged out, for people
	Brings  string // where its keys come from, for people
	wants   string // link that starts it at each login; "": none
}

// unitMark is in the first line of the files that [Unit.Write] may replace.
const unitMark = "written by fantail host install"

// taken are the variables that a host gets from the shell that installs it: paths of its files and
// programs, time zone and language. None holds a secret.
var taken = []string{
	"PATH", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
}

// UnitEnv returns those of them that are set. TMPDIR is included if sockets are created in it.
func UnitEnv(env func(string) string) (all []string) {
	names := taken
	if env("XDG_RUNTIME_DIR") == "" {
		names = append(slices.Clone(names), "TMPDIR")
	}
	for _, name := range names {
		if value := env(name); value != "" {
			all = append(all, name+"="+value)
		}
	}
	return all
}

// NewUnit returns the unit for that operating system and the user with that id. The error names a
// value that no unit can hold.
func NewUnit(system string, h UnitHost, env func(string) string, uid int) (Unit, error) {
	settings, err := paths.Dir(env)
	if err != nil {
		return Unit{}, err
	}
	h.keys = filepath.Join(settings, "host.env")
	for _, v := range append([]string{h.Program, h.Root, h.keys}, h.Env...) {
		if !utf8.ValidString(v) || strings.ContainsFunc(v, unicode.IsControl) {
			return Unit{}, fmt.Errorf("%q has a character that no unit can hold: rename it", v)
		}
	}
	name := "fantail-" + paths.Slug(h.Root)
	if system == "darwin" {
		return launchd(h, name, env("HOME"), uid)
	}
	return systemd(h, name, filepath.Join(filepath.Dir(settings), "systemd", "user"))
}

// words returns the command line of a host that stays.
func (h UnitHost) words() []string { return []string{h.Program, "host", "run", "--cwd", h.Root} }

// There reports whether the file exists.
func (u Unit) There() bool {
	_, err := os.Lstat(u.Path)
	return err == nil
}

// Write writes the file and replaces one from an earlier Write. It returns false if the file is
// unchanged.
func (u Unit) Write() (wrote bool, err error) {
	switch was, err := u.read(); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	case string(was) == u.Text:
		return false, nil
	}
	dir := filepath.Dir(u.Path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("write the unit: %w", err)
	}
	if err := files.WriteOwn(u.Path, []byte(u.Text), 0o644); err != nil {
		return false, fmt.Errorf("write the unit: %w", err)
	}
	return true, nil
}

// Remove removes the file. The error is [fs.ErrNotExist] if it does not exist.
func (u Unit) Remove() error {
	if _, err := u.read(); err != nil {
		return err
	}
	if err := os.Remove(u.Path); err != nil {
		return fmt.Errorf("remove the unit: %w", err)
	}
	if u.wants == "" {
		return nil
	}
	if err := os.Remove(u.wants); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the unit: %w", err)
	}
	return nil
}

// read reads the file, and refuses one that Write did not write.
func (u Unit) read() ([]byte, error) {
	was, err := os.ReadFile(u.Path)
	if err != nil {
		return nil, fmt.Errorf("look at the unit: %w", err)
	}
	if !bytes.Contains(was[:min(len(was), 512)], []byte(unitMark)) {
		return nil, fmt.Errorf("%s is somebody else's: remove it, or go on without", u.Path)
	}
	return was, nil
}

// UnitProgram returns the file of this program for a unit. exe is the running file; found is where
// the shell finds the program's name, "" if nowhere. UnitProgram prefers found, which stays when an
// upgrade replaces the file. The error says that the file is temporary or gone.
func UnitProgram(exe, found string) (string, error) {
	is, err := os.Stat(exe)
	if err != nil {
		return "", fmt.Errorf("the program's file is not there any more, was it replaced just now? (%w): run it again", err)
	}
	for dir := exe; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if strings.HasPrefix(filepath.Base(dir), "go-build") {
			return "", fmt.Errorf("%s is a temporary file of go run, which would soon be gone: go install or go build one that stays, and run that", exe)
		}
	}
	if named, err := os.Stat(found); err == nil && filepath.IsAbs(found) && os.SameFile(is, named) {
		return found, nil
	}
	return exe, nil
}

// CommandLine returns a command as typed into a shell.
func CommandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		if words[i] = a; strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@") != "" || a == "" {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
