package event

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fantail/agents/history"
	"fantail/store"
)

// A reply is saved in pieces while it streams, so that a crash loses no more than its last second. When it is over,
// its entries replace the pieces, or refer to them if they are long.

const (
	saidAfter = 900 * time.Millisecond // with the commit, text is on disk within a second of its arrival
	saidAt    = 1 << 20                // this many bytes are saved at once
)

// ScribeOptions is what a ReplySaver needs: what it saves, where, and how it reports errors.
type ScribeOptions struct {
	DB      *store.DB
	Turn    int64
	Model   string
	Go      func(name string, f func())
	Trouble func(err error) // saving fails; nil: it works again
}

// ReplySaver saves one reply. From the first piece of text on it has a goroutine, so that a slow or failing disk never
// delays the stream. What can't be saved now is retried with the next piece, and in the end recorded, or refused, with
// the whole reply.
type ReplySaver struct {
	ScribeOptions

	due  chan struct{} // a token: there is unsaved text
	much chan struct{} // a token: there is saidAt of it
	over chan struct{} // closed when the reply is over
	done chan struct{} // closed when the goroutine ended; nil: it never started

	mu    sync.Mutex
	heard []*history.BlockText // of each block that has text
	fresh int                  // bytes heard since the last write
	try   int                  // counts the attempts at the reply

	// These belong to the goroutine until it ends.
	wrote bool // something may be on disk
	doubt bool // the pieces on disk may differ from the words
	tried int  // the attempt last saved
}

func NewScribe(s ScribeOptions) *ReplySaver {
	return &ReplySaver{ScribeOptions: s, due: make(chan struct{}, 1), much: make(chan struct{}, 1), over: make(chan struct{})}
}

// Hear takes the next piece of the reply.
func (s *ReplySaver) Hear(d Delta) {
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
	nudgeScribe(s.due)
	if much {
		nudgeScribe(s.much)
	}
}

// Void discards the reply: the request is retried.
func (s *ReplySaver) Void() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.heard, s.fresh = nil, 0
	s.try++
	s.mu.Unlock()
	if s.done != nil {
		nudgeScribe(s.due)
	}
}

// End waits until nothing is being saved, and reports whether anything may have been.
func (s *ReplySaver) End() bool {
	close(s.over)
	if s.done != nil {
		<-s.done
	}
	return s.wrote
}

// run saves the pieces as they come, a little later each time, until the reply is over.
func (s *ReplySaver) run() {
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
			nudgeScribe(s.due)
		case failed:
			failed = false
			s.Trouble(nil)
		}
	}
}

// write saves the pieces that are not on disk.
func (s *ReplySaver) write() error {
	s.mu.Lock()
	heard := append([]*history.BlockText(nil), s.heard...)
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
		s.doubt = true // it may have taken effect all the same
		return err
	}
	s.doubt = false
	for i, w := range heard {
		w.Wrote(now[i].head, now[i].upTo)
	}
	return nil
}

// look finds how much of the words is on disk, and removes pieces of others: of an attempt that failed, or of a commit
// that only seemed to fail.
func (s *ReplySaver) look(tx *store.Tx, heard []*history.BlockText, stands map[int64]int) error {
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

// nudgeScribe puts a token into a one-slot channel unless it holds one.
func nudgeScribe(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
