// Package markdown renders markdown block by block.
//
// Does: split a reply, whole or while it streams, into blocks small enough to be rendered when they become visible;
// render a block with Glamour in a theme's colours, code with Chroma; show a block plainly until then.
//
// Does not: know a transcript, store rendered lines, write links that the terminal would follow.
package markdown

import (
	"strings"
	"unicode/utf8"
)

const (
	maxBlock = 2 << 10 // bytes of a block; a longer one is cut at the end of a line
	maxTable = 6 << 10 // tables look better whole
	maxLine  = 2 << 10 // bytes of a line; a longer one is cut at a space

	// A text this long is not read as a page. What follows is shown as it is, in blocks that cost little more than
	// their text.
	maxBlocks = 10_000
	maxSource = 1 << 20
	maxRaw    = 8 << 10 // bytes of such a block
)

// Kind is what a block is.
type Kind int

const (
	Blank Kind = iota // empty lines
	Paragraph
	Heading
	Code
	Quote
	Item // of a list
	Table
	Rule
	Raw // plain text at the end of a source that is too long to be a page
)

// Block is a part of a source that is rendered by itself. It is immutable.
type Block struct {
	Source string // the text it covers: the sources of all blocks together are the whole
	Kind   Kind
	Gap    bool // there is an empty line before it, unless it is the first

	marker string // of an item: "-" or "3."; empty: goes on with the item before
	offset int    // of an item: columns its text is indented by
	lead   string // what a cut took away: the fence, the table's header
	defs   string // link reference definitions it uses
}

// Split cuts a whole source into blocks: top-level nodes, large ones cut into
// pieces at lines.
func Split(src string) []Block {
	s := scanner{take: func(from, to int) string { return src[from:to] }}
	s.feed(src)
	return s.close(src[s.next:])
}

// Stream splits a source that arrives in pieces. It examines each byte a bounded number of times, however it is split.
// The zero value is ready.
type Stream struct {
	buf  []byte // the source from base on
	base int
	s    scanner

	settled int // the line, by 1 + where it begins, for which settle has decided
}

// Write takes the next piece.
func (s *Stream) Write(piece string) {
	s.buf = append(s.buf, piece...)
	s.s.take = s.slice
	s.s.feed(string(s.buf[s.s.next-s.base:]))
	s.settle()
	if n := s.s.start - s.base; n > 0 {
		s.buf = append(s.buf[:0], s.buf[n:]...)
		s.base += n
	}
}

func (s *Stream) slice(from, to int) string { return string(s.buf[from-s.base : to-s.base]) }

// Done returns the blocks that are complete. It only grows.
func (s *Stream) Done() []Block { return s.s.done }

// Forget drops the source of a complete block.
func (s *Stream) Forget(i int) { s.s.done[i].Source = "" }

// Tail returns the complete lines of the block under construction, and the beginning of the next line.
func (s *Stream) Tail() (Block, string) {
	s.s.take = s.slice
	b := s.s.block()
	if b.Kind == Blank {
		b.Gap = s.s.empty || apart(s.s.was)
	}
	return b, string(s.buf[s.s.next-s.base:])
}

// Close ends the source and returns all blocks, the same as Split's.
func (s *Stream) Close() []Block {
	s.s.take = s.slice
	return s.s.close(string(s.buf[s.s.next-s.base:]))
}

// scanner finds the blocks line by line. A line never changes what came before it, except that it continues the open
// block.
type scanner struct {
	take  func(from, to int) string // a part of the source
	done  []Block
	start int  // where the open block begins in the source
	next  int  // where the next line begins
	mid   bool // the next line is the rest of one that was cut

	was   Kind // of the block before the open one
	empty bool // the last line was empty

	open
	list   byte // the last item's kind of marker: - + * . ); 0: no list
	number int  // of the last item
}

// open is the state of the block under construction.
type open struct {
	kind   Kind // Blank: only empty lines so far
	gap    bool
	fence  string // the fence that is open, in an item or quote too
	opened string // the line that opened it
	until  string // of HTML: what ends it; a newline: an empty line
	header string // of a table
	row    string // a paragraph's last line: a table's header if the next one says so
	marker string
	indent int // of an item's marker
	offset int
	lead   string
}

// feed takes the complete lines of text, which begins at next.
func (s *scanner) feed(text string) {
	for {
		head := text[:min(len(text), maxLine+utf8.UTFMax)]
		n := strings.IndexByte(head, '\n') + 1
		cut := n == 0
		if cut {
			if len(text) < maxLine+utf8.UTFMax {
				return
			}
			n = cutLong(head)
		}
		s.line(text[:n], s.mid)
		s.mid = cut
		text = text[n:]
	}
}

// cutLong returns where to cut a long line: after a space, otherwise between characters.
func cutLong(head string) int {
	if i := strings.LastIndexByte(head[:maxLine], ' '); i > 0 {
		return i + 1
	}
	n := maxLine
	for n > maxLine-utf8.UTFMax && !utf8.RuneStart(head[n]) {
		n--
	}
	return n
}

// close scans the last line, ends the open block and gives the blocks the link definitions that they use.
func (s *scanner) close(rest string) []Block {
	if rest != "" {
		s.line(rest, s.mid)
	}
	if s.next > s.start {
		s.emit()
	}
	define(s.done)
	return s.done
}

// block returns the open block as if it ended here.
func (s *scanner) block() Block {
	return Block{Source: s.take(s.start, s.next), Kind: s.kind, Gap: s.gap, marker: s.marker, offset: s.offset, lead: s.lead}
}

// emit ends the open block before the next line.
func (s *scanner) emit() {
	if s.next > s.start {
		s.done = append(s.done, s.block())
		s.start, s.was = s.next, s.kind
	}
	s.open = open{}
}

