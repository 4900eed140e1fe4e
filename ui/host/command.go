package host

import (
	"os"
	"slices"

	"fantail/store/paths"
	"fantail/tools/proc"
	"fantail/ui/attach"
	"fantail/ui/workspace"
)

// ofCommand reports whether a process belongs to an agent's command: one that this host started, directly or through
// others, or one of an agent of another host of this user. Hosts above this one do not count: below them, every
// process is theirs.
func ofCommand(p attach.Peer) bool {
	if slices.Contains(p.Above, os.Getpid()) {
		return true
	}
	mine, _ := proc.Above(os.Getpid())
	above := slices.DeleteFunc(slices.Clone(p.Above), func(pid int) bool { return slices.Contains(mine, pid) })
	if len(above) == 0 {
		return false
	}
	datas, err := paths.Workspaces(os.Getenv)
	return err == nil && workspace.Above(above, datas)
}
