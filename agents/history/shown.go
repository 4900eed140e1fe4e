package history

import "fantail/tools/picture"

// What a request carries of pictures: the newest. The others stay named. As what a request begins with is cheaper when it
// stays as it was, half of them are left out at once, and then none for a while.
const (
	mostShown      = 20
	mostShownBytes = 16 << 20
)

// pictures are those of a result that a model may get.
func (r *Result) pictures() []picture.Image {
	if r == nil || r.Error {
		return nil
	}
	return r.Shows
}

// shown is which pictures of the entries are sent. It follows from the entries alone.
type shown struct {
	looked int   // at so many entries
	sizes  []int // of the pictures in them
	hide   int   // the first of those, which are not sent any more
	bytes  int   // of the others
}

// look looks at further entries, and reports whether what was sent of pictures is to be left out.
func (s *shown) look(es []Entry) bool {
	was := s.hide
	for ; s.looked < len(es); s.looked++ {
		for _, p := range es[s.looked].Result.pictures() {
			s.sizes, s.bytes = append(s.sizes, p.Bytes), s.bytes+p.Bytes
			if len(s.sizes)-s.hide > mostShown || s.bytes > mostShownBytes {
				s.halve()
			}
		}
	}
	return s.hide != was
}

// halve leaves out the oldest pictures, and keeps the newest.
func (s *shown) halve() {
	for s.hide < len(s.sizes)-1 && (len(s.sizes)-s.hide > mostShown/2 || s.bytes > mostShownBytes/2) {
		s.bytes -= s.sizes[s.hide]
		s.hide++
	}
}
