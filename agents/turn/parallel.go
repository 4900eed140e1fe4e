package turn

import (
	"context"
	"fmt"
	"sync"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/tools/permission"
)

// runCalls runs the calls of one reply. Adjacent calls that only read, or only delegate, and need
// no question run concurrently; all others run one after another. Each result is an entry of its
// own, appended when its call ends.
func (l *Loop) runCalls(ctx context.Context, calls []history.Call) error {
	if err := l.makeOutputs(); err != nil {
		return err
	}
	l.setEnvironment(l.Agent.Env.Now())
	l.own.env.Box = nil
	if l.o.boxed() {
		l.own.env.Box = l.makeBox
	}
	calls, err := l.guardCalls(ctx, calls)
	if err != nil {
		return err
	}
	l.own.repeats.Count(calls)
	for len(calls) > 0 {
		n := l.concurrent(calls)
		if n < 2 {
			if err := l.runCall(ctx, calls[0], nil); err != nil {
				return err
			}
			calls = calls[1:]
			continue
		}
		l.Agent.Set(func(i *event.Info) { i.State, i.Doing = event.Running, fmt.Sprintf("%d tools", n) })
		// They start in the order of the reply, because tasks are numbered as they start.
		side := calls[:n]
		err := runParallel(n, func(i int, f func()) { l.o.Go("tool "+side[i].Name, f) }, func(i int, line func(start func())) error {
			return l.runCall(ctx, side[i], line)
		})
		if err != nil {
			return err
		}
		calls = calls[n:]
	}
	return nil
}

// concurrent returns how many of the first calls may run concurrently.
func (l *Loop) concurrent(calls []history.Call) int {
	word := ""
	for n, c := range calls {
		call, err := l.parse(c)
		if n == 0 && err == nil {
			word = call.Beside
		}
		if err != nil || l.own.repeats.Asks(c.ID) || word == "" || call.Beside != word || l.o.Gate.Decide(call.Action).Decision != permission.Allow {
			return n
		}
	}
	return len(calls)
}

// runParallel runs n functions at once, each in a goroutine that start begins. Each gets a function
// line, which it calls with the part that must happen in order: line waits until the previous
// function has done its part. A function that never calls line holds up no other.
func runParallel(n int, start func(i int, f func()), run func(i int, line func(begin func())) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	before := make(chan struct{})
	close(before)
	for i := range n {
		all.Add(1)
		// Each closes its own channel once it has begun, and the next one waits for that.
		mine, turn := make(chan struct{}), before
		before = mine
		start(i, func() {
			defer all.Done()
			var once sync.Once
			line := func(begin func()) {
				once.Do(func() {
					<-turn
					begin()
					close(mine)
				})
			}
			errs[i] = run(i, line)
			line(func() {}) // if it never began
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
