package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// step is one change to the file system of a command that has mounts of its own. The first of all is that nothing can
// be changed; each later one stands on those before.
type step struct {
	kind stepKind
	from string // of writable, readable and hidden
	to   string
}

type stepKind int

const (
	writable  stepKind = iota // what is at from stands at to
	readable                  // the same, and can't be changed
	hidden                    // the same, if anything is still there
	empty                     // an empty directory of its own
	devices                   // the harmless devices, and terminals of its own
	processes                 // only its own processes
	closed                    // nothing more comes into the empty directory
)

// temporary are the directories whose place the scratch directory takes.
var temporary = []string{"/tmp", "/var/tmp"}

// running is where the machine's services keep what is for its programs: nearly all of it are sockets.
const running = "/run"

// replaced are the trees whose place something of the command's own takes: what lies there is gone, unless it is shown.
func replaced() []string { return append(present(temporary), running, "/dev") }

// runningKept are the parts of it that programs can't do without: the resolver's, and where some systems have their programs.
var runningKept = []string{"/run/current-system", "/run/booted-system", "/run/wrappers", "/run/opengl-driver"}

// resolvers are for a command with a network.
var resolvers = []string{"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf"}

// steps are the changes that make the view; deaf are the sockets that must not be reached.
func (v view) steps(deaf []string) (all []step) {
	add := func(k stepKind, from, to string) { all = append(all, step{k, from, to}) }
	add(devices, "", "/dev")
	for _, t := range present(temporary) {
		add(writable, v.scratch, t)
	}
	if there, err := os.Lstat(running); err == nil && there.IsDir() {
		add(empty, "", running)
		kept := runningKept
		if v.net {
			kept = slices.Concat(kept, resolvers)
		}
		for _, k := range present(kept) {
			add(readable, k, k)
		}
	}
	for _, b := range v.beside { // what lies in one, and is to be seen otherwise, comes behind it
		add(readable, b, b)
	}
	covered := replaced()
	if v.home != "" && within(covered, v.home) {
		add(readable, v.home, v.home)
	}
	for _, r := range v.read {
		if within(covered, r) && !v.writes(r) {
			add(readable, r, r)
		}
	}
	for _, w := range v.write {
		if !slices.ContainsFunc(v.write, func(o string) bool { return o != w && in(w, o) }) || within(covered, w) {
			add(writable, w, w)
		}
	}
	var bare []string
	for _, h := range slices.Concat(v.hide, deaf) {
		if v.gone(h) {
			continue
		}
		if i, err := os.Lstat(h); err == nil && i.IsDir() {
			add(empty, "", h)
			bare = append(bare, h)
		} else {
			add(hidden, os.DevNull, h) // a socket, for one, may be gone any time
		}
	}
	for _, s := range v.shown {
		add(readable, s, s)
	}
	for _, own := range []string{v.scratch, v.mail} {
		if own != "" && (v.hides(own) || own == v.mail) {
			add(writable, own, own)
		}
	}
	for _, h := range bare {
		add(closed, "", h) // what a program leaves there would be lost, and it must not take that for kept
	}
	for _, d := range v.holders() {
		add(writable, d, d)
	}
	for _, k := range v.keep {
		add(readable, k, k)
	}
	add(processes, "", "/proc")
	return all
}

// gone reports whether a path lies in a tree that something else takes the place of, and in none that is shown there.
func (v view) gone(path string) bool {
	return within(replaced(), path) && !in(path, v.home) && !within(v.read, path) && !within(v.beside, path) && !v.writes(path)
}

// holders are the directories between a tree that may be written and what is kept in it. Each is mounted by itself:
// what is mounted can't be renamed, and something else put into its place.
func (v view) holders() (all []string) {
	for _, k := range v.keep {
		var up []string
		for d := filepath.Dir(k); v.writes(d) && !slices.Contains(v.write, d); d = filepath.Dir(d) {
			up = append(up, d)
		}
		slices.Reverse(up)
		for _, d := range up {
			if !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all
}

// deaf are the sockets that a command must not reach: whoever listens acts for the user, and neither a mount that can't
// be written nor a network of its own keeps a command from them.
func (v view) deaf(sockets []string) (all []string) {
	for _, s := range sockets {
		if !v.hides(s) && !in(s, v.scratch) && !v.gone(s) && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return present(all)
}
