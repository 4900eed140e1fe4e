package turn

import (
	"context"
	"time"

	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/tools"
)

// Guard bounds what an agent does that nobody watches. Only the agent's loop calls it. An error of its ends the turn.
type Guard interface {
	Request(req *llm.Request) error                      // may it be sent?
	Replied(req *llm.Request, used llm.Usage, words int) // what was sent, and what came: its usage as told, its length in bytes
	Call(c history.Call) (instead string, err error)     // may it run? instead, if not empty, is its result then
}

// Watched is an agent that a guard watches.
type Watched struct {
	Guard Guard
	Dir   string                                 // takes the place of the workspace for its tools
	Check func(name string) (tools.Check, error) // finds a check that it may run; nil: it may run none
}

// Watch puts an agent under a guard. Call it before Start.
func Watch(l *Loop, w Watched) {
	l.guard, l.env.Root, l.env.Check = w.Guard, w.Dir, w.Check
	if w.Check == nil {
		l.tools = l.tools.But("run_check")
	}
}

// sends asks the guard before a request, and returns what tells it of the reply.
func (c *conversation) sends(req *llm.Request) (replied func(used llm.Usage, words int), err error) {
	if c.guard == nil {
		return func(llm.Usage, int) {}, nil
	}
	if err := c.guard.Request(req); err != nil {
		return nil, err
	}
	return func(used llm.Usage, words int) { c.guard.Replied(req, used, words) }, nil
}

// admitted returns those of the calls that the guard lets run, and answers the others. It is asked about all of them
// before any runs.
func (w *workbench) admitted(ctx context.Context, calls []history.Call) (run []history.Call, err error) {
	if w.guard == nil {
		return calls, nil
	}
	instead := make([]string, len(calls))
	for n, c := range calls {
		if instead[n], err = w.guard.Call(c); err != nil {
			return nil, err
		}
	}
	for n, c := range calls {
		if instead[n] == "" {
			run = append(run, c)
		} else if err := w.result(ctx, c, time.Now(), tools.Result{Text: instead[n], Error: true}); err != nil {
			return nil, err
		}
	}
	return run, nil
}
