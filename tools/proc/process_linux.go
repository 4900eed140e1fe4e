package proc

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// Look returns what the system knows about the process with that number; false if there is none, or none that can be
// seen.
func Look(pid int) (Process, bool) {
	b, err := readStat("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	// The command's name is in parentheses and may hold anything, including parentheses and spaces, so fields are
	// counted after the last one.
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

// readStat reads a file of one line with one read: os.ReadFile makes eleven system calls for it, and Above reads many.
func readStat(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	b := make([]byte, 1<<10)
	n, err := unix.Read(fd, b)
	return b[:max(n, 0)], err
}
