package turn

import (
	"sync"

	"fantail/tools/proc"
)

// Commands tells whose commands run: their processes may come back as somebody from outside. It is safe for concurrent
// use.
type Commands struct {
	mu sync.Mutex
	of map[int]runner // by the process that leads the command's group
}

// runner is who runs a command.
type runner struct{ agent, turn int64 }

// Of returns whose command the process group is, and in which turn it runs.
func (c *Commands) Of(group int) (agent, turn int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.of[group]
	return r.agent, r.turn, ok
}

// begin notes whose command a group is, until end is called.
func (c *Commands) begin(g proc.Group, r runner) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[int]runner{}
	}
	c.of[g.PGID] = r
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.of, g.PGID)
	}
}

// keep has a command's group ended if this program dies, and known as the agent's while it runs.
func (w *workbench) keep(g proc.Group) (end func()) {
	known, kept := w.o.Commands.begin(g, runner{w.ID, w.turn}), func() {}
	if w.o.Keep != nil {
		kept = w.o.Keep(g)
	}
	return func() {
		known()
		kept()
	}
}
