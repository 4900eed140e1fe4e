// Package sandbox is what a command may touch, enforced by the kernel.
//
// Does: find out by doing what this machine's kernel enforces ([Find]), say what a command of a profile may write, read
// and reach on a [Ground], and start the command so that it and all it starts are held to that.
//
// Does not: decide whether a command may run, ask anybody, know git, an agent or a tool; say which names hold secrets
// ([Ground.Secret] does).
//
// Imports: tools/sandbox/cell.
package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Profile is how much of the machine is for a command.
type Profile string

const (
	Command  Profile = "command"  // of an agent: it writes the workspace, and reaches no network
	Check    Profile = "check"    // a command that writes caches, not the workspace: tests, say
	Server   Profile = "server"   // a program that serves agents: what was granted, and no more
	Vendor   Profile = "vendor"   // another tool's agent: the files of a command, and any network
	Observer Profile = "observer" // reads
)

// terms are what a profile comes with, whatever is granted. Each has a temporary directory of its own.
type terms struct {
	work   bool // it writes the workspace, and what git keeps for it
	caches bool // it writes the build tools' caches, but for those in a workspace that it does not write
	net    bool // any network
	wide   bool // a network of any kind: every family of sockets
}

var profiles = map[Profile]terms{
	Command:  {work: true, caches: true},
	Check:    {caches: true},
	Server:   {},
	Vendor:   {work: true, caches: true, net: true, wide: true},
	Observer: {},
}

// Ground is what the sandboxes of one workspace stand on. All paths are absolute, and resolved as far as they exist.
type Ground struct {
	Root    string              // the workspace
	Git     []string            // directories outside of it that git writes for it
	Home    string              // the user's; "": there is none
	Environ []string            // of commands: where caches are
	Scratch string              // a private directory that takes the place of the temporary one
	Private []string            // what no command sees
	Shown   []string            // of what lies in Private, what a command reads all the same
	Guarded func() []string     // files in the workspace that no command changes, beside what their names tell; nil: none
	Secret  func(string) string // which secrets a file of that path, from the home directory, holds by its name; "" if none
}

// Leave is what was granted beyond the profile.
type Leave struct {
	Write   []string // files and directories, absolute; one that ends in / is made if it is not there
	Read    []string // the same, of what a command would not see where it lies
	Words   []string // of a command line: where programs and scripts among them lie is read, though a directory of its own takes that place
	Network bool     // all of it, with the machine's own servers
	Mail    string   // the directory through which its mail leaves; "": it has none
}

// Level says what a wall does about what is protected inside of what may be written.
type Level string

const (
	None     Level = "none"     // commands run as the user
	Detects  Level = "detects"  // a change is seen after the command
	Prevents Level = "prevents" // there is none
)

// Wall is what this machine enforces. The zero value is none.
type Wall struct {
	Kind   Kind
	Facts  []string // what was tried and held, for people
	Faults []string // why better ones do not work here, each with its name
	abi    int      // Landlock's
	bwrap  string
	setuid bool // bubblewrap becomes root by itself

	mu        sync.Mutex
	installed map[[2]string]bool // by a program's name and the PATH it was looked for on, for as long as the wall is used
}

// Kind is how sandboxes are made.
type Kind string

const (
	Bubblewrap Kind = "bubblewrap"
	Namespaces Kind = "namespaces" // our own, and Landlock
	Landlock   Kind = "landlock"   // and a filter of system calls
	Seatbelt   Kind = "seatbelt"   // of macOS
)

// Level is what the wall does about what is protected.
func (w *Wall) Level() Level {
	switch {
	case w == nil || w.Kind == "":
		return None
	case w.Kind == Landlock:
		return Detects
	}
	return Prevents
}

// Loopback reports whether a command without a network reaches the servers that it starts itself.
func (w *Wall) Loopback() bool { return w.Level() == Prevents }

// Word says for people what the wall is.
func (w *Wall) Word() string {
	switch w.kind() {
	case Bubblewrap:
		return "bubblewrap (" + w.bwrap + ")"
	case Namespaces:
		return fmt.Sprintf("namespaces of its own and Landlock (ABI %d)", w.abi)
	case Landlock:
		return fmt.Sprintf("Landlock (ABI %d) and a filter of system calls, without namespaces", w.abi)
	case Seatbelt:
		return "sandbox-exec"
	}
	return "none"
}

func (w *Wall) kind() Kind {
	if w == nil {
		return ""
	}
	return w.Kind
}

// Box is the sandbox of one command. nil is none: the command runs as the user.
type Box struct {
	wall *Wall
	view view
	dir  string
}

// Box makes the sandbox for a command of that profile that runs in dir. The error says why there can be none.
func (w *Wall) Box(g Ground, p Profile, leave Leave, dir string) (*Box, error) {
	if w.Level() == None {
		return nil, fmt.Errorf("there is no sandbox here: %s", w.Why())
	}
	v, err := g.view(p, leave, w.has)
	if err != nil {
		return nil, err
	}
	return &Box{wall: w, view: v, dir: dir}, nil
}

// has reports whether a program is on the PATH. Looking for all that might be takes longer than a short command.
func (w *Wall) has(program, path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := [2]string{program, path}
	known, asked := w.installed[at]
	if asked {
		return known
	}
	for _, d := range filepath.SplitList(path) {
		if i, err := os.Stat(filepath.Join(d, program)); err == nil && i.Mode().IsRegular() {
			known = true
			break
		}
	}
	if w.installed == nil {
		w.installed = map[[2]string]bool{}
	}
	w.installed[at] = known
	return known
}

// Why says why there is no better wall than this one; "" if it is the best.
func (w *Wall) Why() string {
	if w == nil {
		return "nobody has looked"
	}
	out := ""
	for _, f := range w.Faults {
		if out != "" {
			out += "; "
		}
		out += f
	}
	return out
}

// MailEnv names the variable that tells a command where its mail leaves.
const MailEnv = "FANTAIL_MAIL"

// acting are variables that lead to somebody who acts for the user, outside of any box.
var acting = []string{
	"TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DBUS_STARTER_ADDRESS", "SESSION_MANAGER",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "GIT_ASKPASS", "SUDO_ASKPASS", "GPG_AGENT_INFO", "GNOME_KEYRING_CONTROL", "KRB5CCNAME",
	"DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "SWAYSOCK", "I3SOCK", "HYPRLAND_INSTANCE_SIGNATURE", "PULSE_SERVER", "PIPEWIRE_REMOTE",
	"TMUX", "TMUX_PANE", "STY", "ZELLIJ", "ZELLIJ_SESSION_NAME", "KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "ALACRITTY_SOCKET", "GNOME_TERMINAL_SERVICE",
	"NVIM", "NVIM_LISTEN_ADDRESS", "EMACS_SOCKET_NAME", "VSCODE_IPC_HOOK", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE", "VSCODE_GIT_ASKPASS_MAIN",
	"DOCKER_HOST", "CONTAINER_HOST", MailEnv, "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "JOURNAL_STREAM", "WSL_INTEROP",
}

// environment is env for a command that sees v: without what leads outside, and with its temporary directory.
func (v view) environment(env []string, temporary string) []string {
	out := make([]string, 0, len(env)+1)
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); !slices.Contains(acting, name) {
			out = append(out, e)
		}
	}
	if v.mail != "" {
		out = append(out, MailEnv+"="+v.mail)
	}
	return append(out, "TMPDIR="+temporary)
}
