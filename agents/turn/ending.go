package turn

import (
	"context"
	"errors"

	"fantail/agents/engine"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
)

// Ending is how a turn ended.
type Ending struct {
	Outcome history.Outcome
	Cause   string
}

// Halted is the error of a turn that a hook stopped.
type Halted struct{ Why string }

func (h *Halted) Error() string { return h.Why }

// EndingOf returns how a turn of an agent of that kind ends because of err.
func EndingOf(ctx context.Context, err error, kind event.Kind) Ending {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	switch {
	case errors.Is(err, fleet.ErrKilled):
		return Ending{history.OutKilled, "killed"}
	case errors.Is(err, fleet.ErrTimeout):
		return Ending{history.TimedOut, err.Error()}
	case errors.Is(err, event.ErrClosing):
		return Ending{history.Interrupted, event.ErrClosing.Error()}
	case errors.Is(err, fleet.ErrStopped):
		return Ending{history.Interrupted, "stopped by the user"}
	case errors.Is(err, engine.ErrRefused) && kind.HasPrompt(): // the human is there to decide what to do
		return Ending{history.Interrupted, err.Error()}
	}
	if errors.As(err, new(*Halted)) {
		return Ending{history.Interrupted, err.Error()}
	}
	if over := (*fleet.OverBudget)(nil); errors.As(err, &over) {
		return Ending{history.OutBudget, over.Error()}
	}
	cause := err.Error()
	if e := (*llm.Error)(nil); errors.As(err, &e) {
		switch {
		case e.Kind == llm.TaskFailed: // the provider is not at fault
			cause = e.Message
		case e.Kind == llm.ContextTooLong && kind.HasPrompt():
			cause += " /new begins a new conversation."
		}
	}
	return Ending{history.OutFailed, cause}
}
