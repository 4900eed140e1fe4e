package proc

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"
)

// stat is what /proc tells about a process.
type stat struct {
	state byte
	pgrp  int
	start int64
}

// readStat reads /proc/PID/stat. The command name stands in parentheses and may
// hold anything, parentheses and spaces included, so fields count from the last one.
func readStat(pid string) (stat, bool) {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return stat{}, false
	}
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return stat{}, false
	}
	f := bytes.Fields(b[i+1:]) // f[0] is field 3
	if len(f) < 20 {
		return stat{}, false
	}
	pgrp, err1 := strconv.Atoi(string(f[2]))
	start, err2 := strconv.ParseInt(string(f[19]), 10, 64)
	return stat{state: f[0][0], pgrp: pgrp, start: start}, err1 == nil && err2 == nil
}

// dieWithUs has the kernel kill the child when the thread that starts it ends. It
// does not reach what the child has started.
func dieWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// started returns the start time of the process in clock ticks since boot; 0 if there is none.
func started(pid int) int64 {
	s, _ := readStat(strconv.Itoa(pid))
	return s.start
}

// alive reports whether anybody of the group runs. Zombies do not count: where
// nobody reaps orphans they stay for ever, and kill(2) still finds them.
func alive(pgid int) bool {
	if err := syscall.Kill(-pgid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	d, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return true
	}
	for _, n := range names {
		if n[0] < '1' || n[0] > '9' {
			continue
		}
		if s, ok := readStat(n); ok && s.pgrp == pgid && s.state != 'Z' && s.state != 'X' {
			return true
		}
	}
	return false
}
