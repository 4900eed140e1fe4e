package markdown

import (
	"fmt"
	"strconv"
	"strings"

	"fantail/themes"
	"fantail/ui/cells"
)

// Diff is a change of files. Every byte of its lines shows: what is not plainly printable is a visible token, and a
// tab too, unless it only indents.
type Diff struct {
	Name           string // of the first file; "": the text does not say
	Added, Removed int
	lines          []diffLine
	chunks         []diffChunk
	digits         int // of the largest line number; 0: none is known
	files          int
}

// diffLine is a line of a diff.
type diffLine struct {
	sign  byte // '+', '-', ' ' for an unchanged line; 'f' for the name of a file; 0: a remark
	old   int  // its number in the old file, or how many lines a file loses; 0: unknown
	now   int  // its number in the new file, or how many lines a file gets
	text  string
	raw   string
	chunk int
	words []span    // what changed in it
	parts []stretch // its syntax
}

// span is a range of bytes, to excluded.
type span struct{ from, to int }

// diffChunk is a range of lines whose syntax and changed words are found together, once one of them shows.
type diffChunk struct {
	from, to int
	name     string // of the file
	ready    bool
}

// A chunk ends at an unchanged line after chunkSoft lines, and in any case after chunkHard.
const (
	chunkSoft = 32
	chunkHard = 64
)

// NewDiff reads a unified diff. Text that is no diff becomes remarks, so that nothing is hidden.
func NewDiff(text string) *Diff {
	d := &Diff{}
	r := diffReader{Diff: d, head: -1}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		switch {
		case r.old+r.now > 0: // in a hunk that says how many lines it has
			r.content(l)
		case strings.HasPrefix(l, "@@"):
			r.hunk(l)
		case !r.open && i+1 < len(lines) && strings.HasPrefix(l, "--- ") && strings.HasPrefix(lines[i+1], "+++ "):
			r.file(l, lines[i+1])
			i++
		default:
			r.content(l)
		}
	}
	r.close()
	d.digits = len(strconv.Itoa(r.last))
	if r.last == 0 {
		d.digits = 0
	}
	return d
}

// diffReader is the state of NewDiff.
type diffReader struct {
	*Diff
	name           string
	head           int  // the line that names the file; -1: none
	open           bool // in a hunk that does not say how many lines it has
	old, now       int  // lines that the hunk still has of each side
	oldNum, nowNum int  // of the next lines; 0: unknown
	last           int  // the largest number
	run            int  // where the present run of changed lines begins
	chunk          int  // where the present chunk begins
}

func (r *diffReader) remark(text string) {
	r.lines = append(r.lines, diffLine{text: cells.CleanLine(cells.Reveal(text)), chunk: len(r.chunks)})
}

// file begins a file.
func (r *diffReader) file(old, now string) {
	r.close()
	r.name = fileName(old, now)
	r.nowNum, r.oldNum, r.open = 0, 0, false
	if r.files++; r.files == 1 {
		r.Name = r.name
	}
	r.head = len(r.lines)
	r.lines = append(r.lines, diffLine{sign: 'f', text: cells.CleanLine(cells.Reveal(r.name)), chunk: len(r.chunks)})
}

// fileName returns the name in the two lines before a file's hunks.
func fileName(old, now string) string {
	cut := func(s string) string {
		s, _, _ = strings.Cut(s[len("+++ "):], "\t")
		return strings.TrimRight(s, "\r")
	}
	from, to := cut(old), cut(now)
	if strings.HasPrefix(from, "a/") && strings.HasPrefix(to, "b/") {
		from, to = from[2:], to[2:]
	}
	if to == "/dev/null" {
		return from
	}
	return to
}

// hunk begins a hunk. Instead of its numbers, the lines between it and the one before are counted.
func (r *diffReader) hunk(l string) {
	r.close()
	var a, b, c, d int
	before := r.nowNum
	r.open, r.oldNum, r.nowNum = false, 0, 0
	_, rest, ok := strings.Cut(strings.TrimPrefix(l, "@@"), "@@")
	switch {
	case ok && hunkNumbers(l, &a, &b, &c, &d):
		r.old, r.now, r.oldNum, r.nowNum = b, d, a, c
		rest = strings.TrimSpace(rest)
		if n := c - before; before > 0 && n > 0 {
			rest = strings.TrimSpace(unchanged(n) + " " + rest)
		}
		if rest != "" {
			r.remark("⋯ " + rest)
		}
	case strings.TrimSpace(l) == "@@ @@":
		r.open = true
		if n := len(r.lines); n > 0 && r.lines[n-1].sign != 0 && r.lines[n-1].sign != 'f' {
			r.remark("⋯")
		}
	default:
		r.open = true
		r.remark(l)
	}
}

func unchanged(n int) string {
	if n == 1 {
		return "1 unchanged line"
	}
	return fmt.Sprintf("%d unchanged lines", n)
}

