package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"fantail/agents"
	"fantail/agents/approval"
	"fantail/tools/permission"
	"fantail/ui/shell"
	"fantail/ui/workspace"
)

// ruled applies the permission rules in files, and again when they change.
type ruled struct {
	mu    sync.Mutex
	files *workspace.RuleFiles
	now   approval.RuleReading
	load  func(is approval.RuleReading) error // nil: no pool is there yet, or no more
	retry *time.Timer                         // reads unreadable files again; nil: all could be read
	end   func()
}

// retries is how often a file that can't be read is tried again: a link that works again, or changed permissions, do
// not show as a change of the file.
const retries = 2 * time.Second

// begin applies the rules of files before any agent begins. The workspace's files allow nothing yet.
func (r *ruled) begin(root string, gate *permission.Gate) {
	r.files = workspace.NewRuleFiles(root, os.Getenv)
	r.now = r.files.Read()
	approval.BeginRules(gate, r.now)
}

// rule applies the rules of files, with the accepted ones of the workspace, and watches the files.
func (w *Workspace) rule(ctx context.Context, pool *agents.Pool) error {
	ctx = context.WithoutCancel(ctx)
	w.rules.load = func(is approval.RuleReading) error { return pool.Permissions.Load(ctx, is) }
	if err := w.rules.again(); err != nil && w.readOnly == nil {
		return err
	}
	if w.watch == nil { // the process does not stay
		return nil
	}
	end, err := w.rules.files.Watch(w.guard.Go, func() { _ = w.rules.again() }) // the next change, or /reload, tries again
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
	return r.holds(r.files.Read())
}

// holds applies the rules as read, and tries again soon if a file can't be read. The caller holds the mutex.
func (r *ruled) holds(is approval.RuleReading) error {
	r.now = is
	if r.retry != nil {
		r.retry.Stop()
		r.retry = nil
	}
	if is.Blind() != "" {
		r.retry = time.AfterFunc(retries, r.look)
	}
	return r.load(is)
}

// look reads the files again, and applies them if other files than before can't be read.
func (r *ruled) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.load == nil || r.retry == nil {
		return
	}
	if is := r.files.Read(); !slices.Equal(is.Unread, r.now.Unread) {
		_ = r.holds(is) // the next change, or /reload, tries again
		return
	}
	r.retry.Reset(retries)
}

// readable reads the files again, and returns an error if one that may deny calls can't be read.
func (r *ruled) readable() error {
	if err := r.again(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if why := r.now.Blind(); why != "" {
		return fmt.Errorf("nothing was run: %s: what this file denies is not known. Repair it or move it away, and try again; fantail doctor lists what is wrong", why)
	}
	return nil
}

func (r *ruled) close() {
	if r.end != nil {
		r.end()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.load = nil; r.retry != nil {
		r.retry.Stop()
	}
}

// offers says which rules in the workspace's files await the human's answer, and what is wrong with the files; "" if
// nothing.
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
	if blind := pool.Permissions.Blind(); blind != "" {
		parts = append(parts, "every call asks, because the rules that may deny it can't be read ("+blind+")")
	} else if len(broken) > 0 {
		parts = append(parts, fmt.Sprintf("%d permission rules can't be read", len(broken)))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", and ") + ": /permissions shows them"
}
