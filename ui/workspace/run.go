package workspace

import (
	"os"
	"strconv"
	"strings"

	"fantail/tools/proc"
)

// thisRun returns the present run of the process with that number; fields that can't be read are empty.
func thisRun(pid int) (r run) {
	if p, there := proc.Look(pid); there {
		r.started = strconv.FormatInt(p.Started, 10)
	}
	if text, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		r.boot = strings.TrimSpace(string(text))
	}
	r.machine, _ = os.Hostname()
	r.pids, _ = os.Readlink("/proc/self/ns/pid")
	return r
}
