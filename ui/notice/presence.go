package notice

import (
	"context"
	"time"

	"fantail/ui/intent"
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

// Away reports whether nobody looks at the screen.
func (n *Notice) Away() bool {
	if n.seen.tells {
		return n.blurred
	}
	return n.Now().Sub(n.seen.at) >= alone
}

// Here notes that the human is there. The first sign after a long absence asks for
// a digest of it.
func (n *Notice) Here() intent.Intent {
	was, now := n.seen.at, n.Now()
	n.seen.at = now
	switch {
	case n.Pool == nil:
		return nil
	case now.Sub(was) >= absence:
		return n.Digest(was)
	case now.Sub(n.seen.kept) >= keepSeen:
		n.seen.kept = now
		pool := n.Pool
		return intent.Run{F: func(ctx context.Context) intent.Intent {
			_ = pool.Seen(ctx, now) // the next minute tries again
			return nil
		}}
	}
	return nil
}

// Leave keeps when the human was last there, once the screen has ended.
func (n *Notice) Leave() {
	if n.Pool == nil || !n.seen.at.After(n.seen.kept) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = n.Pool.Seen(ctx, n.seen.at) // at worst the next digest begins earlier
}

// Focus and Blur note that the terminal has got or lost the focus.
func (n *Notice) Focus() { n.blurred, n.seen.tells = false, true }
func (n *Notice) Blur()  { n.blurred, n.seen.tells = true, true }

// Blurred reports whether the terminal said that it lost the focus.
func (n *Notice) Blurred() bool { return n.blurred }
