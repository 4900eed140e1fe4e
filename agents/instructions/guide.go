package instructions

import (
	"context"
	"sync"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/store"
)

// touches is how many paths are stored between two seams of a turn.
const touches = 1000

// BriefGuide passes instructions to one agent while it works.
type BriefGuide struct {
	Briefs *Briefs
	DB     *store.DB

	mu    sync.Mutex
	paths []string
}

// Touch notes that the agent's tools touched those paths, which it asks for only if they are needed. Concurrent calls
// may call it at the same time.
func (g *BriefGuide) Touch(paths func() []string) {
	g.mu.Lock()
	wanted := g.Briefs != nil && len(g.paths) < touches
	g.mu.Unlock()
	if !wanted {
		return
	}
	all := paths()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.paths = append(g.paths, all...)
}

// Due returns what to tell the agent now: at the beginning of a turn (0) what changed, later what applies to the paths
// it touched. Only the agent's loop calls it.
func (g *BriefGuide) Due(ctx context.Context, i event.Info, turn int64) (told []history.Entry, err error) {
	if g.Briefs == nil {
		return nil, nil
	}
	add := func(e history.Entry, ok bool, err error) error {
		if ok {
			told = append(told, e)
		}
		return err
	}
	g.mu.Lock()
	paths := g.paths
	if turn != 0 { // without a change nothing begins
		g.paths = nil
	}
	g.mu.Unlock()
	if turn == 0 {
		if err := add(g.Briefs.Begin(ctx, g.DB, i)); err != nil {
			return nil, err
		}
	}
	return told, add(g.Briefs.Touched(ctx, g.DB, i, paths))
}
