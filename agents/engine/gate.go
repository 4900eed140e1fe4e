package engine

import (
	"context"
	"errors"
	"sync"
)

// errTurnOver is the error of a call whose turn has ended.
var errTurnOver = errors.New("the turn in which it was called is over")

// gate admits an engine's calls of our tools only while its turn is being heard, because a tool
// uses what the agent's loop changes at other times. It is safe for concurrent use; only the loop
// calls opens, seam and closes.
type gate struct {
	mu      sync.Mutex
	turn    context.Context // ends with the turn being heard; nil: none is
	over    context.CancelCauseFunc
	changed chan struct{} // closed when the gate opens or the last call leaves
	inside  int
}

// opens admits calls. A gate that is open stays open.
func (g *gate) opens(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.turn == nil {
		g.turn, g.over = context.WithCancelCause(ctx)
		g.tellLocked()
	}
}

// seam closes the gate unless a call is inside, and reports whether it did.
func (g *gate) seam() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside == 0 {
		g.shutLocked()
	}
	return g.inside == 0
}

// closes ends the calls inside, and returns once they have left.
func (g *gate) closes() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shutLocked()
	for g.inside > 0 {
		through := g.waitLocked()
		g.mu.Unlock()
		<-through
		g.mu.Lock()
	}
}

// now returns the context of the turn being heard; nil: none is.
func (g *gate) now() context.Context {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.turn
}

// enter admits a call once the gate is open. The context ends with that of the call, or with the
// turn.
func (g *gate) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.turn == nil {
		opened := g.waitLocked()
		g.mu.Unlock()
		select {
		case <-opened:
		case <-ctx.Done():
		}
		g.mu.Lock()
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
	}
	g.inside++
	ctx, cancel := context.WithCancelCause(ctx)
	turn := g.turn
	stop := context.AfterFunc(turn, func() { cancel(context.Cause(turn)) })
	return ctx, func() {
		stop()
		cancel(nil)
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.inside--; g.inside == 0 {
			g.tellLocked()
		}
	}, nil
}

func (g *gate) shutLocked() {
	if g.turn != nil {
		g.over(errTurnOver)
		g.turn = nil
	}
}

func (g *gate) waitLocked() <-chan struct{} {
	if g.changed == nil {
		g.changed = make(chan struct{})
	}
	return g.changed
}

func (g *gate) tellLocked() {
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}
