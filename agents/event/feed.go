package event

import (
	"strings"
	"sync"
)

// Feed is one reader's view of the pool's events. Neighbouring deltas of a block and neighbouring changes of an agent
// coalesce, so a slow reader costs only the text itself and never delays an agent.
type Feed struct {
	news  chan struct{}
	soon  chan struct{} // not for what grows all the time
	leave func()        // called by Close

	mu     sync.Mutex
	events []Event
	delta  *growing        // still growing; comes after all of events
	mailed map[Mailed]bool // those in events
	quiet  bool            // what grows all the time is left out
}

// growing collects the text of neighbouring deltas. A builder prevents a slow reader's reply from costing its length
// squared.
type growing struct {
	head Delta
	text strings.Builder
}

func NewFeed(leave func(*Feed)) *Feed {
	f := &Feed{news: make(chan struct{}, 1), soon: make(chan struct{}, 1), mailed: map[Mailed]bool{}}
	f.leave = func() { leave(f) }
	return f
}

// Quiet leaves out the words of replies and the output of commands, until each is an entry: the feed does not grow
// with them while the reader waits.
func (f *Feed) Quiet() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.quiet = true
}

// Wait returns a channel that holds a token when there is news.
func (f *Feed) Wait() <-chan struct{} { return f.news }

// Soon returns a channel that holds a token when some of the news is more than the next words of a reply or a
// command's output so far, of which more come in a moment.
func (f *Feed) Soon() <-chan struct{} { return f.soon }

// Take returns all events since the last Take, in order.
func (f *Feed) Take() []Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	es := f.events
	f.events = nil
	clear(f.mailed)
	for _, token := range [...]chan struct{}{f.news, f.soon} {
		select {
		case <-token:
		default:
		}
	}
	return es
}

// Close unsubscribes the feed.
func (f *Feed) Close() { f.leave() }

// settle turns the growing delta into an event.
func (f *Feed) settle() {
	if f.delta == nil {
		return
	}
	d := f.delta.head
	d.Text = f.delta.text.String()
	f.events = append(f.events, d)
	f.delta = nil
}

func (f *Feed) put(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e.(type) {
	case Delta, Output:
		if f.quiet {
			return
		}
	}
	if m, ok := e.(Mailed); ok {
		if f.mailed[m] {
			return // the reader of the first one reads the whole inbox
		}
		f.mailed[m] = true
	}
	if d, ok := e.(Delta); ok {
		g := f.delta
		if g == nil || g.head.Agent != d.Agent || g.head.Block != d.Block || g.head.Thinking != d.Thinking {
			f.settle()
			f.delta = &growing{head: d}
		}
		f.delta.text.WriteString(d.Text)
	} else {
		f.settle()
		f.push(e)
	}
	nudge(f.news)
	switch e.(type) {
	case Delta, Output:
	default:
		nudge(f.soon)
	}
}

func nudge(token chan<- struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

// push appends e, or replaces the last event if e supersedes it.
func (f *Feed) push(e Event) {
	if n := len(f.events); n > 0 && replaces(e, f.events[n-1]) {
		f.events[n-1] = e
		return
	}
	f.events = append(f.events, e)
}

func replaces(e, old Event) bool {
	switch e := e.(type) {
	case Changed:
		o, ok := old.(Changed)
		return ok && o.ID == e.ID
	case Output:
		o, ok := old.(Output)
		return ok && o.Agent == e.Agent && o.Call == e.Call
	case Tally:
		_, ok := old.(Tally)
		return ok
	}
	return false
}

// Hub delivers events to all feeds. It stores each agent's live reply, so that a feed that joins in the middle of one
// still gets it whole (or its end, if it is long).
type Hub struct {
	mu    sync.Mutex
	feeds map[*Feed]struct{}
	live  map[int64][]Delta // the latest delta of each block
}

func NewHub() *Hub {
	return &Hub{feeds: map[*Feed]struct{}{}, live: map[int64][]Delta{}}
}

func (h *Hub) Emit(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch e := e.(type) {
	case Delta:
		bs := h.live[e.Agent]
		if n := len(bs); n > 0 && bs[n-1].Block == e.Block {
			bs[n-1] = e
		} else {
			h.live[e.Agent] = append(bs, e)
		}
	case Void:
		delete(h.live, e.Agent)
	case Appended:
		if e.Live {
			delete(h.live, e.Agent)
		}
	}
	for f := range h.feeds {
		f.put(e)
	}
}

// Join adds f, and returns the current state: now, and the replies so far. The first event in f is the first change of
// that state. The state is returned, not sent to f, so that no reader takes a change for the state before it.
func (h *Hub) Join(f *Feed, now []Event) []Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, bs := range h.live {
		for _, d := range bs {
			d.Text = d.Words.Before(d.UpTo)
			now = append(now, d)
		}
	}
	h.feeds[f] = struct{}{}
	return now
}

func (h *Hub) Leave(f *Feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.feeds, f)
}
