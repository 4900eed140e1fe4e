package workspace

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
	"fantail/agents/kept"
	"fantail/store/config"
	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/ui"
	"fantail/ui/cli/place"
	"fantail/ui/cli/wall"
)

// scratch is the directory below the workspace's data that is the temporary one of commands; what it held at earlier
// starts lies in others of that name with a number, until it is removed.
const scratch = "tmp"

// Reachable is an error in the sandbox of an agent's command: what a workspace is can't be seen there.
func Reachable(env func(string) string) error {
	if env(sandbox.MailEnv) == "" {
		return nil
	}
	return errors.New("no workspace is within reach: this command runs in an agent's sandbox, out of which only fantail send comes")
}

// seek says how the wall that the configuration asks for is looked for: once, when somebody first needs to know it, or
// when the workspace has been opened and nothing else is as urgent.
func (w *Workspace) seek() {
	asked := w.conf.Sandbox
	ctx, cancel := context.WithCancel(context.Background())
	look := sync.OnceValue(func() *sandbox.Wall {
		found := wall.Find(ctx, asked)
		if found.Level() == sandbox.None {
			return found
		}
		g := w.ground()
		if _, err := found.Box(g, sandbox.Command, sandbox.Leave{}, g.Root); err != nil {
			return &sandbox.Wall{Faults: []string{err.Error()}} // none can stand on this ground
		}
		return found
	})
	w.found = look
	w.unseek = func() { cancel(); look() }
}

// finds looks for the wall, has the gate and all screens know what it is worth, and tells a screen what it lacks.
func (w *Workspace) finds(ctx context.Context, pool *agents.Pool, r ui.Remote) {
	if w.readOnly != nil {
		return // no command runs
	}
	found := w.wall()
	w.gate.Boxes(wall.Worth(found))
	pool.Refresh(ctx)
	if text := wall.Brief(found); text != "" && w.opening.Sandbox == "" {
		r.Lacks(text)
	}
	if found.Level() == sandbox.None {
		return // which hides nothing
	}
	if text := w.veil.Lacks(w.gate.Veil()); text != "" {
		r.Say(text)
	}
}

// holds is the answer of /sandbox.
func (w *Workspace) holds(mode permit.Mode) string {
	found := w.wall()
	text := wall.Text(found, w.place.Root, mode, wall.Here())
	if found.Level() == sandbox.None {
		return text
	}
	if lacks := w.veil.Lacks(w.gate.Veil()); lacks != "" {
		text += "\n" + lacks
	}
	return text
}

// wall is what holds commands here; nil: the configuration wants none. It may have to be found out.
func (w *Workspace) wall() *sandbox.Wall { return w.found() }

// ground is what the sandboxes of the workspace stand on.
func (w *Workspace) ground() sandbox.Ground {
	g := ground(w.place, proc.Clean(os.Environ(), w.keys))
	g.Guarded = w.brings.trust.Guarded
	return g
}

// ground is what the sandboxes of the workspace at that place stand on, for commands with that environment.
func ground(at place.Place, environ []string) sandbox.Ground {
	data := resolved(at.Data)
	g := wall.Ground(at, filepath.Join(data, scratch), environ)
	g.Shown = []string{agents.Outputs(data)}
	return g
}

// boxes makes the sandboxes of commands: nil where none works. It is nil where the configuration wants none.
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
		g.Private = slices.Concat(g.Private, w.gate.Hidden(), w.veil.Find(w.gate.Veil()))
		return found.Box(g, p, leave, g.Root)
	}
}

// kept watches over what commands in sandboxes must not change; nil where the configuration wants none.
func (w *Workspace) kept() *kept.Watch {
	if w.conf.Sandbox == config.SandboxOff {
		return nil
	}
	return kept.New(kept.Options{
		Root: w.place.Root, Paths: w.ground().Kept, Holds: func() bool { return w.wall().Level() == sandbox.Prevents }, Aside: filepath.Join(w.place.Data, aside),
		Changes: w.gate.Changes(), Now: time.Now,
	})
}

// aside is the directory below the workspace's data that gets what commands made of what they must not change.
const aside = "put-aside"

// begins has the permission mode hold that was chosen here before, unless the configuration says another. It says what
// the start screen tells of that, and for the audit why the mode is what it is.
func (w *Workspace) begins(chosen permit.Mode) (brief, why string) {
	switch {
	case w.flagged:
		return "", "the host began with it: a flag (--permission-mode, --yolo)"
	case w.conf.PermissionMode != "":
		return "", "the host began with it: the configuration (permission_mode)"
	case chosen != permit.Auto:
		return "", usual
	}
	if err := w.gate.SetMode(chosen); err != nil {
		return "Mode auto was chosen here, and no sandbox works now: commands ask; /sandbox says why", usual
	}
	return "Mode auto, as chosen here before: commands run unasked in the sandbox", "the host began with it: chosen on a screen, earlier"
}

// usual is why the mode is what it is where nobody wanted another.
const usual = "the host began with it: no flag and no configuration says another"

// resolved is a path without links, as far as it exists.
func resolved(path string) string {
	if is, err := filepath.EvalSymlinks(path); err == nil {
		return is
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// clear makes the temporary directory of commands, empty. What an earlier host's commands left is removed meanwhile.
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

// renew makes the directory for temporary files in data. One that is there steps aside.
func renew(data *os.Root) error {
	aside := scratch + "-" + strconv.FormatInt(time.Now().UnixNano(), 10)
	if err := data.Rename(scratch, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return data.Mkdir(scratch, 0o700)
}

// sweep removes the directories that stepped aside.
func sweep(data *os.Root) error {
	old, err := fs.Glob(data.FS(), scratch+"-*")
	for _, dir := range old {
		err = errors.Join(err, remove(data, dir))
	}
	return err
}

// remove removes a tree, also where it holds directories that nobody may write.
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
