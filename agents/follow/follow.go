// Package follow is what one agent says and does, for a reader that shows no screen.
//
// Does: return the agent's transcript page by page, then its events in order, each thing exactly once; let go of a
// reader that falls behind.
//
// Does not: know who reads, print anything, hold up an agent.
//
// Imports: agents/event, agents/history, store.
package follow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/store"
)

// ErrBehind is the error of a reader that left too much unread: what it has not read is in the transcript.
var ErrBehind = errors.New("too much of what came was not read")

// How far a reader may fall behind, in bytes, and what an event counts for that whose text is on disk.
const (
	MostBehind = 1 << 20
	mostCounts = 16 << 10
	leastCount = 256
)

// page is how many entries are read at once.
const page = 100

// Room is where agents are followed.
type Room struct {
	DB        *store.DB
	Subscribe func() *event.Feed
	Go        func(name string, f func())
}

// Follower is one reader of one agent. Entries are read from the database when it is their turn, so that they come in
// their order, whoever wrote them; all else waits in a bounded queue. Next and Close belong to one goroutine.
type Follower struct {
	room   Room
	agent  int64
	feed   *event.Feed
	behind func()
	closed chan struct{}

	after    int64 // the last entry that was returned
	replayed bool  // the transcript was

	mu    sync.Mutex
	queue []item
	size  int  // of the queue, in bytes
	over  bool // the reader fell behind
	news  chan struct{}
}

// item is an event that waits.
type item struct {
	event event.Event // an Appended has no entries
	upTo  int64       // of an Appended: its last entry; 0: none
	size  int
}

// Begin returns what begins to follow the agent with that id. It calls behind, at most once and from another goroutine,
// when the reader has fallen behind.
func (r Room) Begin(agent int64) func(behind func()) *Follower {
	return func(behind func()) *Follower { return r.follow(agent, behind) }
}

func (r Room) follow(agent int64, behind func()) *Follower {
	f := &Follower{
		room: r, agent: agent, feed: r.Subscribe(), behind: behind, closed: make(chan struct{}), news: make(chan struct{}, 1),
	}
	f.pull()
	if !slices.ContainsFunc(f.queue, func(q item) bool { _, is := q.event.(event.Changed); return is }) {
		f.queue = append(f.queue, item{event: event.Closed{Agent: agent}})
	}
	r.Go("follow an agent", func() {
		for {
			select {
			case <-f.feed.Wait():
				f.pull()
			case <-f.closed:
				return
			}
		}
	})
	return f
}

// Close ends it.
func (f *Follower) Close() {
	f.feed.Close()
	close(f.closed)
}

