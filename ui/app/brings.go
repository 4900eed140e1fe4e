package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"fantail/agents"
	"fantail/agents/hooks"
	"fantail/store/config"
)

// brings is what runs by itself because the repository, or its user, says so.
type brings struct {
	kept    string // the directory of what the user agreed to
	trust   *hooks.TrustStore
	hooks   *hooks.Runner
	trouble error // why nothing is trusted; nil: agreements count
}

// bring sets it up. What takes effect as the workspace opens is checked again where it runs.
func (w *Workspace) bring() {
	home := os.Getenv("HOME")
	if filepath.IsAbs(home) {
		home = resolved(home)
	} else {
		home = ""
	}
	root := resolved(w.place.Root)
	w.brings.trust, w.brings.trouble = hooks.OpenTrust(root, w.brings.kept)
	w.brings.hooks = hooks.New(hooks.Settings{Root: root, Home: home, Trust: w.brings.trust, Config: func() map[string][]config.HookGroup {
		w.file.mu.Lock()
		defer w.file.mu.Unlock()
		return w.file.conf.Hooks
	}})
	w.serves.configures(w)
}

// waits says what in the repository and the database has no effect before the user confirms it; "": nothing.
func (w *Workspace) waits(ctx context.Context, pool *agents.Pool) string {
	return strings.Trim(w.brings.brief()+"\n"+pool.Rows.Brief(ctx), "\n")
}

// brief says what does not run because the user has not agreed to it; "" if there is nothing.
func (b brings) brief() string {
	if b.trouble != nil {
		return b.trouble.Error()
	}
	return hooks.BriefReviews(b.trust.Review())
}
