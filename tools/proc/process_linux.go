package proc

import (
	"bytes"
	"os"
	"strconv"
)

// Look is what the system tells about the process with that number; false if there is none, or
// none that can be seen.
func Look(pid int) (Process, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	// The command's name stands in parentheses and may hold anything, parentheses and spaces
	// included, so fields count from the last one.
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 {
		return Process{}, false
	}
	p := Process{State: f[0][0]}
	for i, to := range map[int]*int{1: &p.Parent, 2: &p.Group, 3: &p.Session, 5: &p.Foreground} {
		if *to, err = strconv.Atoi(string(f[i])); err != nil {
			return Process{}, false
		}
	}
	p.Started, err = strconv.ParseInt(string(f[19]), 10, 64)
	return p, err == nil
}
