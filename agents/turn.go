package agents

import (
	"context"
	"errors"
	"fmt"

	"fantail/agents/event"
	"fantail/agents/questions"
	"fantail/agents/reply"

	"fantail/agents/llm"
)

// maxCuts is how often in a row a model may make no call that is whole, because
// its token limit cut it or its arguments are no object, before the turn fails.
const maxCuts = 3

// ending is how a turn ends.
type ending struct {
	outcome Outcome
	cause   string
}

// work carries out one turn: absorb, ask, record, run tools, until no calls are
// left and nothing more is due. It returns an error if the turn could not begin.
func (a *agent) work(ctx context.Context) error {
	ctx, release := a.stoppable(ctx)
	defer release()
	a.began, a.steps, a.tokens, a.handled = a.p.o.Now(), 0, 0, nil
	defer a.wrapped()
	if a.parked != nil {
		if err := a.goOn(ctx); err != nil {
			a.stopped(ctx, err)
			return nil
		}
	}
	cuts := 0
	for {
		began, err := a.absorb(ctx)
		if err != nil && a.turn == 0 {
			return err
		}
		if err == nil && !began {
			return nil
		}
		if err != nil {
			a.stopped(ctx, err)
			return nil
		}
		r, err := a.answer(ctx)
		switch {
		case err != nil:
		case len(r.Calls) > 0:
			err = a.runCalls(ctx, r.Calls)
		case r.Stop != nil && len(r.Stop.Broken) > 0:
			if cuts++; cuts < maxCuts {
				continue
			}
			why := "its arguments were no JSON object"
			if r.Stop.Reason == llm.Length {
				why = "its token limit cut it"
			}
			err = fmt.Errorf("the model made no whole call %d times in a row: %s", cuts, why)
		case a.kind.Ends() && r.Short() != "":
			err = errors.New(r.Short())
		default:
			if err = a.await(ctx); err == nil && a.finish(ctx, ending{outcome: Completed}) {
				return nil
			}
		}
		cuts = 0
		if err != nil {
			a.stopped(ctx, err)
			return nil
		}
	}
}

// stopped ends the turn that err ended, unless it only is parked.
func (a *agent) stopped(ctx context.Context, err error) {
	if !errors.Is(err, questions.ErrParked) {
		a.finish(ctx, a.endingOf(ctx, err))
	}
}

// answer asks, with room for it. A request the model refuses as too long is sent
// once more, compacted.
func (a *agent) answer(ctx context.Context) (*reply.Reply, error) {
	if err := a.makeRoom(ctx); err != nil {
		return nil, err
	}
	r, err := a.ask(ctx)
	if !tooLong(err) {
		return r, err
	}
	if err := a.rescue(ctx, err); err != nil {
		return nil, err
	}
	return a.ask(ctx)
}

// endingOf says how a turn ends that err ended.
func (a *agent) endingOf(ctx context.Context, err error) ending {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	switch {
	case errors.Is(err, errKilled):
		return ending{OutKilled, "killed"}
	case errors.Is(err, ErrTimeout):
		return ending{TimedOut, err.Error()}
	case errors.Is(err, event.ErrClosing):
		return ending{Interrupted, event.ErrClosing.Error()}
	case errors.Is(err, ErrStopped):
		return ending{Interrupted, "stopped by the user"}
	}
	cause := err.Error()
	if e := (*llm.Error)(nil); errors.As(err, &e) {
		switch {
		case e.Kind == llm.Undone: // nothing is wrong with the provider
			cause = e.Message
		case e.Kind == llm.ContextTooLong && a.kind.HasPrompt():
			cause += " /new begins a new conversation."
		}
	}
	return ending{OutFailed, cause}
}
