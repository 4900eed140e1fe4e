// Package secret removes keys from text before it is stored or shown.
//
// Does: know the keys of a program by the variables that hold them, find them in text as they are and in common
// encodings, also across lines and across the pieces of a stream, and replace them by their names.
//
// Does not: read the environment or the configuration, or guess that a text is a key: it leaves everything alone that
// is not the value of a named variable.
package secret

import (
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// shortest is the length, in bytes, below which a value or a form of it is ignored: it would occur inside ordinary
// words.
const shortest = 8

// maxValues is how many values of one variable are known at a time: a key that is replaced every hour must not make the
// search slower every day.
const maxValues = 8

// Keys is the keys of a program. The zero value and nil know none. It is safe for concurrent use.
type Keys struct {
	names []string // every variable that may hold a key, set or not
	known atomic.Pointer[values]

	adds sync.Mutex // held while known is replaced

	mu     sync.Mutex
	judged map[string]bool // what Judge was told of values
}

// values are the known values of the variables, from one or more environments. They never change.
type values struct {
	of   [][]string // by name, the one that was met last first
	scan machine
}

// maxJudged is how many values Judge remembers before it begins anew.
const maxJudged = 1000

// Judge returns judge(value), and calls judge once for a value that comes again: the same environment is judged for each
// turn and several times in a start, and that takes milliseconds. judge must be the same function in all calls.
func (k *Keys) Judge(value string, judge func(string) bool) bool {
	if k == nil {
		return judge(value)
	}
	k.mu.Lock()
	is, known := k.judged[value]
	k.mu.Unlock()
	if known {
		return is
	}
	is = judge(value)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.judged == nil || len(k.judged) >= maxJudged {
		k.judged = map[string]bool{}
	}
	k.judged[value] = is
	return is
}

// New returns the keys in the named variables.
func New(names []string, env func(string) string) *Keys {
	k := &Keys{names: slices.Clone(names)}
	slices.Sort(k.names)
	k.names = slices.Compact(k.names)
	k.known.Store(&values{of: make([][]string, len(k.names))})
	k.Add(env)
	return k
}

// Add adds the variables' values in another environment. Earlier values stay known, up to eight of each variable: the
// least recently added are forgotten first.
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
		is.of[i] = append([]string{v}, others[:min(len(others), maxValues-1)]...)
	}
	if is.scan = was.scan; fresh {
		is.scan.build(is.forms())
	}
	k.known.Store(is)
}

// forms maps all forms of all values to the index of their variable.
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

// scan returns the machine that finds the current keys, or nil if there are none.
func (k *Keys) scan() *machine {
	if k != nil {
		if v := k.known.Load(); v != nil {
			return &v.scan
		}
	}
	return nil
}

// Mark is the text that replaces the key in the variable of that name.
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

// Text returns text with each key replaced by a mark. If text holds no key, Text returns it unchanged and allocates
// nothing.
func (k *Keys) Text(text string) string {
	if !k.Within(text) {
		return text
	}
	s := Stream{keys: k}
	return string(append(s.Write([]byte(text)), s.End()...))
}

// Marked returns the name of a variable that holds a key and whose mark is in text; "" if there is none.
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

// Stream is Text for a text in pieces. It holds back only bytes that may be the beginning of a key.
type Stream struct {
	keys  *Keys
	scan  *machine // of the keys when s last held nothing back
	state uint32
	held  []byte
	found []region // in held
	count int
}

// region is the position of a key.
type region struct {
	from, to int
	name     int // index into Keys.names
}

// Replaced reports whether Write or End has found a key since the last call.
func (s *Stream) Replaced() bool {
	n := s.count
	s.count = 0
	return n > 0
}

// Stream begins one.
func (k *Keys) Stream() *Stream { return &Stream{keys: k} }

// Write takes the next piece and returns the text that is ready. The result is only valid until b changes or Write is
// called again.
func (s *Stream) Write(b []byte) []byte {
	if len(s.held) == 0 { // then no part of a key was read
		s.scan, s.state = s.keys.scan(), 0
	}
	if !s.scan.built() {
		return b
	}
	m := s.scan
	if len(s.held) == 0 {
		// Most pieces end here: no key is found, and none may begin at the end.
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
		at++ // after the byte that completed a key
		length, name := m.ends(s.state)
		s.count++
		s.add(region{back(s.held, at, length), at, name})
	}
	return s.upTo(back(s.held, len(s.held), m.depth(s.state)))
}

// End returns the text that was held back, and resets the stream.
func (s *Stream) End() []byte {
	s.state = 0
	return s.upTo(len(s.held))
}

// add adds a region. It merges regions that overlap, so that no part of two keys that share bytes is left.
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

// upTo returns the held text before limit with keys replaced by marks, and drops it. It holds back the whole of a key
// that may still grow.
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
	return &reader{from: r, keys: k.Stream()}
}

type reader struct {
	from io.Reader
	keys *Stream
	left []byte // text that is ready
	err  error  // returned after left
}

func (r *reader) Read(b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	for len(r.left) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		n, r.err = r.from.Read(b)
		out := r.keys.Write(b[:n]) // most often these bytes themselves
		if r.err != nil {
			out = append(slices.Clone(out), r.keys.End()...)
		}
		if n = copy(b, out); n > 0 {
			r.left = out[n:] // empty if out is in b
			return n, nil
		}
	}
	n = copy(b, r.left)
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
