package workspace

import (
	"os"
	"path/filepath"

	"fantail/agents/hooks"
	"fantail/agents/trust"
	"fantail/store/config"
)

// brings is what runs by itself because the repository, or its user, says so.
type brings struct {
	kept    string // the directory of what the user agreed to
	trust   *trust.Room
	hooks   *hooks.Room
	trouble error // why nothing is trusted; nil: what was agreed to is
}

// bring finds it. What works as the workspace opens is asked for again where it runs.
func (w *Workspace) bring() {
	home := os.Getenv("HOME")
	if filepath.IsAbs(home) {
		home = resolved(home)
	} else {
		home = ""
	}
	root := resolved(w.place.Root)
	w.brings.trust, w.brings.trouble = trust.In(root, w.brings.kept)
	w.brings.hooks = hooks.New(hooks.Settings{Root: root, Home: home, Trust: w.brings.trust, Config: func() map[string][]config.HookGroup {
		w.file.mu.Lock()
		defer w.file.mu.Unlock()
		return w.file.conf.Hooks
	}})
	w.serves.configures(w)
}

// brief says what does not run because nobody agreed to it; "" if nothing is like that.
func (b brings) brief() string {
	if b.trouble != nil {
		return b.trouble.Error()
	}
	return trust.Brief(b.trust.Review())
}
