package transcript

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"fantail/ui/cells"
)

// anchor is the line at the top of a view that does not follow: a line of block i, which had `of` lines then. Line -1
// is the empty line above the block.
type anchor struct{ i, line, of int }

// span is a range of blocks, to excluded.
type span struct{ from, to int }

func (s span) has(i int) bool { return i >= s.from && i < s.to }

// count returns the number of blocks, those at the end included.
func (v *View) count() int { return len(v.blocks) + len(v.end) }

func (v *View) at(i int) *block {
	if i < len(v.blocks) {
		return v.blocks[i]
	}
	return v.end[i-len(v.blocks)]
}

// hides reports whether the block shows elsewhere: so does a call that the human is asked about, in the question.
func (v *View) hides(b *block) bool {
	if q := v.info.Question; q != nil && b.kind == call && b.result == nil && b.call.ID == q.Call {
		return true
	}
	return b.hidden || v.instead(b)
}

// gap returns the number of empty lines above block i.
func (v *View) gap(i int) int {
	b := v.at(i)
	if v.hides(b) {
		return 0
	}
	j := i - 1
	for j >= 0 && v.hides(v.at(j)) {
		j--
	}
	if j < 0 {
		return 0
	}
	p := v.at(j)
	switch {
	case p.group == b.group && b.group != nil:
		if b.kind == answer && len(b.md) == 1 && !b.md[0].Gap || b.kind == piece || b.kind == row {
			return 0
		}
	case b.kind == call && p.kind == call && p.terse(v.folded(p)) && b.terse(v.folded(b)):
		return 0
	case b.listed() && p.listed() && p.list == b.list:
		return 0
	case b.kind == queued && p.kind == queued:
		return 0
	case b.kind == local && p.kind == local && b.short(v.lines(i)) && p.short(v.lines(j)):
		return 0
	}
	if len(v.lines(i)) == 0 {
		return 0
	}
	return 1
}

// height returns the number of lines of block i and of the gap above it.
func (v *View) height(i int) (gap, n int) { return v.gap(i), len(v.lines(i)) }

// Lines returns exactly h lines of at most w cells.
func (v *View) Lines(w, h int) []string {
	w, h = max(w, 0), max(h, 0)
	if v.w > 0 && w != v.w {
		v.sized = v.now()
	}
	v.w, v.h = w, h
	v.frame++
	v.moves, v.ages, v.places = false, 0, v.places[:0]
	out := make([]string, 0, h)
	if w == 0 || h == 0 {
		return append(out, make([]string, h)...)
	}
	v.found()
	top := v.settle()
	v.shown = span{top.i, top.i}
	for i := top.i; i < v.count() && len(out) < h; i++ {
		line := -v.gap(i)
		if i == top.i {
			line = top.line
		}
		if line < 0 {
			out, v.places = append(out, ""), append(v.places, anchor{i: i, line: -1})
			line = 0
		}
		ls := v.lines(i)
		for ; line < len(ls) && len(out) < h; line++ {
			out, v.places = append(out, ls[line]), append(v.places, anchor{i: i, line: line})
		}
		v.aged(v.at(i))
		v.shown.to = i + 1
		b := v.at(i)
		v.moves = v.moves || b.spins() && !v.calm && !v.hides(b)
	}
	for len(out) < h {
		out = append(out, "")
	}
	v.sweep()
	return out
}

// settle returns where the view begins. If its end has become visible, because the window grew or blocks shrank, it
// follows the end from now on.
func (v *View) settle() anchor {
	end := v.last()
	if !v.follow {
		if v.top = v.fix(v.top); v.top.before(end) {
			return v.top
		}
		if !v.still {
			v.Follow()
		}
	}
	return end
}

// fix moves an anchor to the present place of its line, if its block changed its height.
func (v *View) fix(a anchor) anchor {
	if v.count() == 0 {
		return anchor{}
	}
	a.i = min(max(a.i, 0), v.count()-1)
	gap, n := v.height(a.i)
	if a.of > 0 && a.of != n && a.line > 0 {
		a.line = a.line * n / a.of
	}
	a.line = min(max(a.line, -gap), max(n-1, -gap))
	a.of = n
	return a
}

// before reports whether a is above b.
func (a anchor) before(b anchor) bool { return a.i < b.i || a.i == b.i && a.line < b.line }

