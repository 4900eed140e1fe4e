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
	Over() string                                        // why the agent was told to stop, so that a turn that completes has failed; "": it was not
}

// Watched is an agent that a guard watches.
type Watched struct {
	Guard Guard
	Dir   string                                 // takes the place of the workspace for its tools
	Check func(name string) (tools.Check, error) // finds a check that it may run; nil: it may run none
}

// Watch puts an agent under a guard. Call it before Start.
func Watch(l *Loop, w Watched) {
	l.fixed.guard, l.own.env.Root, l.own.env.Check = w.Guard, w.Dir, w.Check
	if w.Check == nil {
		l.fixed.tools = l.fixed.tools.But("run_check")
	}
}

// guardRequest asks the guard before a request, and returns what tells it of the reply.
func (l *Loop) guardRequest(req *llm.Request) (replied func(used llm.Usage, words int), err error) {
	if l.fixed.guard == nil {
		return func(llm.Usage, int) {}, nil
	}
	if err := l.fixed.guard.Request(req); err != nil {
		return nil, err
	}
	return func(used llm.Usage, words int) { l.fixed.guard.Replied(req, used, words) }, nil
}

// guardCalls returns those of the calls that the guard lets run, and answers the others. It is asked about all of them
// before any runs.
func (l *Loop) guardCalls(ctx context.Context, calls []history.Call) (run []history.Call, err error) {
	if l.fixed.guard == nil {
		return calls, nil
	}
	instead := make([]string, len(calls))
	for n, c := range calls {
		if instead[n], err = l.fixed.guard.Call(c); err != nil {
			return nil, err
		}
	}
	for n, c := range calls {
		if instead[n] == "" {
			run = append(run, c)
		} else if err := l.Result(ctx, c, time.Now(), tools.Result{Text: instead[n], Error: true}); err != nil {
			return nil, err
		}
	}
	return run, nil
}
