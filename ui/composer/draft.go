package composer

import (
	"slices"
	"strings"
)

// Draft is what was typed into a box and not sent.
type Draft struct {
	Text   string   // its first character counts as typed
	Pastes []string // those in it that were chips, in their order
}

// Unsent returns the texts typed into a box and not sent, the newest last: those that a walk through the history left,
// and the one in the box, unless that is an unchanged entry of the history.
func Unsent(b *Box) (ds []Draft) {
	all := b.walk.left()
	if b.walk.at == draft || b.walk.version != b.text.version {
		all = append(all, b.text.cells)
	}
	for _, cells := range all {
		d := Draft{Text: escaped(cells)}
		for _, c := range cells {
			if c.chip > 0 {
				d.Pastes = append(d.Pastes, c.s)
			}
		}
		ds = append(ds, d)
	}
	return slices.DeleteFunc(ds, func(d Draft) bool { return strings.TrimSpace(d.Text) == "" })
}

// Into replaces the text of a box; the pastes become chips again.
func (d Draft) Into(b *Box) {
	for _, p := range d.Pastes {
		b.chip(p, 1)
	}
	if b.Set(d.Text); !b.Empty() {
		b.text.mark()
	}
}
