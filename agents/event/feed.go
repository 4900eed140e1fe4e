package event

import (
	"strings"
	"sync"
)

// Feed is one reader's view of the pool's events. Neighbouring deltas of a
// block and neighbouring changes of an agent coalesce, so a slow reader costs
// only the text itself and never holds up an agent.
type Feed struct {
	news  chan struct{}
	leave func() // called by Close

	mu     sync.Mutex
	events []Event
	delta  *growing        // the delta that ends events
	mailed map[Mailed]bool // those among events
}

// growing collects the text of neighbouring deltas.
type growing struct {
	head Delta
	text strings.Builder
}

func NewFeed(leave func(*Feed)) *Feed {
	f := &Feed{news: make(chan struct{}, 1), mailed: map[Mailed]bool{}}
	f.leave = func() { leave(f) }
	return f
}

// Wait returns a channel that has a token when there is news.
func (f *Feed) Wait() <-chan struct{} { return f.news }

// Take returns all events since the last Take, in order.
func (f *Feed) Take() []Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	es := f.events
	f.events = nil
	clear(f.mailed)
	return es
}

// Close ends the feed.
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
	if m, ok := e.(Mailed); ok {
		if f.mailed[m] {
			return // who reads the first one reads all of that inbox
		}
		f.mailed[m] = true
	}
	if d, ok := e.(Delta); ok {
		if g := f.delta; g == nil || g.head.Agent != d.Agent || g.head.Block != d.Block || g.head.Thinking != d.Thinking {
			f.settle()
			f.delta = &growing{head: d}
		}
		f.delta.text.WriteString(d.Text)
	} else {
		f.settle()
		f.push(e)
	}
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// push appends e, or replaces the last event if e says the same thing anew.
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

// Hub spreads events to the feeds and keeps each agent's live reply, so that a
// feed that joins in the middle of one sees it whole, or the end of it if it is long.
type Hub struct {
	mu    sync.Mutex
	feeds map[*Feed]struct{}
	live  map[int64][]Delta // the last of each block
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

// Join adds f after telling it what is now.
func (h *Hub) Join(f *Feed, now []Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range now {
		f.put(e)
	}
	for _, bs := range h.live {
		for _, d := range bs {
			d.Text = d.Words.Before(d.UpTo)
			f.put(d)
		}
	}
	h.feeds[f] = struct{}{}
}

func (h *Hub) Leave(f *Feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.feeds, f)
}
