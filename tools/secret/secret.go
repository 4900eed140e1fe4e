// Package secret keeps keys out of what is kept and shown.
//
// Does: know the keys of a program by the variables that hold them, find them in
// text as they are and in the encodings they travel in, also across lines and
// across the pieces of a stream, and put their names in their place.
//
// Does not: read the environment or the configuration, or guess from a text's
// looks that it is a key: what is not the value of a named variable is left alone.
//
// Imports: nothing of ours.
package secret

import (
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// shortest is the length, in bytes, below which a value or a form of it is left
// alone: it would turn up inside ordinary words.
const shortest = 8

// mostValues is how many values of one variable are known at a time: a key that is replaced every hour must not make
// those who look for it slower every day.
const mostValues = 8

// Keys is the keys of a program. The zero value and nil know none. It is safe for concurrent use.
type Keys struct {
	names []string // every variable that may hold a key, set or not
	known atomic.Pointer[values]

	adds sync.Mutex // held by who replaces known
}

// values are those the variables are known to hold, in environments of which there may be several. They never change.
type values struct {
	of   [][]string // by name, the one that was met last first
	scan machine
}

// New returns the keys that the named variables hold.
func New(names []string, env func(string) string) *Keys {
	k := &Keys{names: slices.Clone(names)}
	slices.Sort(k.names)
	k.names = slices.Compact(k.names)
	k.known.Store(&values{of: make([][]string, len(k.names))})
	k.Add(env)
	return k
}

// Add adds what the variables hold in another environment. What they hold elsewhere stays known, up to eight values of
// each: those met longest ago are forgotten first.
func (k *Keys) Add(env func(string) string) {
	k.adds.Lock()
	defer k.adds.Unlock()
	was := k.known.Load()
	if was == nil {
		return // the zero value
	}
	is, fresh := &values{of: slices.Clone(was.of)}, false
	for i, name := range k.names {
		v := strings.TrimSpace(env(name))
		if len(formsOf(v)) == 0 {
			continue
		}
		fresh = fresh || !slices.Contains(was.of[i], v)
		others := slices.DeleteFunc(slices.Clone(was.of[i]), func(o string) bool { return o == v })
		is.of[i] = append([]string{v}, others[:min(len(others), mostValues-1)]...)
	}
	if is.scan = was.scan; fresh {
		is.scan.build(is.forms())
	}
	k.known.Store(is)
}

// forms are all forms of all values, and by the index of whose name.
func (v *values) forms() map[string]int {
	forms := map[string]int{}
	for i, all := range v.of {
		for _, one := range all {
			for _, form := range formsOf(one) {
				if _, met := forms[form]; !met {
					forms[form] = i
				}
			}
		}
	}
	return forms
}

// scan is what finds the keys known now; nil: none are.
func (k *Keys) scan() *machine {
	if k != nil {
		if v := k.known.Load(); v != nil {
			return &v.scan
		}
	}
	return nil
}

// Mark is what stands in the place of the key that the variable of that name holds.
func Mark(name string) string { return "[redacted: " + name + "]" }

// Named reports whether the variable of that name may hold a key.
func (k *Keys) Named(name string) bool {
	if k == nil {
		return false
	}
	_, is := slices.BinarySearch(k.names, name)
	return is
}

// Within reports whether text holds a key.
func (k *Keys) Within(text string) bool { return k.scan().any(text) }

// Text returns text with a mark in the place of each key. Without a key in it that
// is text itself, and nothing is allocated.
func (k *Keys) Text(text string) string {
	if !k.Within(text) {
		return text
	}
	s := Stream{keys: k}
	return string(append(s.Write([]byte(text)), s.End()...))
}

// Marked returns the name of a variable that holds a key and whose mark stands in
// text; "" if there is none.
func (k *Keys) Marked(text string) string {
	if k == nil || !strings.Contains(text, "[redacted: ") {
		return ""
	}
	known := k.known.Load()
	if known == nil {
		return ""
	}
	for i, held := range known.of {
		if name := k.names[i]; len(held) > 0 && strings.Contains(text, Mark(name)) {
			return name
		}
	}
	return ""
}

// Stream is Text for a text that comes in pieces. It holds back the bytes that a
// key may begin with, and only those.
type Stream struct {
	keys  *Keys
	scan  *machine // of the keys known when nothing was held back last
	state uint32
	held  []byte
	found []region // in held
	count int
}

// region is where a key stands.
type region struct {
	from, to int
	name     int // index into Keys.names
}

// Replaced reports whether Write or End has found a key since it was last asked.
func (s *Stream) Replaced() bool {
	n := s.count
	s.count = 0
	return n > 0
}

// Stream begins one.
func (k *Keys) Stream() *Stream { return &Stream{keys: k} }

// Write takes the next piece and returns what can be told by now. The result is
// only valid until b changes or Write is called again.
func (s *Stream) Write(b []byte) []byte {
	if len(s.held) == 0 { // and so no part of a key was read
		s.scan, s.state = s.keys.scan(), 0
	}
	if !s.scan.built() {
		return b
	}
	m := s.scan
	if len(s.held) == 0 {
		// Most pieces: nothing is held, and nothing is found.
		at, state := m.run(b, 0, 0)
		if at == len(b) && m.depth(state) == 0 {
			return b
		}
	}
	from := len(s.held)
	s.held = append(s.held, b...)
	for at := from; ; {
		at, s.state = m.run(s.held, at, s.state)
		if at == len(s.held) {
			break
		}
		at++ // behind the byte that completed a key
		length, name := m.ends(s.state)
		s.count++
		s.add(region{back(s.held, at, length), at, name})
	}
	return s.upTo(back(s.held, len(s.held), m.depth(s.state)))
}

// End returns what was held back. The stream begins anew.
func (s *Stream) End() []byte {
	s.state = 0
	return s.upTo(len(s.held))
}

// add notes a region. One that overlaps others takes them in, so that nothing of
// two keys that share bytes is left.
func (s *Stream) add(r region) {
	longest := r.to - r.from
	for n := len(s.found); n > 0 && s.found[n-1].to > r.from; n-- {
		last := s.found[n-1]
		if last.to-last.from > longest {
			r.name, longest = last.name, last.to-last.from
		}
		r.from = min(r.from, last.from)
		s.found = s.found[:n-1]
	}
	s.found = append(s.found, r)
}

// upTo returns what is held before limit, with marks in the place of keys, and
// drops it. A key that may still grow is held whole.
func (s *Stream) upTo(limit int) []byte {
	var out []byte
	at, n := 0, 0
	for ; n < len(s.found); n++ {
		r := s.found[n]
		if r.to > limit {
			limit = min(limit, r.from)
			break
		}
		out = append(out, s.held[at:r.from]...)
		out = append(out, Mark(s.keys.names[r.name])...)
		at = r.to
	}
	out = append(out, s.held[at:limit]...)
	s.found = append(s.found[:0], s.found[n:]...)
	for i := range s.found {
		s.found[i].from -= limit
		s.found[i].to -= limit
	}
	s.held = append(s.held[:0], s.held[limit:]...)
	return out
}

// Reader is r without keys.
func (k *Keys) Reader(r io.Reader) io.Reader {
	if k == nil {
		return r
	}
	return &reader{from: r, keys: k.Stream(), buf: make([]byte, 32<<10)}
}

type reader struct {
	from io.Reader
	keys *Stream
	buf  []byte
	left []byte // what can be told
	err  error  // comes behind it
}

func (r *reader) Read(b []byte) (int, error) {
	for len(r.left) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		n, err := r.from.Read(r.buf)
		r.left = r.keys.Write(r.buf[:n])
		if r.err = err; err != nil {
			r.left = append(slices.Clone(r.left), r.keys.End()...)
		}
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	return n, nil
}

// back is where n bytes that end before at begin; line breaks do not count.
func back(b []byte, at, n int) int {
	for n > 0 {
		at--
		if b[at] != '\n' && b[at] != '\r' {
			n--
		}
	}
	return at
}
