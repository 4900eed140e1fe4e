package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"fantail/inbox"
	"fantail/inbox/rules"
)

// settle is how long after its beginning a change of a policy's file is read: an
// editor writes in several steps.
const settle = 100 * time.Millisecond

// RulesWatch tells of changes of the policies in a workspace.
type RulesWatch struct {
	w    *watch
	over chan struct{} // closed when its goroutine has ended; nil: it never began
}

// WatchRules begins to watch the policies' files in root.
func WatchRules(root string) (*RulesWatch, error) {
	w, err := newWatch(root, filepath.Join(root, rules.Dir))
	if err != nil {
		return nil, fmt.Errorf("watch the policies of the agents: %w", err)
	}
	return &RulesWatch{w: w}, nil
}

// ReadRules returns what the workspace's files say about mail, and what is wrong
// with those that can't be read, by the name of the agent.
func ReadRules(root string) (good map[string]inbox.Rules, broken map[string]error) {
	return rules.Read(root)
}

// Serve calls tell after each change, in a goroutine of its own that start begins and
// Close ends.
func (r *RulesWatch) Serve(start func(name string, f func()), tell func()) {
	r.over = make(chan struct{})
	start("policies", func() {
		defer close(r.over)
		for r.w.changed() {
			time.Sleep(settle) // what comes meanwhile is told again
			tell()
		}
	})
}

// Close ends the watch.
func (r *RulesWatch) Close() error {
	err := r.w.close()
	if r.over != nil {
		<-r.over
	}
	return errors.Join(err, r.w.free())
}
