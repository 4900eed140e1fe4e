package place

import (
	"path/filepath"

	"fantail/tools/proc"
)

// Above reports whether a process that has one of the workspaces with those data directories started the one with that
// number, at whatever distance.
func Above(pid int, datas []string) bool {
	above := map[int]bool{}
	for p, ok := proc.Look(pid); ok && p.Parent > 1 && !above[p.Parent]; p, ok = proc.Look(p.Parent) {
		above[p.Parent] = true
	}
	for _, dir := range datas {
		if dir == "" {
			continue // there is none
		}
		if h := holder(filepath.Join(dir, hostLock)); above[h.PID] && Hosted(dir) {
			return true
		}
	}
	return false
}