// cut ends the open block if it is large, and starts another of its kind.
func (s *scanner) cut() {
	size := s.next - s.start
	if size < maxBlock || s.kind == Table && size < maxTable || s.kind == Raw && size < maxRaw {
		return
	}
	o := s.open
	s.emit()
	if s.full() {
		return
	}
	switch o.kind {
	case Code:
		s.open = open{kind: Code, fence: o.fence, opened: o.opened, until: o.until, lead: o.opened}
	case Table:
		s.open = open{kind: Table, header: o.header, lead: o.header}
	case Item:
		s.open = open{kind: Item, offset: o.offset, indent: o.indent, fence: o.fence, opened: o.opened, lead: o.opened}
	case Quote:
		s.open = open{kind: Quote, fence: o.fence, opened: o.opened, lead: o.opened}
	}
}

// full reports whether the rest of the source is shown as plain text.
func (s *scanner) full() bool { return len(s.done) >= maxBlocks || s.start >= maxSource }

// line scans one line, with its newline if it has one. mid: it is the rest of one that was cut.
func (s *scanner) line(l string, mid bool) {
	text := strings.TrimRight(l, "\r\n")
	blank := strings.Trim(text, " \t") == ""
	does := goesOn
	switch {
	case mid && s.kind == Blank && s.full():
		s.open = open{kind: Raw}
	case mid && s.kind == Blank:
		s.open = open{kind: Paragraph}
	case mid:
	case s.kind == Blank && blank:
	case s.kind == Blank:
		does = s.begin(text)
	default:
		if does = s.goesOn(text, blank); does == other {
			s.emit()
			if does = goesOn; !blank {
				does = s.begin(text)
			}
		}
	}
	s.next += len(l)
	s.empty = blank && !mid
	if does == ends {
		s.emit()
		return
	}
	s.cut()
}

// begin opens a block with its first line.
func (s *scanner) begin(text string) does {
	gap, last, number := s.empty, s.list, s.number
	s.open, s.list = open{}, 0
	does := goesOn
	indent, body := indentOf(text)
	switch {
	case s.full():
		s.kind = Raw
	case indent >= 4:
		s.kind = Code
	case fenceOf(body) != "":
		s.kind, s.fence, s.opened = Code, fenceOf(body), text+"\n"
	case isHeading(body):
		s.kind, does = Heading, ends
	case isRule(body):
		s.kind, does = Rule, ends
	case body[0] == '>':
		s.kind = Quote
		s.inside(strings.TrimPrefix(body[1:], " "))
	case htmlEnd(body) != "":
		s.kind, s.until, s.opened = Code, htmlEnd(body), htmlLead
		s.lead = s.opened
		does = s.goesOn(text, false)
	default:
		m, ok := markerOf(body)
		if !ok {
			s.kind, s.row = Paragraph, text
			break
		}
		s.kind, s.list = Item, m.kind
		s.indent, s.offset = indent, indent+m.width
		s.number = m.number
		if last == m.kind {
			s.number = number + 1
		}
		s.marker = m.text(s.number)
		s.inside(dedent(text, s.offset))
	}
	s.gap = gap || s.was != Blank && (apart(s.was) || apart(s.kind))
	return does
}

// apart reports whether blocks of that kind always have an empty line around them.
func apart(k Kind) bool {
	return k == Heading || k == Code || k == Quote || k == Table || k == Rule
}

// inside follows the fences in a quote's or an item's text.
func (s *scanner) inside(text string) {
	_, body := indentOf(text)
	f := fenceOf(body)
	switch {
	case s.fence == "" && f != "":
		s.fence, s.opened = f, body+"\n"
	case s.fence != "" && closes(body, s.fence):
		s.fence, s.opened = "", ""
	}
}

// does is what a line does to the open block.
type does int

const (
	goesOn does = iota
	ends        // it is the block's last
	other       // it belongs to the next
)

// goesOn returns what a line does to the open block.
func (s *scanner) goesOn(text string, blank bool) does {
	indent, body := indentOf(text)
	switch s.kind {
	case Paragraph, Table:
		switch {
		case blank:
			return ends
		case s.kind == Paragraph && indent < 4 && isUnderline(body):
			s.kind = Heading
			return ends
		case s.kind == Paragraph && isDelimiter(body, s.row):
			s.kind, s.header = Table, s.row+"\n"+text+"\n"
			return goesOn
		case indent < 4 && interrupts(body):
			return other
		}
		s.row = text
		return goesOn
	case Code:
		return s.code(text, body, indent, blank)
	case Quote:
		switch {
		case blank:
			return ends
		case indent < 4 && body[0] == '>':
			s.inside(strings.TrimPrefix(body[1:], " "))
			return goesOn
		case s.fence != "" || indent < 4 && interrupts(body):
			return other
		}
		return goesOn
	case Item:
		return s.item(text, body, indent, blank)
	case Raw:
		return goesOn
	}
	return other
}

func (s *scanner) code(text, body string, indent int, blank bool) does {
	switch {
	case s.until == "\n":
		if blank {
			return ends
		}
		return goesOn
	case s.until != "":
		if strings.Contains(strings.ToLower(text), s.until) {
			return ends
		}
		return goesOn
	case s.fence != "":
		if indent < 4 && closes(body, s.fence) {
			return ends
		}
		return goesOn
	case blank || indent >= 4:
		return goesOn
	}
	return other
}

func (s *scanner) item(text, body string, indent int, blank bool) does {
	switch {
	case blank:
		return goesOn
	case indent >= s.offset:
		s.inside(dedent(text, s.offset))
		return goesOn
	case s.fence != "", s.empty, indent < 4 && interrupts(body):
		return other
	}
	if _, ok := markerOf(body); ok && indent < 4 {
		return other
	}
	return goesOn
}
