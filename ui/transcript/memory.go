package transcript

import (
	"strconv"
	"strings"

	"fantail/agents/history"
	"fantail/themes"
	"fantail/ui/cells"
)

// document renders one line that names the memory document the model was given, and unfolded its text.
func (c canvas) document(b *block) []string {
	d := b.doc
	if d.Missing {
		return c.text("✗", themes.Bad, themes.Text, b.text)
	}
	facts := ""
	if d.Version > 0 {
		by := "you"
		if d.By != "" {
			by = clip(d.By)
		}
		facts = " · " + Size(d.Size) + " · by " + cells.CleanLine(by) + " · version " + strconv.Itoa(d.Version)
	}
	if d.Parts != "" {
		facts += " · has " + cells.CleanLine(clip(d.Parts))
	}
	name := cells.Cut("#mem-"+cells.CleanLine(clip(d.Title)), c.inner())
	lines := []string{c.theme.Paint(themes.Strong, name) + c.theme.Paint(themes.Dim, cells.Cut(facts, c.inner()-cells.Width(name)))}
	if !c.folded {
		for i := range b.md {
			part := c.part(b, i)
			if len(part) > 0 && (i == 0 || b.md[i].Gap) {
				lines = append(lines, "")
			}
			lines = append(lines, part...)
		}
		if over := len(b.text) - whole; over > 0 {
			more := "… " + thousands(over) + " more bytes · /memory edit " + cells.CleanLine(clip(d.Title)) + " to open it whole"
			for _, l := range cells.Wrap(more, c.inner()) {
				lines = append(lines, c.theme.Paint(themes.Dim, l))
			}
		}
	}
	return c.rows(c.mark("▪", themes.Dim), c.mark(" ", themes.Dim), lines)
}

// Size formats a number of bytes for people: 840 B, 1.2 kB, 1.0 MB.
func Size(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n) + " B"
	case n < 999_950:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + " kB"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
}

// Document shows a memory document to the human, unfolded. It is not in the database.
func (v *View) Document(d history.Recall, text string) {
	v.local(&block{kind: memory, doc: &d, text: text, group: &group{text: text, open: true}})
}

// mention returns the block of what came along with another entry.
func mention(e *history.Entry) *block {
	b := &block{kind: host, text: e.Text, at: e.At, entry: e.Behind, group: &group{text: e.Text}}
	if e.Kind == history.EntryMemory {
		if e.Memory == nil {
			return nil
		}
		b.kind, b.doc = memory, e.Memory
		if strings.TrimSpace(e.Text) == "" {
			b.group.text = "#mem-" + e.Memory.Title
		}
	}
	return b
}

// briefed lists the instruction files that the model was given.
func briefed(bs []history.Brief) string {
	var parts []string
	for _, b := range bs {
		says := b.Name + " · " + Size(b.Bytes)
		switch {
		case b.Why == "gone":
			says = b.Name + " is gone"
		case b.Bytes == 0:
			says = b.Name + " · no room for it"
		case b.Why == "changed":
			says += " · changed"
		}
		parts = append(parts, says)
	}
	return "instructions: " + strings.Join(parts, ", ")
}
