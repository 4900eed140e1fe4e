package turn

import (
	"os"
	"sync"
	"syscall"

	"fantail/tools/proc"
)

// RunningCommands are the commands that run: their processes may come back as somebody from outside. It is safe for concurrent
// use; the zero value is none.
type RunningCommands struct {
	mu sync.Mutex
	of map[int]CommandRunner // by the process that leads the command's group
}

// CommandRunner is who runs a command.
type CommandRunner struct{ Agent, Turn int64 }

// Of returns whose command the process group is, and in which turn it runs.
func (c *RunningCommands) Of(group int) (r CommandRunner, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok = c.of[group]
	return r, ok
}

// Behind returns whose command a process comes from, at whatever distance below this program; false: it can't be told, or
// none of an agent's.
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

// Begin notes whose command a group is, until end is called.
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
