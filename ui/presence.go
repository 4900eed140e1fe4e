package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// seen is when the human was last there: when a key, the mouse or the terminal's
// focus said so.
type seen struct {
	at    time.Time // zero: not yet
	kept  time.Time // the last that is in the database, or on its way
	tells bool      // the terminal tells of its focus
}

const (
	// alone is how long no key must have come on a terminal that never tells of
	// its focus until nobody counts as looking at it.
	alone = time.Minute
	// absence is how long nobody must have been there for a digest.
	absence = time.Hour
	// keepSeen is how far apart the times are that are kept.
	keepSeen = time.Minute
)

// away reports whether nobody looks at the screen.
func (a *App) away() bool {
	if a.seen.tells {
		return a.blurred
	}
	return a.o.Now().Sub(a.seen.at) >= alone
}

// here notes that the human is there. The first sign after a long absence asks for
// a digest of it.
func (a *App) here() tea.Cmd {
	was, now := a.seen.at, a.o.Now()
	a.seen.at = now
	switch {
	case a.pool == nil:
		return nil
	case now.Sub(was) >= absence:
		return a.askDigest(was)
	case now.Sub(a.seen.kept) >= keepSeen:
		a.seen.kept = now
		pool := a.pool
		return func() tea.Msg {
			_ = pool.Seen(a.ctx, now) // the next minute tries again
			return nil
		}
	}
	return nil
}

// leave keeps when the human was last there, once the screen has ended.
func (a *App) leave() {
	if a.pool == nil || !a.seen.at.After(a.seen.kept) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = a.pool.Seen(ctx, a.seen.at) // at worst the next digest begins earlier
}
