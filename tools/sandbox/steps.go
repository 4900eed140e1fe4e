package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// step is one change to the file system of a command that has mounts of its own. At first everything is read-only; each
// step builds on those before.
type step struct {
	kind stepKind
	from string // of writable, readable and hidden
	to   string
}

type stepKind int

const (
	writable  stepKind = iota // mount from at to
	readable                  // the same, read-only
	hidden                    // the same, if anything is still there
	empty                     // an empty directory of its own
	devices                   // the harmless devices, and terminals of its own
	processes                 // only its own processes
	closed                    // nothing can be added to the empty directory
)

// temporary are the directories that the scratch directory replaces.
var temporary = []string{"/tmp", "/var/tmp"}

// running is where the machine's services keep their runtime files, nearly all of which are sockets.
const running = "/run"

// replaced are the trees that the command gets its own version of: the files in them are hidden, unless they are shown.
func replaced() []string { return append(present(temporary), running, "/dev") }

// runningKept are the parts of it that programs need: the resolver's, and the programs of some systems.
var runningKept = []string{"/run/current-system", "/run/booted-system", "/run/wrappers", "/run/opengl-driver"}

// resolvers are for a command with a network.
var resolvers = []string{"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf"}

// steps are the changes that make the view; deaf are the sockets to hide.
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
	for _, b := range v.beside { // an exception within one is mounted after it
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
			add(hidden, os.DevNull, h) // a socket, for example, may vanish at any time
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
		add(closed, "", h) // files left there would be lost, and a program must not believe them stored
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

// gone reports whether a path is in a replaced tree, and in none that is shown there.
func (v view) gone(path string) bool {
	return within(replaced(), path) && !in(path, v.home) && !within(v.read, path) && !within(v.beside, path) && !v.writes(path)
}

// holders are the directories between a writable tree and a protected file in it. Each is a mount: a mount point can't
// be renamed and replaced.
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

// deaf are the sockets that a command must not reach: their listeners act for the user, and neither a read-only mount
// nor a network namespace prevents a connection.
func (v view) deaf(sockets []string) (all []string) {
	for _, s := range sockets {
		if !v.hides(s) && !in(s, v.scratch) && !v.gone(s) && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return present(all)
}
