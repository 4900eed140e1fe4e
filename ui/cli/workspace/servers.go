package workspace

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"fantail/agents"
	"fantail/agents/servers"
	"fantail/store/config"
	"fantail/tools/mcp"
	"fantail/tools/mcp/login"
	"fantail/tools/mcp/signin"
	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/ui/cli/mcplist"
	"fantail/ui/cli/shell"
	"fantail/ui/cli/watch"
)

// serves is the MCP servers that agents use.
type serves struct {
	room  *servers.Room // where they are configured
	live  *mcp.Room     // set by open
	watch *watch.Dirs   // over the files that configure them; nil: nobody watches
	pool  atomic.Pointer[agents.Pool]
}

// configures finds where they are configured. Nothing is read yet.
func (s *serves) configures(w *Workspace) {
	s.room = mcplist.Room(resolved(w.place.Root), w.brings.trust, w.keys, func() []config.Server {
		w.file.mu.Lock()
		defer w.file.mu.Unlock()
		return w.file.conf.Servers()
	})
}

// begin makes the room that has them run once they are needed.
func (s *serves) begin(w *Workspace) {
	root := resolved(w.place.Root)
	w.brings.trust.Hear(s.recheck)
	logins := login.Options{Dir: mcplist.Logins(w.place.Data), Now: time.Now, Go: w.guard.Go}
	s.live = mcp.New(mcp.Options{
		Root: root, Servers: s.room.Servers, Allowed: s.room.Allowed, Environ: proc.Clean(os.Environ(), w.keys), Keys: w.keys,
		Box: w.boxes(), Leave: func() permit.Leave { return w.gate.Leave(permit.Action{Dir: root}) }, Keep: w.guard.Keep,
		Dir: filepath.Join(w.place.Data, "mcp"), Now: time.Now, Go: w.guard.Go, Changed: s.changed, Trouble: s.trouble,
		Login: mcplist.Carries(logins), Logins: signin.New(signin.Options{Options: logins, Environ: proc.Clean(os.Environ(), w.keys)}),
	})
}

// serve has agents and screens hear of what changes, from now on.
func (s *serves) serve(w *Workspace, pool *agents.Pool) {
	s.pool.Store(pool)
	if s.watch != nil {
		s.watch.Serve(w.guard.Go, func() {
			s.recheck()
			s.changed()
		})
	}
}

// recheck ends what may not run any more.
func (s *serves) recheck() { s.live.Recheck() }

// changed has what shows servers look again.
func (s *serves) changed() {
	if pool := s.pool.Load(); pool != nil {
		agents.Recount(pool)
	}
}

// trouble tells of what could not be read or written down of servers: on screens, and on standard error for who has none.
func (s *serves) trouble(err error) {
	shell.Warn(os.Stderr, "%v", err)
	if pool := s.pool.Load(); pool != nil {
		agents.Trouble(pool, err)
	}
}

// watched begins to watch the files that configure them.
func (s *serves) watched(w *Workspace) {
	var err error
	if s.watch, err = mcplist.Watch(w.place.Root); err != nil {
		shell.Warn(os.Stderr, "a changed .mcp.json shows late: watch it: %v", err)
	}
}

// ends is how long servers may take to end in order.
const ends = 5 * time.Second

func (s *serves) close() {
	if s.watch != nil {
		_ = s.watch.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), ends)
	defer cancel()
	s.live.Close(ctx)
}
