package proc

// climbs is how often Above tries again when a process above ended meanwhile.
const climbs = 100

// Above returns the processes that started or adopted a process, the nearest first. It returns false if the process has
// ended, or if those above it end faster than they can be read. A process that is above it for its whole life, and that
// adopts orphans of its children, is always among them.
func Above(pid int) (above []int, ok bool) {
	for range climbs {
		if at, there := Look(pid); !there || at.Ended() {
			return nil, false
		}
		if above, ok = climb(pid); ok {
			return above, true
		}
	}
	return nil, false
}

// climb is one try of Above. A parent counts only if it is still the parent after it was read: then it was alive until
// that read, and no other process with its number was read.
func climb(pid int) (above []int, ok bool) {
	at, there := Look(pid)
	for there && at.Parent > 1 {
		up, seen := Look(at.Parent)
		if now, still := Look(pid); !still || now.Started != at.Started || now.Parent != at.Parent {
			return nil, false
		}
		if !seen { // it lives, and belongs to another user
			return above, true
		}
		above = append(above, at.Parent)
		pid, at = at.Parent, up
	}
	return above, there
}