// last returns where a view that shows the end begins.
func (v *View) last() anchor {
	left := v.h
	for i := v.count() - 1; i >= 0; i-- {
		gap, n := v.height(i)
		if n+gap >= left {
			return anchor{i, n - left, n}
		}
		left -= n + gap
	}
	return v.first()
}

// first returns where the transcript begins.
func (v *View) first() anchor {
	if v.count() == 0 {
		return anchor{}
	}
	gap, n := v.height(0)
	return anchor{0, -gap, n}
}

// move moves an anchor by lines.
func (v *View) move(a anchor, lines int) anchor {
	for lines < 0 && v.count() > 0 {
		gap, _ := v.height(a.i)
		if room := a.line + gap; room >= -lines {
			a.line += lines
			return a
		} else if a.i == 0 {
			a.line = -gap
			return a
		} else {
			lines += room + 1
			a.i--
			_, n := v.height(a.i)
			gap = v.gap(a.i)
			a.line, a.of = n-1, n
			for n+gap == 0 && a.i > 0 { // nothing to stop at
				a.i--
				gap, n = v.height(a.i)
				a.line, a.of = n-1, n
			}
		}
	}
	for lines > 0 && a.i < v.count() {
		_, n := v.height(a.i)
		if room := n - 1 - a.line; room >= lines {
			a.line += lines
			return a
		} else if a.i == v.count()-1 {
			a.line = max(n-1, 0)
			return a
		} else {
			lines -= room + 1
			a.i++
			gap, n := v.height(a.i)
			a.line, a.of = -gap, n
			for n+gap == 0 && a.i < v.count()-1 {
				a.i++
				gap, n = v.height(a.i)
				a.line, a.of = -gap, n
			}
		}
	}
	return a
}

// Reach shows the entry of that Seq at the lower edge, once all from there on was read.
func (v *View) Reach(seq int64) { v.seeks = seq }

// missing reports whether older pages must be read for Reach.
func (v *View) missing() bool { return v.seeks > 0 && v.more && (v.oldest == 0 || v.oldest > v.seeks) }

// found shows what Reach wants, if it was read.
func (v *View) found() {
	if v.seeks == 0 || v.oldest == 0 || v.missing() {
		return
	}
	i := len(v.blocks) - 1
	for i > 0 && (v.blocks[i].seq > v.seeks || v.blocks[i].seq == 0) {
		i--
	}
	v.seeks = 0
	if i >= 0 {
		_, n := v.height(i)
		v.showFrom(v.move(anchor{i, max(n-1, 0), n}, 1-v.h), v.last())
	}
}

// Scroll moves the view; negative: up. A view that reaches the end follows it.
func (v *View) Scroll(lines int) {
	if v.w <= 0 || v.h <= 0 || lines == 0 || v.count() == 0 {
		return
	}
	end := v.last()
	from := end
	if !v.follow {
		from = v.fix(v.top)
	} else if lines > 0 {
		return
	}
	v.showFrom(v.move(from, lines), end)
}

// showFrom makes the view begin at a, or follow if that is at the end.
func (v *View) showFrom(a, end anchor) {
	if !a.before(end) && !v.still {
		v.Follow()
		return
	}
	v.follow, v.top = false, a
}

// Follow goes to the end and stays there.
func (v *View) Follow() { v.follow, v.below = true, 0 }

// Key scrolls, folds and moves the selection. It returns false if the key is not for a transcript. y copies Selected.
func (v *View) Key(k tea.KeyPressMsg) bool {
	page := max(v.h-2, 1)
	switch k.String() {
	case "pgup":
		v.Scroll(-page)
	case "pgdown":
		v.Scroll(page)
	case "home", "ctrl+home":
		if v.w > 0 && v.h > 0 && v.count() > 0 {
			v.showFrom(v.first(), v.last())
		}
	case "end", "ctrl+end":
		v.Follow()
	case "ctrl+o":
		v.unfold()
	case "up":
		if v.selected < 0 {
			return false
		}
		v.SelectPrev()
	case "down":
		if v.selected < 0 {
			return false
		}
		v.selectNext()
	default:
		return false
	}
	return true
}

