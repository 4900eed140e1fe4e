package workspace

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"fantail/agents"
	"fantail/agents/permissions"
	"fantail/tools/permit"
	"fantail/ui/cli/rulebook"
	"fantail/ui/cli/shell"
)

// ruled has the rules of files hold, and again when they change.
type ruled struct {
	mu   sync.Mutex
	book *rulebook.Book
	load func() error
	end  func()
}

// begin has the rules of files hold before any agent begins anything. Of the workspace's files nothing allows yet.
func (r *ruled) begin(root string, gate *permit.Gate) {
	r.book = rulebook.New(root, os.Getenv)
	permissions.Begin(gate, r.book.Read())
}

// rule has the rules of files hold, with what was accepted of them, and watches the files.
func (w *Workspace) rule(ctx context.Context, pool *agents.Pool) error {
	ctx = context.WithoutCancel(ctx)
	w.rules.load = func() error { return pool.Permissions.Load(ctx, w.rules.book.Read()) }
	if err := w.rules.again(); err != nil && w.readOnly == nil {
		return err
	}
	if w.watch == nil { // nobody stays
		return nil
	}
	end, err := w.rules.book.Watch(w.guard.Go, func() { _ = w.rules.again() }) // the next change, or /reload, tries again
	if err != nil {
		shell.Warn(os.Stderr, "changed permission rules will hold from the next start or /reload on: watch their files: %v", err)
	}
	w.rules.end = end
	return nil
}

// again reads the files again, one reader at a time.
func (r *ruled) again() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.load == nil {
		return nil
	}
	return r.load()
}

func (r *ruled) close() {
	if r.end != nil {
		r.end()
	}
}

// offers says what the files of the workspace want that nobody answered yet, and what is wrong with them; "" if nothing.
func (w *Workspace) offers(pool *agents.Pool) string {
	_, broken, _ := pool.Permissions.List()
	var parts []string
	switch n := pool.Permissions.Waiting(); n {
	case 0:
	case 1:
		parts = append(parts, "this project's files want 1 rule to allow something")
	default:
		parts = append(parts, fmt.Sprintf("this project's files want %d rules to allow something", n))
	}
	if len(broken) > 0 {
		parts = append(parts, fmt.Sprintf("%d permission rules can't be read", len(broken)))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", and ") + ": /permissions shows them"
}
