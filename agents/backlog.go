package agents

import (
	"sort"
	"time"

	"fantail/store"
)

// queued is a task that has not started, as the pool keeps it in memory.
type queued struct {
	id, queue, place int64
	name             string
	slot             slot             // what its agent will hold
	now              bool             // it starts without a window
	held             bool             // from outside, and no /run has let it in: nothing starts it
	limit            time.Duration    // of the /run that started it; its own time-out wins
	needs            map[int64]string // the unfinished tasks it waits for -> their names
}

// enqueue keeps a queued task in memory. The caller holds mu, or is alone.
func (p *Pool) enqueue(t store.Task, needs []store.Task) *queued {
	q := &queued{
		id: t.ID, queue: t.Queue, place: t.Place, name: t.Name, slot: slot{owner: t.Queue},
		held: fromOutside(t.Origin), needs: map[int64]string{},
	}
	if t.Model != "" {
		if m, err := p.o.Resolve(t.Model); err == nil {
			q.slot.vendor, q.slot.atOnce = m.Vendor, m.AtOnce
		}
	}
	for _, n := range needs {
		if n.State != taskFinished {
			q.needs[n.ID] = n.Name
		}
	}
	p.queued[t.ID], p.names = q, nil
	return q
}

// queueOf lists the queued tasks of one agent in their order. The caller holds mu.
func (p *Pool) queueOf(owner int64) []*queued {
	var qs []*queued
	for _, q := range p.queued {
		if q.queue == owner {
			qs = append(qs, q)
		}
	}
	sort.Slice(qs, func(i, j int) bool { return qs[i].before(qs[j]) })
	return qs
}

// before orders tasks, those of different queues too: first come, first served,
// but for what was moved.
func (q *queued) before(r *queued) bool {
	if q.place != r.place {
		return q.place < r.place
	}
	return q.id < r.id
}

// wanted reports whether q starts by itself as soon as it can. The caller holds mu.
func (p *Pool) wanted(q *queued) bool {
	_, open := p.windows[q.queue]
	return !q.held && (open || q.now)
}

// left forgets a task that no longer waits to start, with those that waited for
// its end if it has ended. The caller holds mu.
func (p *Pool) left(task int64, ended bool) {
	if p.queued[task] != nil {
		delete(p.queued, task)
		p.names = nil
	}
	if ended {
		for _, q := range p.queued {
			delete(q.needs, task)
		}
	}
	p.told()
}

// willStart reports whether all that q waits for can end. alive names who can
// act; nil: only a task that nobody starts keeps another from ending. The caller
// holds mu.
func (p *Pool) willStart(q *queued, alive map[string]bool) bool {
	for id, name := range q.needs {
		if alive != nil {
			if !alive[name] {
				return false
			}
		} else if need := p.queued[id]; need != nil && (!p.wanted(need) || !p.willStart(need, nil)) {
			return false
		}
	}
	return true
}

// queuedAs is the queued task of that name, nil if there is none. The caller
// holds mu.
func (p *Pool) queuedAs(name string) *queued {
	for _, q := range p.queued {
		if q.name == name {
			return q
		}
	}
	return nil
}

// starting is the queued task of that name that starts by itself as soon as it
// can, 0 if there is none.
func (p *Pool) starting(name string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.queuedAs(name); q != nil && p.wanted(q) {
		return q.id
	}
	return 0
}

// needNames are the names of what q waits for, sorted.
func needNames(q *queued) []string {
	var names []string
	for _, name := range q.needs {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// queuedNames lists the names of all queued tasks in the order they came. The
// caller holds mu.
func (p *Pool) queuedNames() []string {
	qs := make([]*queued, 0, len(p.queued))
	for _, q := range p.queued {
		qs = append(qs, q)
	}
	sort.Slice(qs, func(i, j int) bool { return qs[i].before(qs[j]) })
	names := make([]string, len(qs))
	for i, q := range qs {
		names[i] = q.name
	}
	return names
}
