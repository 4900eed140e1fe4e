package turn

import (
	"context"
	"time"

	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/tools"
)

// Guard limits an unattended agent. Only the agent's loop calls it. An error from it ends the turn.
type Guard interface {
	Request(req *llm.Request) error                      // whether the request may be sent
	Replied(req *llm.Request, used llm.Usage, words int) // the request sent, the reported usage, and the reply's length in bytes
	Call(c history.Call) (instead string, err error)     // whether the call may run; if not, instead is its result
	Over() string                                        // why the agent was told to stop, which makes a completed turn a failure; "": it was not
}

// Watched configures an agent with a guard.
type Watched struct {
	Guard Guard
	Dir   string                                 // replaces the workspace for its tools
	Check func(name string) (tools.Check, error) // finds a check that it may run; nil: it may run none
}

// Watch gives an agent a guard. Call it before Start.
func Watch(l *Loop, w Watched) {
	l.fixed.guard, l.own.env.Root, l.own.env.Check = w.Guard, w.Dir, w.Check
	if w.Check == nil {
		l.fixed.tools = l.fixed.tools.But("run_check")
	}
}

// guardRequest asks the guard before a request, and returns the function that reports the reply to
// it.
func (l *Loop) guardRequest(req *llm.Request) (replied func(used llm.Usage, words int), err error) {
	if l.fixed.guard == nil {
		return func(llm.Usage, int) {}, nil
	}
	if err := l.fixed.guard.Request(req); err != nil {
		return nil, err
	}
	return func(used llm.Usage, words int) { l.fixed.guard.Replied(req, used, words) }, nil
}

// guardCalls returns the calls that the guard allows, and answers the others. The guard decides
// about all of them before any runs.
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