// Next returns what comes next, and waits until there is something or ctx ends. First come the entries of the
// transcript; then a Changed, or a Closed where the agent's tab is; then what happens. All entries of an agent that has
// ended come before the Changed that says so. The error is [ErrBehind] if the reader fell behind, and ctx's cause if ctx
// has ended, wherever that was noticed first.
func (f *Follower) Next(ctx context.Context) (event.Event, error) {
	e, err := f.next(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return e, err
}

func (f *Follower) next(ctx context.Context) (event.Event, error) {
	if !f.replayed {
		es, err := f.entries(ctx, math.MaxInt64, page)
		if err != nil || len(es) > 0 {
			return event.Appended{Agent: f.agent, Entries: es}, err
		}
		if err := f.catchUp(ctx); err != nil {
			return nil, err
		}
		f.replayed = true
	}
	for {
		q, some, err := f.take()
		if err != nil {
			return nil, err
		}
		if some {
			e, err := f.whole(ctx, q)
			if e != nil || err != nil {
				return e, err
			}
			continue
		}
		select {
		case <-f.news:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take takes the first event off the queue.
func (f *Follower) take() (q item, some bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return q, false, ErrBehind
	}
	if len(f.queue) == 0 {
		return q, false, nil
	}
	q = f.queue[0]
	f.queue[0] = item{}
	f.queue = f.queue[1:]
	f.size -= q.size
	return q, true, nil
}

// whole is the event of an item; nil: it was returned already.
func (f *Follower) whole(ctx context.Context, q item) (event.Event, error) {
	switch e := q.event.(type) {
	case event.Appended:
		es, err := f.entries(ctx, q.upTo, 0)
		if err != nil || len(es) == 0 && !e.Live {
			return nil, err
		}
		e.Entries = es
		return e, nil
	case event.Changed:
		if !e.State.Terminal() {
			return e, nil
		}
		es, err := f.entries(ctx, math.MaxInt64, 0)
		if err != nil || len(es) == 0 {
			return e, err
		}
		f.mu.Lock()
		f.queue = slices.Insert(f.queue, 0, q)
		f.size += q.size
		f.mu.Unlock()
		return event.Appended{Agent: f.agent, Entries: es}, nil
	}
	return q.event, nil
}

// entries reads the entries behind those that were returned, up to one and at most so many; 0: all.
func (f *Follower) entries(ctx context.Context, upTo int64, most int) (es []history.Entry, err error) {
	for more := true; more && f.after < upTo; {
		err := f.room.DB.Read(ctx, func(rx *store.Rx) error {
			rows, err := rx.EntriesAfter(f.agent, f.after, page)
			more = len(rows) == page && most == 0
			if n := slices.IndexFunc(rows, func(r store.Entry) bool { return r.Seq > upTo }); n >= 0 {
				rows, more = rows[:n], false
			}
			if n := len(rows); n > 0 {
				f.after = rows[n-1].Seq
			}
			es = append(es, history.DecodeAll(rows)...)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read the transcript: %w", err)
		}
	}
	return es, nil
}

// catchUp has the queue go on where the transcript that was read ends. The feed hears of entries a moment after they
// are in the database; behind a write of our own, though it writes nothing, it has heard of all that were read. What
// was streamed of a reply that is among them goes.
func (f *Follower) catchUp(ctx context.Context) error {
	if err := f.room.DB.Write(ctx, "follow an agent", func(*store.Tx) error { return nil }); err != nil {
		return fmt.Errorf("follow an agent: %w", err)
	}
	f.pull()
	f.mu.Lock()
	defer f.mu.Unlock()
	last := -1
	for n, q := range f.queue {
		if a, is := q.event.(event.Appended); is && a.Live && q.upTo > 0 && q.upTo <= f.after {
			last = n
		}
	}
	kept := f.queue[:0]
	f.size = 0
	for n, q := range f.queue {
		if n <= last {
			switch q.event.(type) {
			case event.Appended, event.Delta, event.Void:
				continue
			}
		}
		kept = append(kept, q)
		f.size += q.size
	}
	clear(f.queue[len(kept):])
	f.queue = kept
	return nil
}

// pull queues what the feed has.
func (f *Follower) pull() {
	f.mu.Lock()
	was := f.over
	for _, e := range f.feed.Take() {
		f.put(e)
	}
	fell := f.over && !was
	f.mu.Unlock()
	select {
	case f.news <- struct{}{}:
	default:
	}
	if fell {
		f.behind()
	}
}

// put queues an event that concerns the agent.
func (f *Follower) put(e event.Event) {
	q := item{event: e, size: leastCount}
	ours := false
	switch e := e.(type) {
	case event.Changed:
		ours = e.ID == f.agent
	case event.Appended:
		ours = e.Agent == f.agent
		for _, entry := range e.Entries {
			q.upTo = max(q.upTo, entry.Seq)
			q.size = min(q.size+weight(entry), mostCounts)
		}
		q.event = event.Appended{Agent: e.Agent, Live: e.Live}
	case event.Delta:
		ours = e.Agent == f.agent
		q.size += len(e.Text)
	case event.Void:
		ours = e.Agent == f.agent
	case event.Output:
		ours = e.Agent == f.agent
		q.size += len(e.Tail)
	case event.Closed:
		ours = e.Agent == f.agent
	}
	if !ours || f.over {
		return
	}
	f.replaces(e)
	if f.size > MostBehind {
		f.queue, f.size, f.over = nil, 0, true
		return
	}
	f.queue = append(f.queue, q)
	f.size += q.size
}

// replaces removes what e makes superfluous: the neighbouring Changed, or the earlier Output of its call.
func (f *Follower) replaces(e event.Event) {
	at := -1
	switch e := e.(type) {
	case event.Changed:
		if n := len(f.queue); n > 0 {
			if _, is := f.queue[n-1].event.(event.Changed); is {
				at = n - 1
			}
		}
	case event.Output:
		at = slices.IndexFunc(f.queue, func(q item) bool {
			o, is := q.event.(event.Output)
			return is && o.Call == e.Call
		})
	}
	if at >= 0 {
		f.size -= f.queue[at].size
		f.queue = slices.Delete(f.queue, at, at+1)
	}
}

// weight is how much an entry says, in bytes.
func weight(e history.Entry) int {
	n := len(e.Text)
	if e.Result != nil {
		n += len(e.Result.Text)
	}
	if e.Shell != nil {
		n += len(e.Shell.Output)
	}
	return n
}
