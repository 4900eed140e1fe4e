// Package composer is the prompt box: text, history, pastes, completion of files.
package composer

import (
	"strings"

	"fantail/themes"
	"fantail/ui/cells"
)

// Box is one prompt box with its draft. Only the interface's goroutine uses it.
type Box struct {
	theme  *themes.Theme
	look   look
	prompt string
	empty  string // shown while there is no text
	source Source

	text   text
	walk   walk
	find   *find // the history search, nil when it is not open
	list   list  // the completion
	hist   []string
	pastes []string // those that became chips, so that a recalled text gets its chips back

	value valueCache
	rows  rowCache
	last  lineCache
	dirty bool // something Lines shows has changed
}

// Intent is what a key meant beyond editing.
type Intent int

const (
	None   Intent = iota
	Submit        // Value is to be sent; call Clear once it is accepted
	Edit          // open the external editor on Value; give the result to Set
)

// Item is a completion candidate.
type Item struct {
	Insert string // what it inserts, without the trigger
	Label  string // what the list shows; Insert if empty
	Help   string
	Args   string // after the help, where the item is the chosen one and there is room
}

// Source yields candidates for a trigger: "/" (the whole first word of the text), "@" (a path, anywhere), "#" (a
// document, anywhere), or " " (an argument: word is the text after `/command `). It is called on every key: it must be
// quick and do no I/O.
//
// line is the first line of the text up to the cursor for "/" and " ", and the cursor's line up to the cursor for "@"
// and "#"; word is the word at the cursor, without its trigger. The box itself matches and ranks what Source yields; a
// few hundred items are matched well below a millisecond.
type Source func(trigger string, line string, word string) []Item

const (
	// chipOver is the size in bytes above which a paste becomes a chip.
	chipOver = 2 << 10
	// plainMax is the size above which a text given by Set or Insert, or typed long ago and recalled, becomes a chip:
	// editing stays quick below it.
	plainMax = 32 << 10
	// pastesKept is how many pastes are remembered for recall.
	pastesKept = 16
)

// New returns an empty box. Without a source nothing is completed.
func New(t *themes.Theme, source Source, prompt string) *Box {
	b := &Box{source: source, prompt: cells.CleanLine(prompt), dirty: true}
	b.walk.reset()
	b.SetTheme(t)
	return b
}

// SetTheme changes the colours.
func (b *Box) SetTheme(t *themes.Theme) {
	b.theme = t
	b.look = newLook(t)
	b.touch()
}

// Invite sets the text that shows while the box is empty.
func (b *Box) Invite(text string) {
	b.empty = cells.CleanLine(text)
	b.touch()
}

// touch drops the rendered lines.
func (b *Box) touch() {
	b.dirty = true
	b.list.lines = nil
}

// Paste inserts text that the terminal pasted; it never submits. More than 2 KB become a chip. In a paste without a
// single line feed, carriage returns become line feeds: that is how many terminals and tmux send lines. Everything
// else, CRLF included, stays byte for byte.
func (b *Box) Paste(s string) {
	if !strings.Contains(s, "\n") {
		s = strings.ReplaceAll(s, "\r", "\n")
	}
	if s == "" {
		return
	}
	if b.find != nil {
		line, _, _ := strings.Cut(s, "\n")
		b.findType(line)
		b.touch()
		return
	}
	b.text.open = false
	if len(s) > chipOver {
		b.text.insertCells([]cell{b.chip(s, b.nextChip())})
	} else {
		b.text.insert(s)
	}
	b.changed()
}

// Value returns the text, byte for byte, with the chips' contents in their places.
func (b *Box) Value() string {
	if !b.value.ok || b.value.version != b.text.version {
		b.value = valueCache{ok: true, version: b.text.version, s: joined(b.text.cells)}
	}
	return b.value.s
}

// Empty reports whether the box has no text, not even a blank.
func (b *Box) Empty() bool { return len(b.text.cells) == 0 }

// Finds reports whether typed text searches the history.
func (b *Box) Finds() bool { return b.find != nil }

// Set replaces the draft; the cursor goes to its end. Ctrl+_ brings the old one back. Text in s that was pasted
// before, and is unchanged, is a chip again.
func (b *Box) Set(s string) {
	b.text.open = false
	b.text.splice(0, len(b.text.cells), b.cellsOf(s, 1))
	b.text.at = len(b.text.cells)
	b.endWalk()
	b.find = nil
	b.changed()
}

// Prepend puts s before the draft, on lines of its own. The cursor stays where it is in the draft; in an empty box it
// goes to the end.
func (b *Box) Prepend(s string) {
	if b.Empty() {
		b.Set(s)
		return
	}
	if s == "" {
		return
	}
	at := b.text.at
	cells := append(b.cellsOf(s, b.nextChip()), split("\n")...)
	b.text.open = false
	b.text.splice(0, 0, cells)
	b.text.at = at + len(cells)
	b.changed()
}

// Lead is Prepend for a text that is still being typed: the cursor goes after it.
func (b *Box) Lead(s string) {
	empty, was := b.Empty(), len(b.text.cells)
	if b.Prepend(s); !empty && s != "" {
		b.text.at = len(b.text.cells) - was - 1 // the line end is between them
		b.changed()
	}
}

// Insert puts s at the cursor.
func (b *Box) Insert(s string) {
	b.text.open = false
	if len(s) > chipOver {
		b.text.insertCells(b.cellsOf(s, b.nextChip()))
	} else {
		b.text.insert(s)
	}
	b.changed()
}

// Clear empties the box. A draft that a walk through the history left becomes its newest entry; Ctrl+_ brings back the
// cleared text.
func (b *Box) Clear() {
	b.endWalk()
	b.text.splice(0, len(b.text.cells), nil)
	b.text.at = 0
	b.find = nil
	b.changed()
}

// changed is called after a change that no key of the completion made: the list closes and stays closed until
// something is typed.
func (b *Box) changed() {
	b.text.open = false
	b.text.goal = -1
	b.walk.fresh = false
	b.list.close()
	b.touch()
}

// chip makes a chip of s.
func (b *Box) chip(s string, number int) cell {
	known := false
	for _, p := range b.pastes {
		known = known || p == s
	}
	if !known {
		if len(b.pastes) == pastesKept {
			b.pastes = append(b.pastes[:0:0], b.pastes[1:]...)
		}
		b.pastes = append(b.pastes, s)
	}
	return newChip(s, number)
}

// nextChip returns the number of the next chip: one more than the highest in the box.
func (b *Box) nextChip() int {
	n := 0
	for _, c := range b.text.cells {
		n = max(n, int(c.chip))
	}
	return n + 1
}

// cellsOf splits s into cells; known pastes and pieces too large to be edited become chips, numbered from number on.
func (b *Box) cellsOf(s string, number int) []cell {
	var out []cell
	plain := func(piece string) {
		if len(piece) <= plainMax {
			out = append(out, split(piece)...)
			return
		}
		out = append(out, b.chip(piece, number))
		number++
	}
	for len(s) > chipOver {
		at, held := -1, ""
		for _, p := range b.pastes {
			if len(p) > len(s) {
				continue
			}
			i := strings.Index(s, p)
			if i >= 0 && (at < 0 || i < at || i == at && len(p) > len(held)) {
				at, held = i, p
			}
		}
		if at < 0 {
			break
		}
		if at > 0 {
			plain(s[:at])
		}
		out = append(out, newChip(held, number))
		number++
		s = s[at+len(held):]
	}
	if s != "" {
		plain(s)
	}
	return out
}
