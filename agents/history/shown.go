package history

import (
	"fantail/tools/files"
)

// A request carries only the newest pictures. The others are only named. Since a request is cheaper if its beginning
// stays the same, half of the pictures are left out at once, and then none for a while.
const (
	maxShown      = 20
	maxShownBytes = 16 << 20
)

// pictures returns the pictures of a result that a model may get.
func (r *Result) pictures() []files.Picture {
	if r == nil || r.Error {
		return nil
	}
	return r.Shows
}

// shown is which pictures of the entries are sent. It follows from the entries alone.
type shown struct {
	looked int   // at that many entries
	sizes  []int // of the pictures in them
	hide   int   // the first of those, which are not sent any more
	bytes  int   // of the others
}

// look examines further entries, and reports whether pictures that were sent must be left out.
func (s *shown) look(es []Entry) bool {
	was := s.hide
	for ; s.looked < len(es); s.looked++ {
		for _, p := range es[s.looked].Result.pictures() {
			s.sizes, s.bytes = append(s.sizes, p.Bytes), s.bytes+p.Bytes
			if len(s.sizes)-s.hide > maxShown || s.bytes > maxShownBytes {
				s.halve()
			}
		}
	}
	return s.hide != was
}

// halve leaves out the oldest pictures.
func (s *shown) halve() {
	for s.hide < len(s.sizes)-1 && (len(s.sizes)-s.hide > maxShown/2 || s.bytes > maxShownBytes/2) {
		s.bytes -= s.sizes[s.hide]
		s.hide++
	}
}
