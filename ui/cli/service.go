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

// UnitHost is the host of a workspace as the machine keeps it.
type UnitHost struct {
	Program string   // the file to run, see [Program]
	Root    string   // of the workspace
	Env     []string // NAME=VALUE, see [Env]

	keys string // the file whose NAME=VALUE lines systemd adds to them; it need not be there
}

// Unit is the file, and how it takes effect. A command is a program and its arguments.
type Unit struct {
	Name string // by which the machine knows it
	Path string // of the file
	Text string

	Runs   []string   // what it runs
	Start  [][]string // has it run now and at each login
	Again  []string   // has one that runs begin anew
	Stop   []string   // ends it until the next start
	Forget [][]string // ends it for good, before the file goes
	Gone   [][]string // says that the file has gone

	Lingers string // who has it run with nobody logged in, for people
	Brings  string // where its keys come from, for people
	wants   string // the link that has it start at each login; "": there is none
}

// unitMark is how the files begin that are [Unit.Write]'s to replace.
const unitMark = "written by fantail host install"

// taken are the variables that a host has from the shell in which it is installed: they say where its files and programs
// are, and what time and language it has. None of them holds a secret.
var taken = []string{
	"PATH", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
}

// UnitEnv are those of them that are set. The directory for temporary files is one where sockets lie in it.
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

// NewUnit returns the unit of a service on that operating system, for the user of that id. The error says which of its
// values no unit can hold.
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

// words are the arguments with which the program is the host that stays.
func (h UnitHost) words() []string { return []string{h.Program, "host", "run", "--cwd", h.Root} }

// There reports whether the file is there.
func (u Unit) There() bool {
	_, err := os.Lstat(u.Path)
	return err == nil
}

// Write writes the file, in place of the one that an earlier Write left. It returns false if that is the same.
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

// Remove takes the file away. The error is [fs.ErrNotExist] if there is none.
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

// read reads the file, and refuses one that somebody else wrote.
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

// UnitProgram is the file of this program: exe is where it runs from, found what its name leads to in the shell, "" if to
// nothing. That name stays when an upgrade puts another file behind it. The error says that the file won't stay.
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

// CommandLine is a command as it is typed into a shell.
func CommandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		if words[i] = a; strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@") != "" || a == "" {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
