// Package commands tells whose commands run.
//
// Does: note who runs a command while it runs, and find them by its process group
// or by a process that comes from it.
//
// Does not: run one (tools/proc does), judge who may ask.
//
// Imports: tools/proc.
package commands

import (
	"os"
	"sync"
	"syscall"

	"fantail/tools/proc"
)

// Running are the commands that run: their processes may come back as somebody from outside. It is safe for concurrent
// use; the zero value is none.
type Running struct {
	mu sync.Mutex
	of map[int]Runner // by the process that leads the command's group
}

// Runner is who runs a command.
type Runner struct{ Agent, Turn int64 }

// Of returns whose command the process group is, and in which turn it runs.
func (c *Running) Of(group int) (r Runner, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok = c.of[group]
	return r, ok
}

// Behind returns whose command a process comes from, at whatever distance below this program; false: it can't be told, or
// none of an agent's.
func (c *Running) Behind(pid int) (r Runner, ok bool) {
	for ; pid > 1 && pid != os.Getpid() && !ok; pid = parent(pid) {
		if group, err := syscall.Getpgid(pid); err == nil {
			r, ok = c.Of(group)
		}
	}
	return r, ok
}

// parent is a process's parent; 0 if it has none that can be seen.
func parent(pid int) int {
	p, _ := proc.Look(pid)
	return p.Parent
}

// Begin notes whose command a group is, until end is called.
func (c *Running) Begin(g proc.Group, r Runner) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[int]Runner{}
	}
	c.of[g.PGID] = r
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.of, g.PGID)
	}
}
