// Package drafts is about what humans left half typed when their screens went.
//
// Does: keep one draft for an agent, and give all of them to the next screen that asks; keep what is being typed on a
// screen, so that it becomes a draft if the screen goes without a word.
//
// Does not: see a prompt box, know what a text means.
//
// Imports: store.
package drafts

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"fantail/store"
)

// Draft is what a human left half typed for an agent.
type Draft = store.Draft

// Rows are the drafts of a workspace. They are safe for concurrent use.
type Rows struct {
	DB *store.DB

	mu     sync.Mutex
	living map[int64]bool // the screens that are there
}

// Screen is what one screen does with them.
type Screen struct {
	rows *Rows
	id   int64         // no other screen has it, of this host or another
	turn chan struct{} // holds a token while rows of this screen are written
	// The token's owner reads and sets these.
	kept bool // there may be rows of what stands in its boxes
	left bool // it is gone
}

// Arrive notes a screen that is there until it leaves.
func (r *Rows) Arrive() *Screen {
	s := &Screen{rows: r, id: 1 + rand.Int64N(1<<62), turn: make(chan struct{}, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.living == nil {
		r.living = map[int64]bool{}
	}
	r.living[s.id] = true
	return s
}

// here are the screens that are there.
func (r *Rows) here() []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.living))
}

func (r *Rows) gone(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.living, id)
}

// begin waits until nothing of the screen's is being written; end ends that.
func (s *Screen) begin(ctx context.Context) (end func(), err error) {
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Save keeps what stands in the screen's boxes, in place of what stood there before. No other screen is offered that
// while this one is there.
func (s *Screen) Save(ctx context.Context, ds []Draft) error {
	end, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if s.left {
		return nil // what it leaves is there already
	}
	s.kept = true
	return s.rows.DB.Write(ctx, "keep what is typed", func(tx *store.Tx) error { return store.KeepTyping(tx, s.id, ds) })
}

// Leave keeps drafts, and returns the older ones of the same agents, which it no longer has. The screen is gone then.
func (s *Screen) Leave(ctx context.Context, ds []Draft) (older []Draft, err error) {
	defer s.rows.gone(s.id) // if nothing more can be written, what was saved is offered
	end, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	s.left = true
	if len(ds) == 0 && !s.kept {
		return nil, nil
	}
	err = s.rows.DB.Write(ctx, "leave drafts", func(tx *store.Tx) error {
		older = nil
		for _, d := range ds {
			was, ok, err := store.LeaveDraft(tx, d)
			if err != nil {
				return err
			}
			if ok {
				older = append(older, was)
			}
		}
		return store.KeepTyping(tx, s.id, nil)
	})
	return older, err
}

// Take hands over all drafts, by agent: no other screen gets them.
func (s *Screen) Take(ctx context.Context) (ds []Draft, err error) {
	living := s.rows.here()
	err = s.rows.DB.Write(ctx, "take drafts", func(tx *store.Tx) (err error) {
		ds, err = store.TakeDrafts(tx, living)
		return err
	})
	return ds, err
}
