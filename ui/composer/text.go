package composer

import (
	"slices"
	"unicode/utf8"
)

// text is the draft: cells, a cursor between two of them, and the records for undo. Every change goes through splice,
// so the records of undo and redo always fit the cells.
type text struct {
	cells   []cell
	at      int // the cursor is before cells[at]
	goal    int // the column Up and Down aim for, -1 if none
	version int // grows with every change

	done   []edit
	size   int    // cells in done or more: undo does not lower it, forget counts anew
	undone []edit // what undo did
	open   bool   // the next typed cell joins the last record
	kill   []cell // what Ctrl+K, Ctrl+U, Ctrl+W took last
}

// edit is one change: at a place, old was replaced by new.
type edit struct {
	at            int
	old, new      []cell
	before, after int // the cursor
}

const (
	maxEdits     = 500
	maxEditCells = 200_000 // over all records
)

// splice replaces cells[from:to]. The caller moves the cursor.
func (x *text) splice(from, to int, ins []cell) {
	if from == to && len(ins) == 0 {
		return
	}
	e := edit{
		at: from, old: slices.Clone(x.cells[from:to]), new: slices.Clone(ins),
		before: x.at, after: from + len(ins),
	}
	x.cells = slices.Replace(x.cells, from, to, ins...)
	x.version++
	x.undone = nil
	if n := len(x.done); x.open && n > 0 && x.done[n-1].takes(e) {
		x.done[n-1].new = append(x.done[n-1].new, e.new...)
		x.done[n-1].after = e.after
		return
	}
	x.done = append(x.done, e)
	x.open = false
	x.forget()
}

// takes reports whether the typed e continues p; a word after a blank starts a record of its own.
func (p edit) takes(e edit) bool {
	if len(e.old) > 0 || len(e.new) != 1 || len(p.old) > 0 || len(p.new) == 0 || e.at != p.at+len(p.new) {
		return false
	}
	return e.new[0].space() || !p.new[len(p.new)-1].space()
}

// forget drops the oldest records once there are too many, a fifth at a time so that most changes copy nothing.
func (x *text) forget() {
	size := func(e edit) int { return len(e.old) + len(e.new) }
	x.size += size(x.done[len(x.done)-1])
	if len(x.done) <= maxEdits && x.size <= maxEditCells {
		return
	}
	// The newest record stays at any size, so that a slip can be undone.
	keep, cells := 0, 0
	for keep < len(x.done) && keep < maxEdits*4/5 {
		cells += size(x.done[len(x.done)-1-keep])
		if keep > 0 && cells > maxEditCells*4/5 {
			break
		}
		keep++
	}
	x.done = slices.Clone(x.done[len(x.done)-keep:])
	x.size = 0
	for _, e := range x.done {
		x.size += size(e)
	}
}

func (x *text) undo() bool { return x.revert(&x.done, &x.undone) }
func (x *text) redo() bool { return x.revert(&x.undone, &x.done) }

// revert takes the newest record's change back; back gets a record of that.
func (x *text) revert(records, back *[]edit) bool {
	n := len(*records)
	if n == 0 {
		return false
	}
	e := (*records)[n-1]
	*records, *back = (*records)[:n-1], append(*back, edit{at: e.at, old: e.new, new: e.old, before: e.after, after: e.before})
	x.cells = slices.Replace(x.cells, e.at, e.at+len(e.new), e.old...)
	x.at = e.before
	x.version++
	x.open = false
	return true
}

// insert puts s at the cursor and joins it with its neighbours where it completes a cluster with them.
func (x *text) insert(s string) {
	if s == "" {
		return
	}
	from, to, head, tail := x.at, x.at, "", ""
	if from > 0 && joins(x.cells[from-1], cell{s: s}) {
		from--
		head = x.cells[from].s
	}
	if to < len(x.cells) && joins(cell{s: s}, x.cells[to]) {
		tail = x.cells[to].s
		to++
	}
	cells := split(head + s + tail)
	// What did not join stays out of the record of undo.
	if head != "" && cells[0].s == head {
		cells, from, head = cells[1:], from+1, ""
	}
	if n := len(cells); tail != "" && cells[n-1].s == tail {
		cells, to = cells[:n-1], to-1
	}
	// The cursor goes after the cluster in which s ends.
	end, bytes := 0, 0
	for end < len(cells) && bytes < len(head)+len(s) {
		bytes += len(cells[end].s)
		end++
	}
	x.splice(from, to, cells)
	x.at = from + end
}

// insertCells puts cells at the cursor as they are.
func (x *text) insertCells(cells []cell) {
	x.splice(x.at, x.at, cells)
	x.at += len(cells)
}

// remove deletes cells[from:to]; the cursor goes there.
func (x *text) remove(from, to int) bool {
	if from >= to {
		return false
	}
	x.open = false
	if from > 0 && to < len(x.cells) && joins(x.cells[from-1], x.cells[to]) {
		if both := split(x.cells[from-1].s + x.cells[to].s); len(both) == 1 {
			x.splice(from-1, to+1, both)
			x.at = from
			return true
		}
	}
	x.splice(from, to, nil)
	x.at = from
	return true
}

// cut is remove; Ctrl+Y inserts what it removed.
func (x *text) cut(from, to int) bool {
	if from >= to {
		return false
	}
	x.kill = slices.Clone(x.cells[from:to])
	return x.remove(from, to)
}

// joins reports whether b may continue a's cluster.
func joins(a, b cell) bool {
	if a.chip > 0 || b.chip > 0 || a.s == "" || b.s == "" {
		return false
	}
	if a.s[len(a.s)-1] == '\r' && b.s[0] == '\n' {
		return true
	}
	return !a.newline() && (a.s[len(a.s)-1] >= utf8.RuneSelf || b.s[0] >= utf8.RuneSelf)
}

// lineStart returns the beginning of the line that contains i.
func (x *text) lineStart(i int) int {
	for i > 0 && !x.cells[i-1].newline() {
		i--
	}
	return i
}

// lineEnd returns the end of the line that contains i.
func (x *text) lineEnd(i int) int {
	for i < len(x.cells) && !x.cells[i].newline() {
		i++
	}
	return i
}

// wordLeft returns the beginning of the word before i.
func (x *text) wordLeft(i int) int {
	for i > 0 && !x.cells[i-1].word() {
		i--
	}
	if i > 0 && x.cells[i-1].chip > 0 {
		return i - 1
	}
	for i > 0 && x.cells[i-1].word() && x.cells[i-1].chip == 0 {
		i--
	}
	return i
}

// wordRight returns the end of the word after i.
func (x *text) wordRight(i int) int {
	for i < len(x.cells) && !x.cells[i].word() {
		i++
	}
	if i < len(x.cells) && x.cells[i].chip > 0 {
		return i + 1
	}
	for i < len(x.cells) && x.cells[i].word() && x.cells[i].chip == 0 {
		i++
	}
	return i
}

// blankLeft returns where Ctrl+W deletes to: the beginning of the word before i, as blanks delimit it.
func (x *text) blankLeft(i int) int {
	for i > 0 && x.cells[i-1].space() {
		i--
	}
	if i > 0 && x.cells[i-1].chip > 0 {
		return i - 1
	}
	for i > 0 && !x.cells[i-1].space() && x.cells[i-1].chip == 0 {
		i--
	}
	return i
}
