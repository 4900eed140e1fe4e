package engine

import (
	"context"
	"errors"
	"sync"
)

// errTurnOver is why a call ends whose turn has ended.
var errTurnOver = errors.New("the turn in which it was called is over")

// gate lets an engine's calls of our tools in while its turn is heard, and only then: a tool uses what the agent's loop
// changes between. It is safe for concurrent use; opens, seam and closes are the loop's.
type gate struct {
	mu      sync.Mutex
	turn    context.Context // ends with the turn that is heard; nil: none is
	over    context.CancelCauseFunc
	changed chan struct{} // closed when the gate opens, or the last call is through
	inside  int
}

// opens has calls come in. A gate that is open stays so.
func (g *gate) opens(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.turn == nil {
		g.turn, g.over = context.WithCancelCause(ctx)
		g.tellLocked()
	}
}

// seam closes the gate unless a call is inside: then it reports false.
func (g *gate) seam() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside == 0 {
		g.shutLocked()
	}
	return g.inside == 0
}

// closes ends the calls that are inside, and returns once they are through.
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

// now is the context of the turn that is heard; nil: none is.
func (g *gate) now() context.Context {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.turn
}

// enter lets a call in, once the gate is open. The context ends with that of the call, or with the turn.
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
