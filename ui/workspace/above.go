package workspace

import (
	"path/filepath"
	"slices"
)

// Above reports whether one of those processes owns one of the workspaces with those data directories.
func Above(above []int, datas []string) bool {
	for _, dir := range datas {
		if dir == "" {
			continue // there is none
		}
		if h := holder(filepath.Join(dir, hostLock)); slices.Contains(above, h.PID) && Hosted(dir) {
			return true
		}
	}
	return false
}