// unfold unfolds or folds the selected block. Without one it unfolds what is in sight, or folds all if nothing there is
// folded. The line at the top stays where it is.
func (v *View) unfold() {
	switch {
	case v.selected >= 0:
		b := v.blocks[v.selected]
		open := !b.group.open
		for _, g := range b.groups() {
			g.open = open
		}
		for v.selected > 0 && v.hides(v.blocks[v.selected]) {
			v.selected--
		}
	case !v.unfoldShown():
		for _, b := range v.blocks {
			if b.group != nil {
				b.group.open = false
			}
		}
	}
	if len(v.places) == 0 || v.places[0].i >= v.count() {
		return
	}
	top := v.places[0]
	_, top.of = v.height(top.i)
	v.showFrom(v.fix(top), v.last())
}

// unfoldShown unfolds what is in sight, and reports whether that shows more.
func (v *View) unfoldShown() (more bool) {
	for i := v.shown.from; i < min(v.shown.to, len(v.blocks)); i++ {
		b := v.blocks[i]
		if b.group == nil || b.group.open || v.hides(b) {
			continue
		}
		was := v.lines(i)
		for _, g := range b.groups() {
			g.open = true
		}
		if slices.Equal(was, v.lines(i)) {
			for _, g := range b.groups() {
				g.open = false
			}
			continue
		}
		more = true
	}
	return more
}

func (v *View) folded(b *block) bool { return b.group == nil || !b.group.open }

// selectable reports whether block i is the first one of a group with a text.
func (v *View) selectable(i int) bool {
	b := v.blocks[i]
	return !v.hides(b) && b.group != nil && (i == 0 || v.blocks[i-1].group != b.group) && b.kind != ended && b.kind != cleared
}

// SelectPrev selects the block above, or the last one if none is selected. It returns false if there is none.
func (v *View) SelectPrev() bool {
	from := v.selected
	if from < 0 {
		from = len(v.blocks)
	}
	for i := from - 1; i >= 0; i-- {
		if v.selectable(i) {
			v.choose(i)
			return true
		}
	}
	return false
}

// selectNext selects the block below; after the last one, none.
func (v *View) selectNext() {
	for i := v.selected + 1; i < len(v.blocks); i++ {
		if v.selectable(i) {
			v.choose(i)
			return
		}
	}
	v.Deselect()
	v.Follow()
}

// choose selects block i and scrolls to it.
func (v *View) choose(i int) {
	v.selected = i
	if v.w <= 0 || v.h <= 0 {
		return
	}
	end := v.last()
	top := end
	if !v.follow {
		top = v.fix(v.top)
	}
	gap, n := v.height(i)
	a := anchor{i, -gap, n}
	if a.before(top) {
		v.showFrom(a, end)
		return
	}
	// Its first lines must be above the lower edge.
	if low := v.move(a, -max(v.h-min(n+gap, v.h), 0)); top.before(low) {
		v.showFrom(low, end)
	}
}

// Deselect selects nothing.
func (v *View) Deselect() { v.selected = -1 }

// Selected returns the unwrapped source of the selected block, "" if none is.
func (v *View) Selected() string {
	if v.selected < 0 || v.selected >= len(v.blocks) {
		return ""
	}
	return v.blocks[v.selected].group.source()
}

// chosen reports whether block i is of the selected group.
func (v *View) chosen(i int) bool {
	return v.selected >= 0 && v.selected < len(v.blocks) && i < len(v.blocks) && v.blocks[i].group == v.blocks[v.selected].group
}

// lines returns the lines of block i, drawn again only if something changed.
func (v *View) lines(i int) []string {
	b := v.at(i)
	if v.hides(b) {
		return nil
	}
	now := v.now()
	l := look{width: v.w, theme: v.theme, folded: v.folded(b), selected: v.chosen(i), age: age(b, now)}
	if b.kind == answer {
		l.letters = len(v.letters)
	}
	if b == v.hinted && !v.aside {
		l.hint = v.hint
	}
	shown := b.drawn != nil && b.drawn.seen == v.frame
	d := v.warmed(b)
	if d.lines != nil && d.look == l && (!b.moving() || shown) {
		return d.lines
	}
	d.fit(b.wants(v))
	c := canvas{theme: v.theme, width: v.w, now: now, folded: l.folded, selected: l.selected, children: v.children, calm: v.calm, told: v.told, letters: v.letters, aside: v.aside, hint: l.hint}
	d.lines, d.look = v.draw(b, c), l
	if d.lines == nil {
		d.lines = []string{}
	}
	for j, s := range d.lines {
		if v.w < narrow || cells.Width(s) > v.w {
			d.lines[j] = cells.Cut(s, v.w)
		}
	}
	return d.lines
}

// narrow is the width below which every line is cut in any case.
const narrow = 8
