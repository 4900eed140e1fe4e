package store

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
)

// Drafts are the drafts of a workspace. They are safe for concurrent use.
type Drafts struct {
	DB *DB

	mu     sync.Mutex
	living map[int64]bool // the current screens
}

// DraftScreen saves the drafts of one screen.
type DraftScreen struct {
	rows *Drafts
	id   int64         // unique among the screens of all hosts
	turn chan struct{} // holds a token while rows of this screen are being written
	// Owned by the holder of the token.
	kept bool // rows of its boxes may exist
	left bool // it has left
}

// Arrive registers a screen until it leaves.
func (r *Drafts) Arrive() *DraftScreen {
	s := &DraftScreen{rows: r, id: 1 + rand.Int64N(1<<62), turn: make(chan struct{}, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.living == nil {
		r.living = map[int64]bool{}
	}
	r.living[s.id] = true
	return s
}

// here returns the current screens.
func (r *Drafts) here() []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.living))
}

func (r *Drafts) gone(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.living, id)
}

// begin waits until no other write of the screen is running; end ends this one.
func (s *DraftScreen) begin(ctx context.Context) (end func(), err error) {
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Save stores the text in the screen's boxes, in place of the text before. It is offered to no other screen while this
// one exists.
func (s *DraftScreen) Save(ctx context.Context, ds []Draft) error {
	end, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if s.left {
		return nil // Leave has stored the drafts
	}
	s.kept = true
	return s.rows.DB.Write(ctx, "keep what is typed", func(tx *Tx) error { return KeepTyping(tx, s.id, ds) })
}

// Leave stores drafts, and returns the older drafts of the same agents, which it replaces. The screen is gone then.
func (s *DraftScreen) Leave(ctx context.Context, ds []Draft) (older []Draft, err error) {
	defer s.rows.gone(s.id) // if this write fails, saved drafts are offered
	end, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	s.left = true
	if len(ds) == 0 && !s.kept {
		return nil, nil
	}
	err = s.rows.DB.Write(ctx, "leave drafts", func(tx *Tx) error {
		older = nil
		for _, d := range ds {
			was, ok, err := LeaveDraft(tx, d)
			if err != nil {
				return err
			}
			if ok {
				older = append(older, was)
			}
		}
		return KeepTyping(tx, s.id, nil)
	})
	return older, err
}

// Take removes and returns all drafts, by agent: no other screen gets them.
func (s *DraftScreen) Take(ctx context.Context) (ds []Draft, err error) {
	living := s.rows.here()
	err = s.rows.DB.Write(ctx, "take drafts", func(tx *Tx) (err error) {
		ds, err = TakeDrafts(tx, living)
		return err
	})
	return ds, err
}
