package guard

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// What the program needs, in bytes, with room for its work. The runtime of the
// language takes up to 1.7 GiB of addresses before main begins, then up to 72 MiB for each thread, and ends with a dump
// of its own where it gets none.
const (
	needAddresses = 2560 << 20
	needData      = 256 << 20
	needMemory    = 64 << 20
)

// addressSpace is the kernel's number of the limit of addresses.
const addressSpace = 9

// limits are those of this process's memory, and what of each the program needs.
func limits() []limit {
	ls := []limit{
		{what: "addresses", flag: "-v", resource: addressSpace, need: needAddresses},
		{what: "data", flag: "-d", resource: syscall.RLIMIT_DATA, need: needData},
	}
	for i, l := range ls {
		var has syscall.Rlimit
		ls[i].has = math.MaxUint64
		if err := syscall.Getrlimit(l.resource, &has); err == nil {
			ls[i].has = has.Cur
		}
	}
	return ls
}

type limit struct {
	what, flag string // flag is of the shell's ulimit
	resource   int
	need, has  uint64 // bytes
}

// NeedRoom is an error if this process's limits leave it too little memory to begin.
func NeedRoom() error {
	for _, l := range limits() {
		if l.has < l.need {
			return fmt.Errorf("too little memory: this process may have %d MiB of %s and needs %d: ulimit %s %d, or more, allows it",
				l.has>>20, l.what, l.need>>20, l.flag, l.need>>10)
		}
	}
	if path, limit := groupLimit("/"); limit < needMemory {
		return fmt.Errorf("too little memory: the control group allows %d MiB, %d are needed: set %s to more", limit>>20, needMemory>>20, path)
	}
	return nil
}

// narrow names the limits of this process's memory, as the shell sets them; "": there
// is none, and when memory ends the kernel ends the process without a word.
func narrow() string {
	var set []string
	for _, l := range limits() {
		if l.has < math.MaxInt64 {
			set = append(set, fmt.Sprintf("ulimit %s %d", l.flag, l.has>>10))
		}
	}
	return strings.Join(set, ", ")
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

// Redirect makes a descriptor be that file, whose writers wait for its reader.
func Redirect(f *os.File, fd int) error {
	if err := syscall.SetNonblock(int(f.Fd()), false); err != nil {
		return err
	}
	return syscall.Dup3(int(f.Fd()), fd, 0)
}
