package secret

import (
	"slices"
	"strings"
)

// machine finds any of many texts in one pass, as in Aho and Corasick's algorithm, with a transition for every state
// and byte. Line breaks change no state: a wrapped key is found too.
//
// A state is its row's offset in next. A transition with the top bit completes a text.
type machine struct {
	class [256]uint32 // of a byte: a column of next
	width uint32
	next  []uint32
	deep  []int32 // by row: the length of the prefix that the state has matched
	end   []int32 // by row: the length of the longest text that ends here; 0: none does
	name  []int32 // by row: the owner of that text
}

const completes = 1 << 31

// Columns of bytes that are in no text, and of line breaks.
const (
	otherColumn = iota
	breakColumn
	columns
)

// build makes the machine for texts, a map from each text to its owner. It ignores line breaks in them, as in the text
// that is searched.
func (m *machine) build(texts map[string]int) {
	*m = machine{}
	if len(texts) == 0 {
		return
	}
	m.width = columns
	total := 1
	m.class['\n'], m.class['\r'] = breakColumn, breakColumn
	for text := range texts {
		total += len(text)
		for i := range len(text) {
			if c := text[i]; m.class[c] == otherColumn {
				m.class[c] = m.width
				m.width++
			}
		}
	}
	m.next = make([]uint32, 0, total*int(m.width))
	m.row(0)
	sorted := make([]string, 0, len(texts))
	for text := range texts {
		sorted = append(sorted, text)
	}
	slices.Sort(sorted)
	for _, text := range sorted {
		m.insert(text, texts[text])
	}
	m.link()
}

// row adds a state of that depth.
func (m *machine) row(depth int32) uint32 {
	at := uint32(len(m.next))
	m.next = append(m.next, make([]uint32, m.width)...)
	m.deep, m.end, m.name = append(m.deep, depth), append(m.end, 0), append(m.name, 0)
	return at
}

// insert adds the path of a text; 0 is no transition yet, since none leads to the root.
func (m *machine) insert(text string, name int) {
	text = strings.NewReplacer("\n", "", "\r", "").Replace(text)
	var at uint32
	for i := range len(text) {
		to := at + m.class[text[i]]
		if m.next[to] == 0 {
			fresh := m.row(int32(i + 1))
			m.next[to] = fresh
		}
		at = m.next[to]
	}
	m.end[at/m.width], m.name[at/m.width] = int32(len(text)), int32(name)
}

// link fills in the transitions that leave the paths: from each state to the state of the longest suffix of the input
// read so far that begins some text.
func (m *machine) link() {
	fail := make([]uint32, len(m.deep)) // by row
	queue := []uint32{0}
	for n := 0; n < len(queue); n++ {
		at := queue[n]
		for c := uint32(columns); c < m.width; c++ {
			to := m.next[at+c]
			short := m.next[fail[at/m.width]+c] &^ completes
			if at == 0 {
				short = 0
			}
			if to == 0 {
				m.next[at+c] = short
			} else {
				r := to / m.width
				fail[r] = short
				if m.end[r] == 0 {
					m.end[r], m.name[r] = m.end[short/m.width], m.name[short/m.width]
				}
				queue = append(queue, to)
			}
		}
		m.next[at+breakColumn] = at
	}
	for i, to := range m.next {
		if uint32(i)%m.width != breakColumn && m.end[to/m.width] > 0 {
			m.next[i] = to | completes
		}
	}
}

func (m *machine) built() bool { return m != nil && len(m.next) > 0 }

// run reads b from at on until a text is complete, and returns the position of the byte that completed it, else len(b).
func (m *machine) run(b []byte, at int, state uint32) (int, uint32) {
	next := m.next
	for i := at; i < len(b); i++ {
		state = next[state+m.class[b[i]]]
		if state >= completes {
			return i, state &^ completes
		}
	}
	return len(b), state
}

// any reports whether a text is in s.
func (m *machine) any(s string) bool {
	if !m.built() {
		return false
	}
	next, state := m.next, uint32(0)
	for i := range len(s) {
		state = next[state+m.class[s[i]]]
		if state >= completes {
			return true
		}
	}
	return false
}

func (m *machine) depth(state uint32) int { return int(m.deep[state/m.width]) }

// ends is the longest text that the state completes.
func (m *machine) ends(state uint32) (length, name int) {
	return int(m.end[state/m.width]), int(m.name[state/m.width])
}
