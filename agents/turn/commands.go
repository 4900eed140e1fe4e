package turn

import (
	"os"
	"sync"
	"syscall"

	"fantail/tools/proc"
)

// RunningCommands are the commands that run. Their processes may connect to the host from outside.
// It is safe for concurrent use; the zero value is empty.
type RunningCommands struct {
	mu sync.Mutex
	of map[int]CommandRunner // by process group
}

// CommandRunner says which agent runs a command, and in which turn.
type CommandRunner struct{ Agent, Turn int64 }

// Of returns who runs the command of a process group.
func (c *RunningCommands) Of(group int) (r CommandRunner, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok = c.of[group]
	return r, ok
}

// Behind returns who runs the command that a process belongs to, at any depth below this program.
// It returns false if the process belongs to no agent's command, or that can't be found out.
func (c *RunningCommands) Behind(pid int) (r CommandRunner, ok bool) {
	above, there := proc.Above(pid)
	if !there {
		return r, false
	}
	for _, pid := range append([]int{pid}, above...) {
		if pid == os.Getpid() {
			return r, false
		}
		if group, err := syscall.Getpgid(pid); err == nil {
			if r, ok = c.Of(group); ok {
				return r, true
			}
		}
	}
	return r, false
}

// Begin records who runs the command of a group, until end is called.
func (c *RunningCommands) Begin(g proc.Group, r CommandRunner) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[int]CommandRunner{}
	}
	c.of[g.PGID] = r
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.of, g.PGID)
	}
}
