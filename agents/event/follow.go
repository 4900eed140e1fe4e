package event

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"fantail/agents/history"
	"fantail/store"
)

// ErrBehind is the error of a reader that left too much unread: what it has not read is in the transcript.
var ErrBehind = errors.New("too much of what came was not read")

// How far a reader may fall behind, in bytes, and the most and the least that an event counts.
const (
	MaxBehind  = 1 << 20
	maxCounts  = 16 << 10
	leastCount = 256
)

// page is how many entries are read at once.
const page = 100

// Followers makes followers of agents.
type Followers struct {
	DB        *store.DB
	Subscribe func() (*Feed, []Event)
	Go        func(name string, f func())
}

// Follower is one reader of one agent. Entries are read from the database in their turn, so that they come in order,
// whichever process wrote them; everything else waits in a bounded queue. Next and Close must be called by one
// goroutine.
type Follower struct {
	room   Followers
	agent  int64
	feed   *Feed
	behind func()
	closed chan struct{}

	after    int64 // the last entry that was returned
	replayed bool  // the transcript was

	mu    sync.Mutex
	queue []item
	size  int  // of the queue, in bytes
	over  bool // the reader has fallen behind
	news  chan struct{}
}

// item is an event that waits.
type item struct {
	event Event // an Appended has no entries
	upTo  int64 // of an Appended: its last entry; 0: none
	size  int
}

// Begin returns a function that starts to follow the agent with that id. The Follower calls behind, at most once and
// from another goroutine, when the reader has fallen behind.
func (r Followers) Begin(agent int64) func(behind func()) *Follower {
	return func(behind func()) *Follower { return r.follow(agent, behind) }
}

func (r Followers) follow(agent int64, behind func()) *Follower {
	feed, was := r.Subscribe()
	f := &Follower{
		room: r, agent: agent, feed: feed, behind: behind, closed: make(chan struct{}), news: make(chan struct{}, 1),
	}
	f.add(was)
	if !slices.ContainsFunc(f.queue, func(q item) bool { _, is := q.event.(Changed); return is }) {
		f.queue = append(f.queue, item{event: Closed{Agent: agent}})
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

// Close ends the Follower.
func (f *Follower) Close() {
	f.feed.Close()
	close(f.closed)
}

// Next returns the next event, and waits until there is one or ctx ends. First come the entries of the transcript;
// then a Changed, or a Closed if the agent's tab is closed; then events as they happen. All entries of an agent that
// has ended come before the Changed that says so. The error is [ErrBehind] if the reader fell behind, and ctx's cause
// if ctx has ended.
func (f *Follower) Next(ctx context.Context) (Event, error) {
	e, err := f.next(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return e, err
}

func (f *Follower) next(ctx context.Context) (Event, error) {
	if !f.replayed {
		es, err := f.entries(ctx, math.MaxInt64, page)
		if err != nil || len(es) > 0 {
			return Appended{Agent: f.agent, Entries: es}, err
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

// whole returns the event of an item; nil: it was returned already.
func (f *Follower) whole(ctx context.Context, q item) (Event, error) {
	switch e := q.event.(type) {
	case Appended:
		es, err := f.entries(ctx, q.upTo, 0)
		if err != nil || len(es) == 0 && !e.Live {
			return nil, err
		}
		e.Entries = es
		return e, nil
	case Changed:
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
		return Appended{Agent: f.agent, Entries: es}, nil
	}
	return q.event, nil
}

// entries reads the entries after those that were returned, up to one and at most that many; 0: all.
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

// catchUp makes the queue continue where the transcript that was read ends. The feed gets entries a moment after they
// are in the database; after a write of our own, even an empty one, it has all that were read. The streamed pieces of
// a reply among them are dropped.
func (f *Follower) catchUp(ctx context.Context) error {
	if err := f.room.DB.Write(ctx, "follow an agent", func(*store.Tx) error { return nil }); err != nil {
		return fmt.Errorf("follow an agent: %w", err)
	}
	f.pull()
	f.mu.Lock()
	defer f.mu.Unlock()
	last := -1
	for n, q := range f.queue {
		if a, is := q.event.(Appended); is && a.Live && q.upTo > 0 && q.upTo <= f.after {
			last = n
		}
	}
	kept := f.queue[:0]
	f.size = 0
	for n, q := range f.queue {
		if n <= last {
			switch q.event.(type) {
			case Appended, Delta, Void:
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
func (f *Follower) pull() { f.add(f.feed.Take()) }

// add queues events.
func (f *Follower) add(es []Event) {
	f.mu.Lock()
	was := f.over
	for _, e := range es {
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
func (f *Follower) put(e Event) {
	q := item{event: e, size: leastCount}
	ours := false
	switch e := e.(type) {
	case Changed:
		ours = e.ID == f.agent
	case Appended:
		ours = e.Agent == f.agent
		for _, entry := range e.Entries {
			q.upTo = max(q.upTo, entry.Seq)
			q.size = min(q.size+weight(entry), maxCounts)
		}
		q.event = Appended{Agent: e.Agent, Live: e.Live}
	case Delta:
		ours = e.Agent == f.agent
		q.size += len(e.Text)
	case Void:
		ours = e.Agent == f.agent
	case Output:
		ours = e.Agent == f.agent
		q.size += len(e.Tail)
	case Closed:
		ours = e.Agent == f.agent
	}
	if !ours || f.over {
		return
	}
	f.replaces(e)
	if f.size > MaxBehind {
		f.queue, f.size, f.over = nil, 0, true
		return
	}
	f.queue = append(f.queue, q)
	f.size += q.size
}

// replaces removes the event that e supersedes: the neighbouring Changed, or the earlier Output of its call.
func (f *Follower) replaces(e Event) {
	at := -1
	switch e := e.(type) {
	case Changed:
		if n := len(f.queue); n > 0 {
			if _, is := f.queue[n-1].event.(Changed); is {
				at = n - 1
			}
		}
	case Output:
		at = slices.IndexFunc(f.queue, func(q item) bool {
			o, is := q.event.(Output)
			return is && o.Call == e.Call
		})
	}
	if at >= 0 {
		f.size -= f.queue[at].size
		f.queue = slices.Delete(f.queue, at, at+1)
	}
}

// weight returns how much an entry says, in bytes.
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
