package host

import (
	"os"

	"fantail/tools/proc"
)

// descends reports whether a process was started by this one, at whatever distance. One that has
// ended meanwhile was not, nor was this one itself.
func descends(child int) bool {
	for p := parent(child); p > 1; p = parent(p) {
		if p == os.Getpid() {
			return true
		}
	}
	return false
}

// parent is a process's parent; 0 if it has none that can be seen.
func parent(pid int) int {
	p, _ := proc.Look(pid)
	return p.Parent
}
