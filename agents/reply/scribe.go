package reply

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/store"
)

// A reply that is being streamed is written down in pieces, so that a crash takes
// no more of it than the last second. When it is over its entries take the place
// of the pieces, or take them over if they are long.

const (
	saidAfter = 900 * time.Millisecond // with its commit, text is on disk within a second of its coming
	saidAt    = 1 << 20                // bytes that are written down at once
)

// Writing is what a scribe writes down, where, and who hears of trouble.
type Writing struct {
	DB      *store.DB
	Turn    int64
	Model   string
	Go      func(name string, f func())
	Trouble func(err error) // it can't be written down now; nil: it can again
}

// Scribe writes down one reply. It has a goroutine from the first piece of text on,
// so that a disk that is slow or refuses never holds up the stream: what can't be
// written down now is tried again with what comes next, and in the end recorded, or
// refused, with the whole reply.
type Scribe struct {
	Writing

	due  chan struct{} // a token: there is text that is not written down
	much chan struct{} // a token: there is saidAt of it
	over chan struct{} // closed: the reply is over
	done chan struct{} // closed when the goroutine ended; nil: it never began

	mu    sync.Mutex
	heard []*history.Words // of each block that has text
	fresh int              // bytes heard since the last look
	try   int              // counts the tries

	// The goroutine's, until it ended.
	wrote bool // something may be written down
	doubt bool // what is written down may not be what the words say
	tried int  // of which try that is
}

func NewScribe(s Writing) *Scribe {
	return &Scribe{Writing: s, due: make(chan struct{}, 1), much: make(chan struct{}, 1), over: make(chan struct{})}
}

// Hear takes the next piece of the reply.
func (s *Scribe) Hear(d event.Delta) {
	if s == nil {
		return
	}
	s.mu.Lock()
	if n := len(s.heard); n == 0 || s.heard[n-1] != d.Words {
		s.heard = append(s.heard, d.Words)
	}
	s.fresh += len(d.Text)
	much := s.fresh >= saidAt
	s.mu.Unlock()
	if s.done == nil {
		s.done = make(chan struct{})
		s.Go("write down a reply", s.run)
	}
	nudge(s.due)
	if much {
		nudge(s.much)
	}
}

// Void forgets the reply: it is tried again.
func (s *Scribe) Void() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.heard, s.fresh = nil, 0
	s.try++
	s.mu.Unlock()
	if s.done != nil {
		nudge(s.due)
	}
}

// End waits until nothing is being written down and reports whether anything may
// have been.
func (s *Scribe) End() bool {
	close(s.over)
	if s.done != nil {
		<-s.done
	}
	return s.wrote
}

// run writes down what is heard, a little later, until the reply is over.
func (s *Scribe) run() {
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
			s.Trouble(fmt.Errorf("write down the reply: trying again: %w", err))
			nudge(s.due)
		case failed:
			failed = false
			s.Trouble(nil)
		}
	}
}

// write writes down what was heard and is not written down.
func (s *Scribe) write() error {
	s.mu.Lock()
	heard := append([]*history.Words(nil), s.heard...)
	anew := s.try != s.tried
	s.tried, s.fresh = s.try, 0
	s.mu.Unlock()
	s.doubt = s.doubt || anew && s.wrote
	if len(heard) == 0 && !s.doubt {
		return nil
	}
	s.wrote = true
	type written struct {
		head int64
		upTo int
	}
	now := make([]written, len(heard))
	err := s.DB.Write(context.Background(), "write down a reply", func(tx *store.Tx) error {
		stands := map[int64]int{}
		if s.doubt {
			if err := s.look(tx, heard, stands); err != nil {
				return err
			}
		}
		for i, w := range heard {
			head, upTo, rest := w.Rest()
			if n, ok := stands[head]; ok {
				rest = rest[n-upTo:]
				upTo = n
			}
			at, err := tx.Say(s.Turn, head, string(w.Kind), s.Model, rest)
			if err != nil {
				return err
			}
			now[i] = written{at, upTo + len(rest)}
		}
		return nil
	})
	if err != nil {
		s.doubt = true // whether it took effect
		return err
	}
	s.doubt = false
	for i, w := range heard {
		w.Wrote(now[i].head, now[i].upTo)
	}
	return nil
}

// look finds how much of the words stands written down, and forgets what is not
// theirs: of a try that failed, or of a commit that only seemed to fail.
func (s *Scribe) look(tx *store.Tx, heard []*history.Words, stands map[int64]int) error {
	said, err := tx.Sayings(s.Turn)
	if err != nil {
		return err
	}
	var theirs []int64
	for _, w := range heard {
		if head, _, _ := w.Rest(); head != 0 {
			theirs = append(theirs, head)
		}
	}
	for _, t := range said {
		stands[t.Head] = t.Size
	}
	return tx.Unsay(s.Turn, theirs...)
}

// nudge puts a token into a one-slot channel unless one is there.
func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
