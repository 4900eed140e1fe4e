package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// enters lets a call in, in a goroutine: the call's context and how it leaves come out.
func enters(ctx context.Context, g *gate) <-chan inside {
	in := make(chan inside, 1)
	go func() {
		ctx, leave, err := g.enter(ctx)
		in <- inside{ctx, leave, err}
	}()
	return in
}

type inside struct {
	ctx   context.Context
	leave func()
	err   error
}

// came returns what came in so far; false: nothing did.
func came(in <-chan inside) (inside, bool) {
	synctest.Wait()
	select {
	case i := <-in:
		return i, true
	default:
		return inside{}, false
	}
}

// A turn ends after the calls inside: they end with the turn, and it waits for every one of them.
func TestGate_closes(t *testing.T) {
	for _, calls := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			g := &gate{}
			g.opens(t.Context())
			var all []inside
			for range calls {
				i, ok := came(enters(t.Context(), g))
				if !ok || i.err != nil {
					t.Fatalf("a call does not come in: %+v", i)
				}
				all = append(all, i)
			}
			closed := make(chan struct{})
			go func() {
				g.closes()
				close(closed)
			}()
			for _, i := range all {
				synctest.Wait()
				select {
				case <-closed:
					t.Fatal("the turn ended while a call was inside")
				default:
				}
				if !errors.Is(context.Cause(i.ctx), errTurnOver) {
					t.Errorf("the call goes on: %v", context.Cause(i.ctx))
				}
				i.leave()
			}
			<-closed
			if g.now() != nil {
				t.Error("a turn is heard still")
			}
		})
	}
}

// A call waits until a turn is heard, and no longer than its own context.
func TestGate_enter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone, waits := enters(ctx, g), enters(t.Context(), g)
		if i, ok := came(waits); ok {
			t.Fatalf("in before a turn: %+v", i)
		}
		why := errors.New("hung up")
		cancel(why)
		if i, ok := came(gone); !ok || !errors.Is(i.err, why) {
			t.Errorf("a call that was given up waits: %+v", i)
		}
		g.opens(t.Context())
		i, ok := came(waits)
		if !ok || i.err != nil || i.ctx.Err() != nil {
			t.Fatalf("not in once the turn is heard: %+v", i)
		}
		turn := g.now()
		if g.opens(t.Context()); g.now() != turn || i.ctx.Err() != nil {
			t.Error("a gate that was open is another turn's")
		}
		i.leave()
		g.closes()
		late := enters(t.Context(), g)
		if i, ok := came(late); ok {
			t.Errorf("in after the turn: %+v", i)
		}
		g.opens(t.Context())
		next, ok := came(late)
		if !ok || next.err != nil || next.ctx.Err() != nil {
			t.Fatalf("not in the next turn: %+v", next)
		}
		next.leave()
		g.closes()
	})
}

// The context of a call ends with the turn's.
func TestGate_turnEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{}
		turn, stop := context.WithCancelCause(t.Context())
		g.opens(turn)
		i, _ := came(enters(t.Context(), g))
		why := errors.New("stopped")
		stop(why)
		synctest.Wait()
		if !errors.Is(context.Cause(i.ctx), why) {
			t.Errorf("the call goes on: %v", context.Cause(i.ctx))
		}
		i.leave()
		g.closes()
	})
}

// A seam closes the gate only where no call is inside.
func TestGate_seam(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{}
		g.opens(t.Context())
		one, _ := came(enters(t.Context(), g))
		two, _ := came(enters(t.Context(), g))
		for _, i := range []inside{one, two} {
			if g.seam() || g.now() == nil || i.ctx.Err() != nil {
				t.Fatal("a seam with a call inside")
			}
			i.leave()
		}
		if !g.seam() || g.now() != nil {
			t.Error("no seam though no call is inside")
		}
	})
}
