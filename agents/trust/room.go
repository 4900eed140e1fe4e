package trust

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"
)

// Source brings parts of one kind.
type Source struct {
	Kind  Kind
	About string        // when these run and what they get, a sentence for people
	Parts func() []Part // as they are now; called often, so it reads again only what has changed
}

// Room joins what of all kinds one workspace brings. It is safe for concurrent use; nil has nothing.
type Room struct {
	book *Book

	mu      sync.Mutex
	sources []Source
	hears   []func()
}

// In opens what the user agreed to in the workspace root, kept in the directory data. The error says why nothing is
// trusted; the room can be used all the same.
func In(root, data string) (*Room, error) {
	book, err := Open(root, filepath.Join(data, "trust.json"))
	return &Room{book: book}, err
}

// Add has the room know of another kind.
func (r *Room) Add(s Source) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sources = append(r.sources, s)
}

// Hear has f called after each answer of the user that is kept, before who keeps it goes on: what runs may not have to. f
// waits for nothing.
func (r *Room) Hear(f func()) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hears = append(r.hears, f)
}

// kept calls who hears of answers.
func (r *Room) kept() {
	r.mu.Lock()
	hears := slices.Clone(r.hears)
	r.mu.Unlock()
	for _, f := range hears {
		f()
	}
}

// known are the kinds that there are.
func (r *Room) known() []Source {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sources)
}

// Review is how the user stands to all parts as they are now, kind by kind.
func (r *Room) Review() (all []Review) {
	for _, s := range r.known() {
		for _, v := range r.book.Review(s.Parts()) {
			v.About = s.About
			all = append(all, v)
		}
	}
	return all
}

// Look takes a part as it is now, and how the user stands to that.
func (r *Room) Look(p Part) (Snapshot, Standing) {
	if r == nil {
		return Snapshot{Part: p}, New
	}
	s := r.book.Look(p)
	return s, r.book.Standing(s)
}

// errNone is the error where there is nothing to agree to.
var errNone = errors.New("nothing can be trusted here: the workspace brings nothing that runs")

// Agree keeps that the user agrees to exactly these.
func (r *Room) Agree(all ...Snapshot) error {
	if r == nil {
		return errNone
	}
	err := r.book.Agree(all...)
	if err == nil {
		r.kept()
	}
	return err
}

// Decline keeps that the user does not agree to these.
func (r *Room) Decline(all ...Snapshot) error {
	if r == nil {
		return errNone
	}
	err := r.book.Decline(all...)
	if err == nil {
		r.kept()
	}
	return err
}

// Guarded are the files, absolute, that the user agreed to have run: who changes one changes what runs.
func (r *Room) Guarded() []string {
	if r == nil {
		return nil
	}
	return r.book.Guarded()
}

// Guards says why an agent that writes the file of that path asks in every mode; "" if it does not.
func (r *Room) Guards(abs string) string {
	if r == nil {
		return ""
	}
	return r.book.Guards(abs)
}
