package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"fantail/tools/proc"
	"fantail/tools/secret"
	"fantail/ui/shell"
	"fantail/ui/workspace"
)

// Stays reports whether the errand is fantail host run, which main carries out, and in which
// directory.
func (e *Errand) Stays() (dir string, is bool) {
	return e.o.dir, e.name == "host" && len(e.words) == 1 && e.words[0] == "run" && !e.o.now && !e.o.wait
}

// unitOf returns the unit with which this machine runs the host of a workspace.
func unitOf(at workspace.Place, program string) (Unit, error) {
	return NewUnit(runtime.GOOS, UnitHost{Program: program, Root: at.Root, Env: UnitEnv(os.Getenv)}, os.Getenv, os.Getuid())
}

// program returns the file of this program, if it is permanent.
func program() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the program's own file: %w", err)
	}
	found, err := exec.LookPath(os.Args[0])
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil {
		found = ""
	}
	return UnitProgram(exe, found)
}

// absent returns why no service manager runs here; "": one does.
func absent() string {
	if _, err := os.Stat("/run/systemd/system"); runtime.GOOS == "linux" && err != nil {
		return "systemd does not run here, so nothing starts it"
	}
	return ""
}

// install writes the unit, and starts it with --now.
func install(ctx context.Context, e *Errand, out *printed, at workspace.Place) (int, error) {
	exe, err := program()
	if err != nil {
		return 0, err
	}
	u, err := unitOf(at, exe)
	if err != nil {
		return 0, err
	}
	was := u.There()
	wrote, err := u.Write()
	if err != nil {
		return 0, err
	}
	says := []string{"Wrote " + u.Path}
	switch {
	case !wrote:
		says = []string{u.Path + " is as it is to be"}
	case was:
		says[0] += ", in place of the one before. " + CommandLine(u.Again) + " has one that runs begin anew, and ends what its agents do"
	}
	none := absent()
	if none != "" {
		says = append(says, none+". What starts your programs here can run:\n  "+CommandLine(u.Runs))
	} else {
		if !e.o.now {
			says = append(says, "These start it, now and at each login (--now runs them):\n"+lines(u.Start))
		}
		says = append(says, u.Lingers+".")
	}
	says = append(says, u.Brings+".", "fantail host uninstall takes it away.")
	if err := out.text(strings.Join(says, "\n")); err != nil || !e.o.now {
		return shell.ExitOK, err
	}
	if none != "" {
		return shell.ExitFailed, errors.New("nothing was started: " + none)
	}
	if err := carry(ctx, u.Start); err != nil {
		return shell.ExitFailed, err
	}
	return shell.ExitOK, out.text("Started " + u.Name + ".")
}

// uninstall removes the unit, and with --now ends its host.
func uninstall(ctx context.Context, e *Errand, out *printed, at workspace.Place) (int, error) {
	u, err := unitOf(at, "")
	if err != nil {
		return 0, err
	}
	if !u.There() {
		return shell.ExitNothing, out.text("nothing is installed: there is no " + u.Path)
	}
	if e.o.now && absent() == "" {
		if err := carry(ctx, u.Forget); err != nil {
			return shell.ExitFailed, err
		}
	}
	if err := u.Remove(); errors.Is(err, fs.ErrNotExist) {
		return shell.ExitNothing, out.text("nothing is installed: there is no " + u.Path)
	} else if err != nil {
		return shell.ExitFailed, err
	}
	says := "Removed " + u.Path
	switch {
	case absent() != "":
	case !e.o.now:
		says += ". A host that it started goes on until then:\n" + lines(append([][]string{u.Stop}, u.Gone...))
	default:
		if err := carry(ctx, u.Gone); err != nil {
			return shell.ExitFailed, err
		}
	}
	return shell.ExitOK, out.text(says)
}

// lines returns commands as they are typed, one a line.
func lines(commands [][]string) string {
	var all []string
	for _, argv := range commands {
		all = append(all, "  "+CommandLine(argv))
	}
	return strings.Join(all, "\n")
}

// carry runs commands until one fails. Their output goes to the terminal.
func carry(ctx context.Context, commands [][]string) error {
	named, _ := keyNames(os.Getenv) // the usual names if the configuration can't be read
	keys := secret.New(named, os.Getenv)
	for _, argv := range commands {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = proc.Own(os.Environ(), keys)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w: see what it says, and run it yourself", CommandLine(argv), err)
		}
	}
	return nil
}
