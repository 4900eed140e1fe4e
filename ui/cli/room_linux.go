package cli

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// What the program needs, in bytes, with room for its work. The runtime of the
// language takes up to 1.7 GiB of addresses before main begins, and ends with a dump
// of its own where it gets none.
const (
	needAddresses = 2 << 30
	needData      = 256 << 20
	needMemory    = 64 << 20
)

// NeedRoom is an error if this process's limits leave it too little memory: later
// nothing but the runtime's dump would say so.
func NeedRoom() error {
	const addressSpace = 9 // RLIMIT_AS
	for _, l := range []struct {
		what, flag string
		resource   int
		need       uint64
	}{{"addresses", "-v", addressSpace, needAddresses}, {"data", "-d", syscall.RLIMIT_DATA, needData}} {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(l.resource, &limit); err == nil && limit.Cur < l.need {
			return fmt.Errorf("too little memory: this process may have %d MiB of %s and needs %d: ulimit %s %d, or more, allows it",
				limit.Cur>>20, l.what, l.need>>20, l.flag, l.need>>10)
		}
	}
	if path, limit := groupLimit("/"); limit < needMemory {
		return fmt.Errorf("too little memory: the control group allows %d MiB, %d are needed: set %s to more", limit>>20, needMemory>>20, path)
	}
	return nil
}

// groupLimit is the memory limit of this process's control group below root, and
// the file it stands in. Without one it is the largest number.
func groupLimit(root string) (path string, limit uint64) {
	limit = math.MaxUint64
	groups, err := os.ReadFile(root + "proc/self/cgroup")
	if err != nil {
		return "", limit
	}
	for line := range strings.Lines(string(groups)) {
		group, is := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !is {
			continue
		}
		file := root + "sys/fs/cgroup" + strings.TrimSuffix(group, "/") + "/memory.max"
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the root has none
		}
		if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil { // else it is "max"
			return file, n
		}
	}
	return "", limit
}
