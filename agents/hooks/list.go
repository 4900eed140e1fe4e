package hooks

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"
)

// TrustSource provides the parts of one kind.
type TrustSource struct {
	Kind  TrustKind
	About string             // when these run and what they get, a sentence for people
	Parts func() []TrustPart // as they are now; called often, so it reads again only what has changed
}

// TrustStore joins the trust sources of a workspace. It is safe for concurrent use; a nil one has no parts.
type TrustStore struct {
	file *TrustFile

	mu      sync.Mutex
	sources []TrustSource
	hears   []func()
}

// OpenTrust opens the record of what the user agreed to in the workspace root, a file in the directory data. The error
// says why nothing is trusted; the store is usable all the same.
func OpenTrust(root, data string) (*TrustStore, error) {
	file, err := OpenTrustFile(root, filepath.Join(data, "trust.json"))
	return &TrustStore{file: file}, err
}

// Add adds another source.
func (r *TrustStore) Add(s TrustSource) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sources = append(r.sources, s)
}

// Hear has f called after each answer of the user that was recorded, before Agree or Decline returns: the set of
// commands that may run has changed. f must not block.
func (r *TrustStore) Hear(f func()) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hears = append(r.hears, f)
}

// kept calls the functions that Hear added.
func (r *TrustStore) kept() {
	r.mu.Lock()
	hears := slices.Clone(r.hears)
	r.mu.Unlock()
	for _, f := range hears {
		f()
	}
}

// known returns the kinds that there are.
func (r *TrustStore) known() []TrustSource {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sources)
}

// Review returns all parts as they are now, with the user's answer to each, kind by kind.
func (r *TrustStore) Review() (all []TrustReview) {
	for _, s := range r.known() {
		for _, v := range r.file.Review(s.Parts()) {
			v.About = s.About
			all = append(all, v)
		}
	}
	return all
}

// Look takes a snapshot of a part as it is now, and returns the user's answer to it.
func (r *TrustStore) Look(p TrustPart) (TrustSnapshot, TrustState) {
	if r == nil {
		return TrustSnapshot{TrustPart: p}, NewTrust
	}
	s := r.file.Look(p)
	return s, r.file.Standing(s)
}

// errNone is the error where there is nothing to agree to.
var errNone = errors.New("nothing can be trusted here: the workspace brings nothing that runs")

// Agree records that the user agrees to exactly these.
func (r *TrustStore) Agree(all ...TrustSnapshot) error {
	if r == nil {
		return errNone
	}
	err := r.file.Agree(all...)
	if err == nil {
		r.kept()
	}
	return err
}

// Decline records that the user does not agree to these.
func (r *TrustStore) Decline(all ...TrustSnapshot) error {
	if r == nil {
		return errNone
	}
	err := r.file.Decline(all...)
	if err == nil {
		r.kept()
	}
	return err
}

// Guarded returns the files, absolute, that the user agreed to run: changing one changes what runs.
func (r *TrustStore) Guarded() []string {
	if r == nil {
		return nil
	}
	return r.file.Guarded()
}

// Guards says why an agent that writes the file of that path must ask in every mode; "" if it need not.
func (r *TrustStore) Guards(abs string) string {
	if r == nil {
		return ""
	}
	return r.file.Guards(abs)
}
