package proc

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fantail/.ci/long"
)

// TestAbove: no process escapes from one that adopts orphans by having its parents end during the walk.
func TestAbove(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skip("the system does not let this process adopt: ", err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	const chain = `n=0; link() { n=$((n+1)); if [ $n -lt 40 ]; then link & else read -r _ <&3; fi; }; link`
	c := exec.Command("sh", "-c", chain+"; wait")
	c.SysProcAttr = nil
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.ExtraFiles = []*os.File{in}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	seen := 0
	for range 2000 {
		for _, pid := range below(os.Getpid()) {
			if above, ok := Above(pid); ok {
				seen++
				if !slices.Contains(above, os.Getpid()) {
					t.Fatalf("%d is above %d, which this one started", above, pid)
				}
			}
		}
		if seen > long.Times(100, 500) {
			break
		}
	}
	if seen == 0 {
		t.Error("nobody was seen below")
	}
	hold.Close()
	_ = c.Wait()
	for _, pid := range below(os.Getpid()) { // adopted orphans
		var s unix.WaitStatus
		_, _ = unix.Wait4(pid, &s, 0, nil)
	}
	if _, ok := Above(c.Process.Pid); ok {
		t.Error("somebody is above a process that has ended")
	}
}

// below returns the descendants of a process, from a look at all processes.
func below(pid int) (pids []int) {
	names, _ := os.ReadDir("/proc")
	all := map[int]Process{}
	for _, n := range names {
		if strings.Trim(n.Name(), "0123456789") == "" {
			id := 0
			for _, d := range n.Name() {
				id = 10*id + int(d-'0')
			}
			if p, ok := Look(id); ok {
				all[id] = p
			}
		}
	}
	for id := range all {
		if id != pid && descends(id, pid, all) {
			pids = append(pids, id)
		}
	}
	return pids
}