// hunkNumbers reads `@@ -a,b +c,d @@`, where a count of one may be left out.
func hunkNumbers(l string, a, b, c, d *int) bool {
	f := strings.Fields(l)
	if len(f) < 4 || f[0] != "@@" || f[3] != "@@" || f[1][0] != '-' || f[2][0] != '+' {
		return false
	}
	return numberPair(f[1][1:], a, b) && numberPair(f[2][1:], c, d)
}

func numberPair(s string, at, count *int) bool {
	first, second, two := strings.Cut(s, ",")
	*count = 1
	var err error
	if *at, err = strconv.Atoi(first); err == nil && two {
		*count, err = strconv.Atoi(second)
	}
	const most = 1 << 30
	return err == nil && *at >= 0 && *count >= 0 && *at < most && *count < most
}

// content adds a line of a hunk, or a remark.
func (r *diffReader) content(l string) {
	if l == "" && r.old+r.now > 0 { // an empty unchanged line whose space was cut off
		l = " "
	}
	if l == "" || l[0] != '+' && l[0] != '-' && l[0] != ' ' {
		if r.remark(l); !strings.HasPrefix(l, `\`) { // the hunk was cut
			r.old, r.now = 0, 0
		}
		return
	}
	line := diffLine{sign: l[0], raw: l[1:]}
	added, removed := 0, 0
	switch l[0] {
	case ' ':
		r.endRun()
		line.old, line.now = r.oldNum, r.nowNum
		r.step(1, 1)
	case '+':
		added, line.now = 1, r.nowNum
		r.step(0, 1)
	case '-':
		removed, line.old = 1, r.oldNum
		r.step(1, 0)
	}
	r.Added, r.Removed = r.Added+added, r.Removed+removed
	if r.head >= 0 {
		r.lines[r.head].now += added
		r.lines[r.head].old += removed
	}
	r.last = max(r.last, line.old, line.now)
	if n := len(r.lines) - r.chunk; n >= chunkHard || n >= chunkSoft && l[0] == ' ' {
		r.close()
	}
	line.chunk = len(r.chunks)
	r.lines = append(r.lines, line)
	if l[0] == ' ' {
		r.endRun()
	}
}

// step counts lines of the hunk.
func (r *diffReader) step(old, now int) {
	r.old, r.now = max(r.old-old, 0), max(r.now-now, 0)
	if r.oldNum > 0 {
		r.oldNum += old
	}
	if r.nowNum > 0 {
		r.nowNum += now
	}
}

// endRun ends a run of changed lines. Where some of them are indented by tabs and others by spaces, the tabs show.
func (r *diffReader) endRun() {
	tabs, blanks := false, false
	for _, l := range r.lines[r.run:] {
		tabs = tabs || strings.HasPrefix(l.raw, "\t")
		blanks = blanks || strings.HasPrefix(l.raw, "  ")
	}
	for i := r.run; i < len(r.lines); i++ {
		if l := &r.lines[i]; l.sign != 0 && l.sign != 'f' {
			if l.text = indented(l.raw); tabs && blanks {
				l.text = cells.Reveal(l.raw)
			}
			l.raw = ""
		}
	}
	r.run = len(r.lines)
}

// indented returns a line as it shows. Tabs that only indent become spaces.
func indented(s string) string {
	text := strings.TrimLeft(s, "\t")
	if n := len(s) - len(text); n > 0 && strings.Trim(text, " \t\r") != "" && !strings.HasPrefix(strings.TrimLeft(text, " "), "\t") {
		return strings.Repeat("    ", n) + cells.Reveal(text)
	}
	return cells.Reveal(s)
}

// close ends a chunk.
func (r *diffReader) close() {
	r.endRun()
	if len(r.lines) > r.chunk {
		r.chunks = append(r.chunks, diffChunk{from: r.chunk, to: len(r.lines), name: r.name})
		r.chunk = len(r.lines)
	}
}

// Only returns the name of the only file, which rows leave out; "": there are several.
func (d *Diff) Only() string {
	if d.files != 1 {
		return ""
	}
	return d.Name
}

// Counts returns how many lines the diff adds and removes: `+4 −3`.
func (d *Diff) Counts(t *themes.Theme) string { return counts(t, d.Added, d.Removed) }

func counts(t *themes.Theme, added, removed int) string {
	return t.Paint(themes.Good, "+"+strconv.Itoa(added)) + " " + t.Paint(themes.Bad, "−"+strconv.Itoa(removed))
}

// prepare finds the syntax and the changed words of a chunk.
func (d *Diff) prepare(c *diffChunk, code *coder) {
	c.ready = true
	lines := d.lines[c.from:c.to]
	for _, side := range []byte{'+', '-'} { // an unchanged line has its syntax from the new file
		var at []int
		var text []string
		for i, l := range lines {
			if l.sign == side || l.sign == ' ' {
				at, text = append(at, i), append(text, l.text)
			}
		}
		for j, parts := range code.paintFile(c.name, text) {
			if l := &lines[at[j]]; l.sign == side || l.parts == nil {
				l.parts = parts
			}
		}
	}
	for i := 0; i < len(lines); {
		from := i
		for i < len(lines) && (lines[i].sign == '-' || lines[i].sign == '+') {
			i++
		}
		markRun(lines[from:i])
		i = max(i, from+1)
	}
}
