package host

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// givePages gives back the pages of the program's own file that are in memory; most of them only the start needed. A
// page that is needed again comes from the system's cache, together with its neighbours.
func givePages() {
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for _, m := range unchanged(string(text), exe) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED) // otherwise they stay
	}
}

// mapping is a part of the address space.
type mapping struct{ from, to uintptr }

// unchanged returns the read-only mappings of a file, in the text of smaps, in which no page differs from the file. A
// page that a linker or a debugger changed would lose that change.
func unchanged(smaps, file string) (all []mapping) {
	var at mapping
	for line := range strings.Lines(smaps) {
		f := strings.Fields(line)
		switch {
		case len(f) == 3 && f[0] == "Anonymous:":
			if f[1] == "0" && at.to > 0 {
				all = append(all, at)
			}
			at = mapping{}
		case len(f) > 5 && len(f[1]) == 4:
			at = mapping{}
			low, high, _ := strings.Cut(f[0], "-")
			from, err := strconv.ParseUint(low, 16, 64)
			to, e := strconv.ParseUint(high, 16, 64)
			if err == nil && e == nil && f[1][1] == '-' && strings.HasSuffix(strings.TrimSpace(line), " "+file) {
				at = mapping{uintptr(from), uintptr(to)}
			}
		}
	}
	return all
}
