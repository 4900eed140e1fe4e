package proc

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// usage returns how many processes descend from pid or belong to its group, and their memory.
func usage(pid int) (processes int, memory int64) {
	d, err := os.Open("/proc")
	if err != nil {
		return 0, 0
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return 0, 0
	}
	all := make(map[int]Process, len(names))
	for _, n := range names {
		if id, err := strconv.Atoi(n); err == nil {
			if p, ok := Look(id); ok && !p.Ended() {
				all[id] = p
			}
		}
	}
	for id, p := range all {
		if p.Group != pid && !descends(id, pid, all) {
			continue
		}
		processes++
		memory += resident(id)
	}
	return processes, memory
}

// descends reports whether pid is above id.
func descends(id, pid int, all map[int]Process) bool {
	for range len(all) { // processes that end and start meanwhile may look like a cycle
		if id == pid {
			return true
		}
		p, ok := all[id]
		if !ok {
			return false
		}
		id = p.Parent
	}
	return false
}

// resident is the resident memory of a process, without what it shares with files.
func resident(id int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/statm")
	if err != nil {
		return 0
	}
	var size, pages, shared int64
	if _, err := fmt.Sscan(string(text), &size, &pages, &shared); err != nil {
		return 0
	}
	return max(0, pages-shared) * int64(syscall.Getpagesize())
}

// Memory is this machine's memory in bytes; 0: unknown.
func Memory() int64 {
	var i syscall.Sysinfo_t
	if err := syscall.Sysinfo(&i); err != nil {
		return 0
	}
	return int64(i.Totalram) * int64(i.Unit)
}
