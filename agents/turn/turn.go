package turn

import (
	"context"
	"errors"
	"fmt"

	"fantail/agents/ending"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/questions"
	"fantail/agents/reply"
)

// maxCuts is how many times in a row a model may fail to make a complete call (cut by its token limit, or with
// arguments that are no object) before the turn fails.
const maxCuts = 3

// Work carries out one turn: absorb, ask, record, run tools, until no calls are left and nothing more is due. It
// returns an error if the turn could not begin.
func (l *Loop) Work(ctx context.Context) error {
	ctx, release := l.Stoppable(ctx)
	defer release()
	if l.closes() { // since the loop looked: there was nothing to stop then
		if l.parked == nil {
			return nil
		}
		l.Halt(fleet.ErrStopped) // a turn that has begun ends in order
	}
	l.began, l.steps, l.tokens, l.handled = l.o.Now(), 0, 0, nil
	defer l.Wrapped()
	defer func() { l.seating.seat.Rest() }()
	if l.parked != nil {
		if err := l.goOn(ctx); err != nil {
			l.stopped(ctx, err)
			return nil
		}
	}
	cuts, said := 0, false // said: the model has nothing left to say
	for {
		came, err := l.absorb(ctx)
		switch {
		case err != nil && l.turn == 0:
			return err
		case err != nil:
			l.stopped(ctx, err)
			return nil
		case !came && l.turn == 0:
			return nil
		case !came && said: // what kept the turn from ending is gone: somebody took it
			if l.finish(ctx, ending.Ending{Outcome: history.Completed}) {
				return nil
			}
			continue
		}
		said = false
		added := l.o.Hooks.Begins(ctx, l.hooked())
		if err := l.halted(); err != nil {
			l.stopped(ctx, err)
			return nil
		}
		if added {
			continue // what hooks add is read first
		}
		r, err := payer{l}.answer(ctx)
		switch {
		case err != nil:
		case r == nil: // a seam of an engine's turn
			continue
		case len(r.Calls) > 0:
			if err = l.runCalls(ctx, r.Calls); err == nil {
				err = l.halted()
			}
		case r.Stop != nil && len(r.Stop.Broken) > 0:
			if cuts++; cuts < maxCuts {
				continue
			}
			why := "its arguments were no JSON object"
			if r.Stop.Reason == llm.Length {
				why = "its token limit cut it"
			}
			err = fmt.Errorf("the model made no whole call %d times in a row: %s", cuts, why)
		case l.Kind.Ends() && r.Short() != "":
			err = errors.New(r.Short())
		default:
			if err = l.await(ctx); err != nil || l.o.Hooks.Holds(ctx, l.hooked()) {
				break
			}
			if said = true; l.finish(ctx, ending.Ending{Outcome: history.Completed}) {
				return nil
			}
		}
		cuts = 0
		if err != nil {
			l.stopped(ctx, err)
			return nil
		}
	}
}

// halted is the error of a turn that a hook stops.
func (l *Loop) halted() error {
	if why := l.o.Hooks.Halted(l.hooked()); why != "" {
		return &ending.Halted{Why: why}
	}
	return nil
}

// stopped ends the turn because of err, unless it was only parked.
func (l *Loop) stopped(ctx context.Context, err error) {
	if !errors.Is(err, questions.ErrParked) {
		l.finish(ctx, ending.Of(ctx, err, l.Kind))
	}
}

// answer asks the model, making room first. A request that the model refuses as too long is compacted and sent once
// more.
func (l *Loop) answer(ctx context.Context) (*reply.Reply, error) {
	if s, err := l.seating.now(); s != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return s.Answer(ctx)
	}
	if err := l.makeRoom(ctx); err != nil {
		return nil, err
	}
	r, err := l.ask(ctx)
	if !llm.TooLong(err) {
		return r, err
	}
	if err := l.rescue(ctx, err); err != nil {
		return nil, err
	}
	return l.ask(ctx)
}
