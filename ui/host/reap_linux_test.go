package host

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fantail/tools/proc"
)

// TestReap: what a command left running is reaped once it has ended, and nothing else: no process that is waited for,
// and none that lives.
func TestReap(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skipf("orphans can't be adopted here: %v", err)
	}
	// The shell ends before the process that it leaves running.
	out, err := exec.Command("/bin/sh", "-c", "sleep 0.05 >/dev/null 2>&1 & echo $!").Output()
	if err != nil {
		t.Fatal(err)
	}
	orphan := strings.TrimSpace(string(out))
	waited := exec.Command("/bin/true")
	living := exec.Command("/bin/sleep", "600")
	for _, c := range []*exec.Cmd{waited, living} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	owned := func(pid int) bool { return pid == waited.Process.Pid }
	late := time.NewTimer(20 * time.Second)
	defer late.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	dead := map[int]int64{}
	for taken := false; !taken; {
		select {
		case <-again.C:
		case <-late.C:
			t.Fatalf("the orphan %s is still there; dead: %v", orphan, dead)
		}
		before := len(dead)
		dead = reap(dead, owned)
		taken = before > len(dead)
	}
	for _, pid := range children() {
		if p, _ := proc.Look(pid); p.Ended() && pid != waited.Process.Pid {
			t.Errorf("process %d is dead and nobody took it", pid)
		}
	}
	if err := waited.Wait(); err != nil {
		t.Errorf("what somebody waits for: %v", err)
	}
	if p, there := proc.Look(living.Process.Pid); !there || p.Ended() {
		t.Errorf("what lives is %+v", p)
	}
	if err := living.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = living.Wait()
}
