package transcript

import (
	"strings"

	"fantail/themes"
	"fantail/ui/cells"
)

// batch is neighbouring calls that only read. Those that ended well show as one line until they are unfolded, all
// together.
type batch struct{ calls []*block }

// mostBatch limits a batch, because the drawing of one of its blocks may look at all.
const mostBatch = 50

// reads says what a call of a tool that only reads does, and to what; "": it is another tool.
func reads(tool string) (verb, one, many string) {
	switch tool {
	case "read_file":
		return "read", "file", "files"
	case "list_files":
		return "listed", "directory", "directories"
	case "glob", "grep":
		return "searched", "pattern", "patterns"
	}
	return "", "", ""
}

// join puts a call that reads into the batch of the block above, or into one of its own.
func (b *block) join(above *block) {
	if verb, _, _ := reads(b.call.Name); verb == "" {
		return
	}
	b.batch = &batch{}
	if above != nil && above.kind == call && above.batch != nil && len(above.batch.calls) < mostBatch {
		b.batch = above.batch
	}
	b.batch.calls = append(b.batch.calls, b)
}

// groups returns the groups that are unfolded with the block's.
func (b *block) groups() []*group {
	if b.kind != call || b.batch == nil {
		return []*group{b.group}
	}
	var out []*group
	for _, m := range b.batch.calls {
		out = append(out, m.group)
	}
	return out
}

// summed returns the calls of the block's batch that show as one line, the one that shows first; none if it is no
// part of them.
func (v *View) summed(b *block) []*block {
	if b.kind != call || b.batch == nil || !b.terse(v.folded(b)) {
		return nil
	}
	var out []*block
	for _, m := range b.batch.calls {
		if !m.hidden && m.terse(v.folded(m)) {
			out = append(out, m)
		}
	}
	return out
}

// instead reports whether another call of its batch shows in place of the block.
func (v *View) instead(b *block) bool {
	if b.kind != call || b.batch == nil || b.batch.calls[0] == b || !b.terse(v.folded(b)) {
		return false
	}
	for _, m := range b.batch.calls {
		if !m.hidden && m.terse(v.folded(m)) {
			return m != b
		}
	}
	return false
}

// batch renders calls that read in one line: `read 3 files, searched 1 pattern`.
func (c canvas) batch(calls []*block) []string {
	type part struct {
		verb, one, many string
		of              map[string]bool
	}
	var parts []*part
	for _, b := range calls {
		verb, one, many := reads(b.call.Name)
		var p *part
		for _, q := range parts {
			if q.verb == verb {
				p = q
			}
		}
		if p == nil {
			p = &part{verb, one, many, map[string]bool{}}
			parts = append(parts, p)
		}
		what := b.call.Title
		if b.call.Name == "read_file" { // lines of one file are one file
			if i := strings.LastIndexByte(what, ':'); i > 0 && strings.Trim(what[i+1:], "0123456789-") == "" {
				what = what[:i]
			}
		}
		p.of[what] = true
	}
	var said []string
	for _, p := range parts {
		word := p.many
		if len(p.of) == 1 {
			word = p.one
		}
		said = append(said, p.verb+" "+thousands(len(p.of))+" "+word)
	}
	const fold = " · ctrl+o"
	text := cells.Cut(strings.Join(said, ", "), max(c.inner()-cells.Width(fold), 8))
	verb, rest, _ := strings.Cut(text, " ")
	return []string{c.mark("✓", themes.Good) + c.theme.Paint(themes.Tool, verb) + " " + rest + c.theme.Paint(themes.Dim, fold)}
}
