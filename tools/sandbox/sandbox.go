// Package sandbox confines a command to the files and network it may use, and finds what it changed in files that
// programs obey.
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
	Check    Profile = "check"    // a command that writes caches, not the workspace, such as tests
	Server   Profile = "server"   // a program that serves agents: only what was granted
	Vendor   Profile = "vendor"   // another tool's agent: the files of a command, and any network
	Observer Profile = "observer" // reads
)

// terms are what a profile includes without a grant. Each profile has a temporary directory of its own.
type terms struct {
	work   bool // it writes the workspace, and git's directories for it
	caches bool // it writes the build tools' caches, except those in a workspace that it does not write
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

// Workspace describes the workspace that sandboxes are made for. All paths are absolute, and resolved as far as they
// exist.
type Workspace struct {
	Root    string              // the workspace
	Git     []string            // directories outside of it that git writes for it
	Home    string              // the user's; "": there is none
	Environ []string            // of commands: where caches are
	Scratch string              // a private directory that replaces the temporary one
	Private []string            // hidden from every command
	Shown   []string            // in Private, but readable by commands
	Kept    func() []string     // protected even in a writable tree, whether it exists or not; nil: nothing
	Secret  func(string) string // which secrets a file of that path, from the home directory, holds by its name; "" if none
	Secrets []string            // paths from the home directory that hold secrets, whatever their names say
}

// Leave is what was granted beyond the profile.
type Leave struct {
	Write   []string // files and directories, absolute; one that ends in / is made if it is not there
	Read    []string // as Write, for files that a command would not see in their place
	Words   []string // a command line: programs and scripts that it names in the temporary directory can be read
	Network bool     // the whole network, with the machine's own servers
	Mail    string   // the directory for its outgoing mail; "": none
}

// Level says what a sandbox does about protected files in a writable tree.
type Level string

const (
	None     Level = "none"     // commands run as the user
	Detects  Level = "detects"  // a change is seen after the command
	Prevents Level = "prevents" // there is none
)

// Backend is what this machine enforces. The zero value enforces nothing.
type Backend struct {
	Kind   Kind
	Facts  []string // what was tried and works, for people
	Faults []string // why better ones do not work here, each with its name
	abi    int      // Landlock's
	bwrap  string
	setuid bool // bubblewrap becomes root by itself

	verdict verdict

	mu        sync.Mutex
	installed map[[2]string]bool // by a program's name and the PATH that was searched, for the life of the Backend
	led       map[string]string  // where the path of a cache led when a box was made first
}

// Kind is how sandboxes are made.
type Kind string

const (
	Bubblewrap Kind = "bubblewrap"
	Namespaces Kind = "namespaces" // our own, and Landlock
	Landlock   Kind = "landlock"   // and a filter of system calls
	Seatbelt   Kind = "seatbelt"   // of macOS
)

// Level is what the backend does about protected files.
func (w *Backend) Level() Level {
	switch {
	case w == nil || w.Kind == "":
		return None
	case w.Kind == Landlock:
		return Detects
	}
	return Prevents
}

// Loopback reports whether a command without a network reaches the servers that it starts itself.
func (w *Backend) Loopback() bool { return w.Level() == Prevents }

// Word describes the backend for people.
func (w *Backend) Word() string {
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

func (w *Backend) kind() Kind {
	if w == nil {
		return ""
	}
	return w.Kind
}

// Box is the sandbox of one command. nil is none: the command runs as the user.
type Box struct {
	backend *Backend
	view    view
	dir     string
	mute    bool // it makes no socket that could reach one of the file system
}

// Box makes the sandbox for a command of that profile that runs in dir. The error says why there can be none.
func (w *Backend) Box(g Workspace, p Profile, leave Leave, dir string) (*Box, error) {
	if w.Level() == None {
		return nil, fmt.Errorf("there is no sandbox here: %s", w.Why())
	}
	if w.verdict.broken != nil {
		return nil, w.verdict.broken
	}
	v, err := g.view(p, leave, w)
	if err != nil {
		return nil, err
	}
	return &Box{backend: w, view: v, dir: dir}, nil
}

// has reports whether a program is on the PATH, and caches that. Looking for all possible programs takes longer than a
// short command.
func (w *Backend) has(program, path string) bool {
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

// leads reports whether the path of a cache still leads where it led the first time. A command that could write a
// directory above it may have changed that.
func (w *Backend) leads(path, real string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.led == nil {
		w.led = map[string]string{}
	}
	if first, known := w.led[path]; known {
		return first == real
	}
	w.led[path] = real
	return true
}

// Why says why no better backend is used, or "" if this is the best.
func (w *Backend) Why() string {
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

// MailEnv is the variable with the directory for a command's outgoing mail.
const MailEnv = "FANTAIL_MAIL"

// acting are variables that lead to programs which act for the user outside of any sandbox.
var acting = []string{
	"TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DBUS_STARTER_ADDRESS", "SESSION_MANAGER",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "GIT_ASKPASS", "SUDO_ASKPASS", "GPG_AGENT_INFO", "GNOME_KEYRING_CONTROL", "KRB5CCNAME",
	"DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "SWAYSOCK", "I3SOCK", "HYPRLAND_INSTANCE_SIGNATURE", "PULSE_SERVER", "PIPEWIRE_REMOTE",
	"TMUX", "TMUX_PANE", "STY", "ZELLIJ", "ZELLIJ_SESSION_NAME", "KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "ALACRITTY_SOCKET", "GNOME_TERMINAL_SERVICE",
	"NVIM", "NVIM_LISTEN_ADDRESS", "EMACS_SOCKET_NAME", "VSCODE_IPC_HOOK", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE", "VSCODE_GIT_ASKPASS_MAIN",
	"DOCKER_HOST", "CONTAINER_HOST", MailEnv, "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "JOURNAL_STREAM", "WSL_INTEROP",
}

// environment is env for a command that sees v: without variables that lead outside, and with its temporary directory.
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
