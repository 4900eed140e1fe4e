package agents

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"fantail/store"
)

// A reply that is being streamed is written down in pieces, so that a crash takes
// no more of it than the last second. When it is over its entries take the place
// of the pieces, or take them over if they are long.

const (
	saidAfter = 900 * time.Millisecond // with the commit, text is on disk within a second of its coming
	saidAt    = 1 << 20                // bytes that are written down at once
)

// saying is how much of a block's text is written down.
type saying struct {
	head int64 // its first piece; 0: nothing is
	upTo int   // bytes
}

// scribe writes down one reply. It has a goroutine from the first piece of text on,
// so that a disk that is slow or refuses never holds up the stream: what can't be
// written down now is tried again with what comes next, and in the end recorded, or
// refused, with the whole reply.
type scribe struct {
	a     *agent
	turn  int64
	model string

	due  chan struct{} // a token: there is text that is not written down
	much chan struct{} // a token: there is saidAt of it
	over chan struct{} // closed: the reply is over
	done chan struct{} // closed when the goroutine ended; nil: it never began

	mu    sync.Mutex
	heard []Delta  // the last of each block
	said  []saying // of each block
	fresh int      // bytes heard since the last look
	wrote bool     // something was, or is being, written down
	stale bool     // what was written down is of a try that failed
	try   int      // counts the tries
}

func newScribe(a *agent, model string) *scribe {
	return &scribe{a: a, turn: a.turn, model: model, due: make(chan struct{}, 1), much: make(chan struct{}, 1), over: make(chan struct{})}
}

// hear takes the next piece of the reply.
func (s *scribe) hear(d Delta) {
	if s == nil {
		return
	}
	s.mu.Lock()
	for len(s.heard) <= d.Block { // those between are calls
		s.heard, s.said = append(s.heard, Delta{}), append(s.said, saying{})
	}
	s.heard[d.Block] = d
	s.fresh += len(d.Text)
	much := s.fresh >= saidAt
	s.mu.Unlock()
	if s.done == nil {
		s.done = make(chan struct{})
		s.a.p.o.Go("write down a reply", s.run)
	}
	token(s.due)
	if much {
		token(s.much)
	}
}

// void forgets the reply: it is tried again.
func (s *scribe) void() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.heard, s.said, s.fresh = nil, nil, 0
	s.stale = s.stale || s.wrote
	s.try++
	s.mu.Unlock()
	if s.done != nil {
		token(s.due)
	}
}

// end waits until nothing is being written down and returns, for each block, what
// was; nil: nothing at all. s is used no more.
func (s *scribe) end() []saying {
	close(s.over)
	if s.done != nil {
		<-s.done
	}
	if !s.wrote {
		return nil
	}
	return append([]saying{}, s.said...)
}

// run writes down what is heard, a little later, until the reply is over.
func (s *scribe) run() {
	defer close(s.done)
	failed := false
	for {
		select {
		case <-s.due:
		case <-s.over:
			return
		}
		t := time.NewTimer(saidAfter)
		select {
		case <-t.C:
		case <-s.much:
		case <-s.over:
			t.Stop()
			return
		}
		t.Stop()
		err := s.write()
		switch {
		case err != nil:
			failed = true
			s.a.trouble(fmt.Errorf("write down the reply: trying again: %w", err))
			token(s.due)
		case failed:
			failed = false
			s.a.set(func(i *Info) { i.Why = "" })
		}
	}
}

// write writes down what was heard and is not written down.
func (s *scribe) write() error {
	s.mu.Lock()
	heard, said, try, stale := append([]Delta(nil), s.heard...), append([]saying(nil), s.said...), s.try, s.stale
	s.fresh = 0
	s.wrote = s.wrote || len(heard) > 0
	s.mu.Unlock()
	if len(heard) == 0 && !stale {
		return nil
	}
	now := make([]saying, len(said))
	err := s.a.p.o.DB.Write(context.Background(), "write down a reply", func(tx *store.Tx) error {
		if stale {
			if err := tx.Unsay(s.turn); err != nil {
				return err
			}
		}
		for i, d := range heard {
			kind := EntryText
			if d.Thinking {
				kind = EntryThinking
			}
			head, err := tx.Say(s.turn, said[i].head, string(kind), s.model, d.whole[said[i].upTo:])
			if err != nil {
				return err
			}
			now[i] = saying{head, len(d.whole)}
		}
		return nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil && !passes(err): // who knows whether it took effect: begin anew
		clear(s.said)
		s.stale = true
	case err == nil && s.try == try:
		copy(s.said, now)
		s.stale = false
	}
	return err
}

// salvage makes entries of what a turn said that none has taken over: its reply was
// cut before it could be recorded.
func (b *batch) salvage(turn int64) error {
	said, err := b.tx.Sayings(turn)
	if err != nil || len(said) == 0 {
		return err
	}
	for _, e := range partial(said) {
		if _, err := b.add(turn, e); err != nil {
			return err
		}
	}
	return b.tx.Unsay(turn)
}

// partial are the entries of a reply that was cut.
func partial(said []store.Saying) (es []Entry) {
	for _, s := range said {
		if strings.TrimSpace(s.Text) == "" {
			continue
		}
		es = append(es, Entry{Kind: EntryKind(s.Kind), Text: s.Text, Model: s.Model, said: saying{s.Head, len(s.Text)}})
	}
	return es
}
