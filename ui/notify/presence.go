package notify

import (
	"context"
	"time"

	"fantail/ui/intent"
)

// seen is when the human was last there, according to a key, the mouse or the terminal's focus.
type seen struct {
	at     time.Time // zero: not yet
	stored time.Time // the last time that is stored or about to be
	tells  bool      // the terminal reports its focus
}

const (
	// alone is how long no key must have been pressed until the human counts as away, on a terminal
	// that does not report its focus.
	alone = time.Minute
	// absence is how long the human must have been away for a digest to follow.
	absence = time.Hour
	// storeSeen is the time between two stored times.
	storeSeen = time.Minute
)

// Away reports whether the human looks elsewhere.
func (n *Notifier) Away() bool {
	if n.absent {
		return true
	}
	if n.seen.tells {
		return n.blurred
	}
	return n.Now().Sub(n.seen.at) >= alone
}

// Here notes that the human is there. After a long absence it requests a digest.
func (n *Notifier) Here() intent.Intent {
	was, now := n.seen.at, n.Now()
	n.seen.at = now
	switch {
	case n.Pool == nil:
		return nil
	case now.Sub(was) >= absence:
		return n.Digest(was)
	case now.Sub(n.seen.stored) >= storeSeen:
		n.seen.stored = now
		pool := n.Pool
		return intent.Run{F: func(ctx context.Context) intent.Intent {
			_ = pool.Records.Seen(ctx, now) // the next minute tries again
			return nil
		}}
	}
	return nil
}

// Close stores when the human was last there, once the screen has ended.
func (n *Notifier) Close() {
	if n.Pool == nil || !n.seen.at.After(n.seen.stored) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = n.Pool.Records.Seen(ctx, n.seen.at) // at worst the next digest begins earlier
}

// Focus and Blur note that the terminal has gained or lost the focus.
func (n *Notifier) Focus() { n.blurred, n.seen.tells = false, true }
func (n *Notifier) Blur()  { n.blurred, n.seen.tells = true, true }

// Absent notes that no human can look, whatever the terminal reported: it takes no output, or there
// is none. Back notes that one can again.
func (n *Notifier) Absent() { n.absent = true }
func (n *Notifier) Back()   { n.absent = false }

// Blurred reports whether the terminal reported that it lost the focus.
func (n *Notifier) Blurred() bool { return n.blurred }
