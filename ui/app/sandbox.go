package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"fantail/agents"
	"fantail/agents/turn"
	"fantail/store/config"
	"fantail/tools/files"
	"fantail/tools/permission"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/ui"
	"fantail/ui/workspace"
)

// scratch is the directory below the workspace's data that is the temporary one of commands. The content of earlier
// starts is in directories of that name with a number, until it is removed.
const scratch = "tmp"

// Reachable returns an error in the sandbox of an agent's command: workspaces can't be seen there.
func Reachable(env func(string) string) error {
	if env(sandbox.MailEnv) == "" {
		return nil
	}
	return errors.New("no workspace is within reach: this command runs in an agent's sandbox, out of which only fantail send comes")
}

// seek sets up the search for the sandbox that the configuration asks for. The search runs once: when the sandbox is
// first needed, or after the workspace has opened. It runs again if the verdict of an earlier start proves wrong.
func (w *Workspace) seek() {
	asked, data := w.conf.Sandbox, w.place.Data
	ctx, cancel := context.WithCancel(context.Background())
	look := sync.OnceValue(func() *sandbox.Backend {
		found := workspace.FindSandboxKept(ctx, asked, data)
		if found.Level() == sandbox.None {
			return found
		}
		g := w.ground()
		if _, err := found.Box(g, sandbox.Command, sandbox.Leave{}, g.Root); err != nil {
			return &sandbox.Backend{Faults: []string{err.Error()}} // no sandbox works with these directories
		}
		return found
	})
	w.found = func() *sandbox.Backend { return look().Now() }
	w.unseek = func() { cancel(); w.found() }
}

// finds looks for the sandbox, tells the gate and all screens how much it prevents, and tells a screen what it lacks.
func (w *Workspace) finds(ctx context.Context, pool *agents.Pool, r ui.Remote) {
	if w.readOnly != nil {
		return // no command runs
	}
	found := w.wall()
	w.gate.Boxes(workspace.SandboxWorth(found))
	pool.Refresh(ctx)
	if text := workspace.SandboxBrief(found); text != "" && w.opening.Sandbox == "" {
		r.Lacks(text)
	}
	if found.Level() == sandbox.None {
		return // without a sandbox nothing is hidden
	}
	if w.obeyed != nil {
		w.obeyed.Look()
	}
	if text := w.secrets.Lacks(w.gate.DeniedPatterns()); text != "" {
		r.Say(text)
	}
}

// holds returns the answer of /sandbox.
func (w *Workspace) holds(mode permission.Mode) string {
	found := w.wall()
	text := workspace.SandboxText(found, w.place.Root, mode, workspace.ThisMachine())
	if found.Level() == sandbox.None {
		return text
	}
	if lacks := w.secrets.Lacks(w.gate.DeniedPatterns()); lacks != "" {
		text += "\n" + lacks
	}
	return text
}

// wall returns the sandbox for commands here; nil: the configuration turns it off. The first call may have to look for
// it.
func (w *Workspace) wall() *sandbox.Backend { return w.found() }

// ground describes the workspace to its sandboxes.
func (w *Workspace) ground() sandbox.Workspace {
	g := ground(w.place, proc.Clean(os.Environ(), w.keys))
	kept := g.Kept
	g.Kept = func() []string { return append(kept(), w.brings.trust.Guarded()...) }
	return g
}

// ground describes the workspace at that place to its sandboxes, for commands with that environment.
func ground(at workspace.Place, environ []string) sandbox.Workspace {
	data := resolved(at.Data)
	g := workspace.SandboxGround(at, filepath.Join(data, scratch), environ)
	g.Shown = []string{agents.Outputs(data)}
	return g
}

// boxes returns a function that makes the sandboxes of commands, which returns nil if none works. boxes returns nil if
// the configuration turns sandboxes off.
func (w *Workspace) boxes() func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error) {
	if w.conf.Sandbox == config.SandboxOff {
		return nil
	}
	g := w.ground()
	return func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error) {
		found := w.wall()
		if found.Level() == sandbox.None {
			return nil, nil
		}
		g := g
		g.Environ = environ
		g.Private = slices.Concat(g.Private, w.gate.Hidden(), w.secrets.Find(w.gate.DeniedPatterns()))
		return found.Box(g, p, leave, g.Root)
	}
}

// kept protects the files that commands in sandboxes must not change. It returns nil if the configuration turns
// sandboxes off.
func (w *Workspace) kept() *turn.ProtectedFiles {
	if w.conf.Sandbox == config.SandboxOff {
		return nil
	}
	g := w.ground()
	tree := files.ObeyedIn(g.Root, g.Git, g.Home)
	w.obeyed = tree
	return turn.NewProtectedFiles(turn.ProtectedOptions{
		Root:   w.place.Root,
		Before: func() []string { return append(tree.Before(), w.brings.trust.Guarded()...) },
		After:  tree.After,
		Aside:  filepath.Join(w.place.Data, aside), Changes: w.gate.Changes(), Now: time.Now,
		Harmless: tree.Harmless,
	})
}

// aside is the directory below the workspace's data for files that commands made in place of protected ones.
const aside = "put-aside"

// begins sets the permission mode that was chosen here before, unless the configuration sets another. It returns a
// text for the start screen about that, and for the audit the reason for the mode.
func (w *Workspace) begins(chosen permission.Mode) (brief, why string) {
	switch {
	case w.flagged:
		return "", "set by --permission-mode or --yolo"
	case w.conf.PermissionMode != "":
		return "", "set by permission_mode in the configuration"
	case chosen != permission.Auto:
		return "", usual
	}
	if err := w.gate.SetMode(chosen); err != nil {
		return "Mode auto is on, but no sandbox works now: commands ask. /sandbox to see why", usual
	}
	return "Mode auto, as before: commands run in the sandbox without asking", "chosen on a screen earlier"
}

// usual is the reason for the mode if none was set.
const usual = "the default"

// resolved returns a path with links resolved, for the part of it that exists.
func resolved(path string) string {
	if is, err := filepath.EvalSymlinks(path); err == nil {
		return is
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// clear makes the temporary directory of commands, empty. Files of earlier hosts' commands are removed in the
// background.
func (w *Workspace) clear() error {
	if w.readOnly != nil {
		return nil // no command runs
	}
	data, err := os.OpenRoot(w.place.Data)
	if err == nil {
		err = renew(data)
	}
	if err != nil {
		return fmt.Errorf("make the temporary directory of commands: %w", err)
	}
	w.guard.Go("clear a temporary directory", func() {
		defer data.Close()
		_ = sweep(data) // the next start tries again
	})
	return nil
}

// renew makes the directory for temporary files in data. It renames an existing one.
func renew(data *os.Root) error {
	aside := scratch + "-" + strconv.FormatInt(time.Now().UnixNano(), 10)
	if err := data.Rename(scratch, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return data.Mkdir(scratch, 0o700)
}

// sweep removes the renamed directories.
func sweep(data *os.Root) error {
	old, err := fs.Glob(data.FS(), scratch+"-*")
	for _, dir := range old {
		err = errors.Join(err, remove(data, dir))
	}
	return err
}

// remove removes a tree, even if it contains directories without write permission.
func remove(data *os.Root, dir string) error {
	if data.RemoveAll(dir) == nil {
		return nil
	}
	_ = fs.WalkDir(data.FS(), dir, func(path string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			_ = data.Chmod(path, 0o700) // before it is listed
		}
		return nil
	})
	return data.RemoveAll(dir)
}
