package host

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fantail/tools/proc"
)

// settles is how long a child may be dead before the host assumes that no other code waits for it.
const settles = 5 * time.Second

// adopts makes the host the parent of the processes that its agents' commands leave running, so that their origin is
// known, and reaps those that have ended. It leaves alone what the program started itself and waits for: owned reports
// that of a process. start starts a goroutine.
func (h *Host) adopts(start func(name string, f func()), owned func(pid int) bool) error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt what commands leave behind: %w", err)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	start("adopt", func() {
		defer signal.Stop(ended)
		dead := map[int]int64{} // when it was started; seen dead at the last look
		for {
			if len(dead) == 0 {
				select {
				case <-ended:
				case <-h.ended:
					return
				}
			}
			h.wait(settles)
			dead = reap(dead, owned)
			select {
			case <-h.ended:
				return
			default:
			}
		}
	})
	return nil
}

// reap reaps the children that were dead at the last look and still are, and returns the others that are dead now. It
// never waits for just any child: that would take one that other code waits for.
func reap(last map[int]int64, owned func(pid int) bool) map[int]int64 {
	now := map[int]int64{}
	for _, pid := range children() {
		p, there := proc.Look(pid)
		switch {
		case !there || !p.Ended() || owned(pid):
		case last[pid] == p.Started:
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		default:
			now[pid] = p.Started
		}
	}
	return now
}

// children returns the child processes of this process.
func children() (pids []int) {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list) // the thread may have ended
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
