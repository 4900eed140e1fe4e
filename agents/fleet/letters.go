package fleet

import (
	"context"
	"sync"
)

// Letters are messages to tasks that have not started, which have no inbox yet. A task's agent starts only once they
// have come: otherwise a quick agent could end before its mail is there.
type Letters struct {
	mu sync.Mutex
	to map[int64]*letters // by task
}

type letters struct {
	open int
	none chan struct{} // closed when none is open any more
}

// Writes notes that a letter to a task is being written. The writer calls sent, once or more, when it was sent or
// won't be.
func (ls *Letters) Writes(task int64) (sent func()) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.to[task]
	if l == nil {
		if l = (&letters{none: make(chan struct{})}); ls.to == nil {
			ls.to = map[int64]*letters{}
		}
		ls.to[task] = l
	}
	l.open++
	return sync.OnceFunc(func() {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		if l.open--; l.open == 0 {
			delete(ls.to, task)
			close(l.none)
		}
	})
}

// Sent waits until no letter to the task is open. It takes no time if there is none, as for task 0.
func (ls *Letters) Sent(ctx context.Context, task int64) {
	ls.mu.Lock()
	l := ls.to[task]
	ls.mu.Unlock()
	if l == nil {
		return
	}
	select {
	case <-l.none:
	case <-ctx.Done():
	}
}
