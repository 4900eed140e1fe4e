package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"fantail/inbox"
	"fantail/inbox/rules"
)

// settle is how long a change of a policy's file must be over before it is read:
// an editor writes in several steps.
const settle = 100 * time.Millisecond

// RulesWatch tells of changes of the policies in a workspace.
type RulesWatch struct {
	root string
	w    *fsnotify.Watcher
	over chan struct{} // closed when its goroutine has ended; nil: it never began
}

// WatchRules begins to watch the policies' files in root.
func WatchRules(root string) (*RulesWatch, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch the policies of the agents: %w", err)
	}
	r := &RulesWatch{root: root, w: w}
	if err := w.Add(root); err != nil { // where the directory may come
		return nil, fmt.Errorf("watch the policies of the agents: %w", errors.Join(err, w.Close()))
	}
	_ = w.Add(r.dir()) // it need not be there
	return r, nil
}

func (r *RulesWatch) dir() string { return filepath.Join(r.root, rules.Dir) }

// ReadRules returns what the workspace's files say about mail, and what is wrong
// with those that can't be read, by the name of the agent.
func ReadRules(root string) (good map[string]inbox.Rules, broken map[string]error) {
	return rules.Read(root)
}

// Serve calls tell after each change, in a goroutine of its own that Close ends.
func (r *RulesWatch) Serve(guard *Guard, tell func()) {
	r.over = make(chan struct{})
	guard.Go("policies", func() {
		defer close(r.over)
		var changed <-chan time.Time
		for {
			select {
			case e, ok := <-r.w.Events:
				switch {
				case !ok:
					return
				case e.Name == r.dir():
					_ = r.w.Add(r.dir())
				case filepath.Dir(e.Name) != r.dir():
					continue
				}
				changed = time.After(settle)
			case _, ok := <-r.w.Errors: // events were lost: look
				if !ok {
					return
				}
				changed = time.After(settle)
			case <-changed:
				changed = nil
				tell()
			}
		}
	})
}

// Close ends the watch.
func (r *RulesWatch) Close() error {
	err := r.w.Close()
	if r.over != nil {
		<-r.over
	}
	return err
}
