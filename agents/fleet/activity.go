package fleet

import (
	"fmt"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/tasks"
)

// Working is a call that runs.
type Working struct {
	Call  string
	Title string
	Since time.Time
}

// Now is what an agent or a queued task does or waits for.
type Now struct {
	Info   event.Info // only the name, for a task that has not started
	Calls  []Working  // the tools that run
	Asked  time.Time  // when the current request was sent; zero: none
	Queued string     // why the task has not started; "": it is not queued
}

// Does returns what the agent or queued task of that name does or waits for.
func (f *Fleet) Does(name string) (Now, error) {
	f.Lock()
	defer f.Unlock()
	if q := f.Queue.Named(name); q != nil {
		return Now{Info: event.Info{Name: name, State: event.Queued}, Queued: f.HoldUp(q)}, nil
	}
	for _, a := range f.agents {
		if a.Info.Name != name {
			continue
		}
		n := Now{Info: a.Info, Calls: append([]Working(nil), a.calls...)}
		n.Info.Active = a.active
		if a.Info.State == event.Queued { // a fork
			n.Queued = f.crowded(a.Slot(), f.Queue.Full(a.Slot()))
		}
		if a.Info.State == event.Running && a.Info.Doing == "streaming" {
			n.Asked = a.asked
		}
		return n, nil
	}
	return Now{}, fmt.Errorf("%q: %w", name, tasks.ErrNoAgent)
}

// HoldUp says why a queued task has not started. The caller holds the fleet's mutex.
func (f *Fleet) HoldUp(q *tasks.QueuedWork) string {
	switch {
	case q.Held == tasks.Outside:
		return "it came from outside: /run lets it in"
	case q.Held == tasks.Unsealed:
		return "this host did not write it as it is: /run asks whether it may start"
	case !f.Queue.Wanted(q):
		return "nobody has started it: /run does"
	case len(q.Needs) > 0:
		return "waits for " + strings.Join(q.Waits(), ", ")
	}
	return f.crowded(q.Slot, f.Queue.Full(q.Slot))
}

// crowded says why an agent that wants that slot can't run. full is from [tasks.Queue.Full]. The caller holds the fleet's
// mutex.
func (f *Fleet) crowded(s tasks.Slot, full string) string {
	switch full {
	case "":
		return "it is about to start"
	case "cap":
		return fmt.Sprintf("%d agents run, as many as may at once", f.Queue.Running())
	case "window":
		w, _ := f.Queue.Window(s.Owner)
		return fmt.Sprintf("so many of its queue run as /run %d allows", w.Most)
	default:
		return full + " serves as many agents as it does at once"
	}
}
