package composer

import (
	"slices"
	"strings"
)

// Draft is what was typed into a box and not sent.
type Draft struct {
	Text   string
	Pastes []string // those in it that were held aside, in their order
}

// Unsent returns what was typed into a box and not sent, the newest last: what a walk through the
// history left, and what is in the box, unless that is an entry of the history as it was recalled.
func Unsent(b *Box) (ds []Draft) {
	all := b.walk.left()
	if b.walk.at == draft || b.walk.version != b.text.version {
		all = append(all, b.text.cells)
	}
	for _, cells := range all {
		d := Draft{Text: joined(cells)}
		for _, c := range cells {
			if c.chip > 0 {
				d.Pastes = append(d.Pastes, c.s)
			}
		}
		ds = append(ds, d)
	}
	return slices.DeleteFunc(ds, func(d Draft) bool { return strings.TrimSpace(d.Text) == "" })
}

// Into replaces what is in a box; the pastes are held aside again.
func (d Draft) Into(b *Box) {
	for _, p := range d.Pastes {
		b.chip(p, 1)
	}
	b.Set(d.Text)
}
