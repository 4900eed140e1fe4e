package app

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"fantail/agents"
	"fantail/agents/mcpconfig"
	"fantail/store/config"
	"fantail/tools/mcp"
	"fantail/tools/permission"
	"fantail/tools/proc"
	"fantail/ui/cli"
	"fantail/ui/shell"
	"fantail/ui/workspace"
)

// serves holds the MCP servers that agents use.
type serves struct {
	room  *mcpconfig.Servers // where they are configured
	live  *mcp.Servers       // set by open
	watch *workspace.Dirs    // over the files that configure them; nil: they are not watched
	pool  atomic.Pointer[agents.Pool]
}

// configures sets up the configured servers. It reads nothing yet.
func (s *serves) configures(w *Workspace) {
	s.room = cli.ServersFor(resolved(w.place.Root), w.brings.trust, w.keys, func() []config.Server {
		w.file.mu.Lock()
		defer w.file.mu.Unlock()
		return w.file.conf.Servers()
	})
}

// begin makes the set of running servers, which starts each when it is needed.
func (s *serves) begin(w *Workspace) {
	root := resolved(w.place.Root)
	w.brings.trust.Hear(s.recheck)
	logins := mcp.LoginOptions{Dir: cli.LoginsPath(w.place.Data), Now: time.Now, Go: w.guard.Go}
	s.live = mcp.New(mcp.Options{
		Root: root, Servers: s.room.Servers, Allowed: s.room.Allowed, Environ: proc.Clean(os.Environ(), w.keys), Keys: w.keys,
		Box: w.boxes(), Leave: func() permission.Leave { return w.gate.Leave(permission.Action{Dir: root}) }, Keep: w.guard.Keep,
		Dir: filepath.Join(w.place.Data, "mcp"), Now: time.Now, Go: w.guard.Go, Changed: s.changed, Trouble: s.trouble,
		Login: cli.Carries(logins), Logins: mcp.NewSignIn(mcp.SignInOptions{LoginOptions: logins, Environ: proc.Clean(os.Environ(), w.keys)}),
	})
}

// serve passes changes on to agents and screens from now on.
func (s *serves) serve(w *Workspace, pool *agents.Pool) {
	s.pool.Store(pool)
	if s.watch != nil {
		s.watch.Serve(w.guard.Go, func() {
			s.recheck()
			s.changed()
		})
	}
}

// recheck ends servers that may not run any more.
func (s *serves) recheck() { s.live.Recheck() }

// changed updates what shows servers.
func (s *serves) changed() {
	if pool := s.pool.Load(); pool != nil {
		agents.Recount(pool)
	}
}

// trouble reports an error of servers: on screens, and on standard error where there is none.
func (s *serves) trouble(err error) {
	shell.Warn(os.Stderr, "%v", err)
	if pool := s.pool.Load(); pool != nil {
		agents.Trouble(pool, err)
	}
}

// watched begins to watch the files that configure them.
func (s *serves) watched(w *Workspace) {
	var err error
	if s.watch, err = cli.Watch(w.place.Root); err != nil {
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
