package briefs

import (
	"context"
	"sync"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/store"
)

// touches is how many paths are kept between two seams of a turn.
const touches = 1000

// Guide is what one agent is told on its way.
type Guide struct {
	Room *Room
	DB   *store.DB

	mu    sync.Mutex
	paths []string
}

// Touch notes that the agent's tools touched those paths, which are looked for only if somebody wants to know. Calls that
// run beside each other may touch at the same time.
func (g *Guide) Touch(paths func() []string) {
	g.mu.Lock()
	wanted := g.Room != nil && len(g.paths) < touches
	g.mu.Unlock()
	if !wanted {
		return
	}
	all := paths()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.paths = append(g.paths, all...)
}

// Due returns what the agent is told now: at the beginning of a turn (0) what changed, later what concerns the paths it
// touched. Only the agent's loop calls it.
func (g *Guide) Due(ctx context.Context, i event.Info, turn int64) (told []history.Entry, err error) {
	if g.Room == nil {
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
	if turn != 0 { // else perhaps nothing begins
		g.paths = nil
	}
	g.mu.Unlock()
	if turn == 0 {
		if err := add(g.Room.Begin(ctx, g.DB, i)); err != nil {
			return nil, err
		}
	}
	return told, add(g.Room.Touched(ctx, g.DB, i, paths))
}
