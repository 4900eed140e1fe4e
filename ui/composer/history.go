package composer

import (
	"slices"
	"strings"

	"fantail/themes"
	"fantail/ui/cells"
)

// walk is a walk through the history. Texts that it passes, first of all the draft, come back as they were when the
// walk returns to them.
type walk struct {
	at      int // index into hist, draft while no walk is on
	version int // of the text when it was recalled: another one means that it was edited
	fresh   bool
	kept    map[int]stay
}

// stay is a text as the cursor left it.
type stay struct {
	cells  []cell
	cursor int
	edited bool
}

// draft is the place below the newest entry.
const draft = -1

func (k *walk) reset() { *k = walk{at: draft} }

// left returns the texts that were edited on the walk and are not in the box: they would be lost. The draft comes
// last.
func (k *walk) left() [][]cell {
	var out [][]cell
	var places []int
	for at := range k.kept {
		if at != draft && at != k.at {
			places = append(places, at)
		}
	}
	slices.Sort(places)
	if k.at != draft {
		places = append(places, draft)
	}
	for _, at := range places {
		if s, ok := k.kept[at]; ok && s.edited {
			out = append(out, s.cells)
		}
	}
	return out
}

// SetHistory sets the earlier prompts, oldest first. The text in the box stays.
func (b *Box) SetHistory(lines []string) {
	left := b.walk.left()
	b.hist = nil
	b.walk.reset()
	b.find = nil
	for _, line := range lines {
		b.AddHistory(line)
	}
	for _, cells := range left {
		b.AddHistory(joined(cells))
	}
	b.touch()
}

// endWalk adds the texts that the walk left as the newest entries of the history.
func (b *Box) endWalk() {
	for _, cells := range b.walk.left() {
		b.AddHistory(joined(cells))
	}
	b.walk.reset()
}

// AddHistory makes line the newest entry, unless it is that already or blank.
func (b *Box) AddHistory(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	if n := len(b.hist); n > 0 && b.hist[n-1] == line {
		return
	}
	b.hist = append(b.hist, line)
}

// older recalls the previous entry. It returns false if there is no history.
func (b *Box) older() bool {
	if len(b.hist) == 0 {
		return false
	}
	switch b.walk.at {
	case draft:
		b.recall(len(b.hist) - 1)
	case 0:
		b.walk.fresh = true
	default:
		b.recall(b.walk.at - 1)
	}
	return true
}

// newer goes back towards the draft. It returns false if the box shows the draft.
func (b *Box) newer() bool {
	switch b.walk.at {
	case draft:
		return false
	case len(b.hist) - 1:
		b.recall(draft)
	default:
		b.recall(b.walk.at + 1)
	}
	return true
}

// recall stores the text of the box at its place and shows the one at another.
func (b *Box) recall(at int) {
	k := &b.walk
	if k.kept == nil {
		k.kept = map[int]stay{}
	}
	if k.at == draft || k.version != b.text.version {
		edited := len(b.text.cells) > 0
		k.kept[k.at] = stay{cells: slices.Clone(b.text.cells), cursor: b.text.at, edited: edited}
	}
	s, ok := k.kept[at]
	if !ok {
		s.cells = b.cellsOf(b.hist[at], 1)
		s.cursor = len(s.cells)
	}
	b.text.open = false
	b.text.splice(0, len(b.text.cells), s.cells)
	b.text.at = s.cursor
	k.at, k.version, k.fresh = at, b.text.version, true
}

// find is the search through the history, newest first.
type find struct {
	query []cell
	at    int // index into hist, -1 if nothing matches
}

// findLines is how many lines the search wants at most.
const findLines = 4

// findHeight returns the lines of the search: one for the query, and one or more for the match.
func (b *Box) findHeight() int {
	if b.find.at < 0 {
		return 2
	}
	entry := b.hist[b.find.at]
	from, _ := index(entry, joined(b.find.query))
	return min(findLines, 2+strings.Count(entry[from:], "\n"))
}

func (b *Box) findOpen() {
	b.list.close()
	b.find = &find{at: -1}
}

// findType adds to the query and searches from the current match on.
func (b *Box) findType(s string) {
	b.find.query = append(b.find.query, split(s)...)
	from := b.find.at
	if from < 0 {
		from = len(b.hist) - 1
	}
	b.find.at = b.match(from, -1)
}

// match returns the next entry from index i on, in steps of by, that contains the query.
func (b *Box) match(i, by int) int {
	query := joined(b.find.query)
	if query == "" {
		return -1
	}
	for ; i >= 0 && i < len(b.hist); i += by {
		if from, _ := index(b.hist[i], query); from >= 0 {
			return i
		}
	}
	return -1
}

// index finds query in s; small letters match capitals too.
func index(s, query string) (from, to int) {
	if from = strings.Index(s, query); from >= 0 {
		return from, from + len(query)
	}
	if strings.ToLower(query) != query {
		return -1, -1
	}
	// Lower case may be longer or shorter than the original: then positions differ, and nothing is marked.
	low := strings.ToLower(s)
	if from = strings.Index(low, query); from < 0 || len(low) != len(s) {
		if from >= 0 {
			return 0, 0
		}
		return -1, -1
	}
	return from, from + len(query)
}

// findKey is Key while the search is open: every key that types no text ends it or moves it.
func (b *Box) findKey(key, typed string) (Intent, bool) {
	f := b.find
	switch key {
	case "esc", "ctrl+g":
		b.find = nil
	case "enter", "tab", "right", "left", "home", "end", "ctrl+a", "ctrl+e", "ctrl+j":
		b.findAccept()
	case "ctrl+r", "up":
		if i := b.match(max(f.at, 0)-1, -1); f.at >= 0 && i >= 0 {
			f.at = i
		}
	case "ctrl+s", "down":
		if i := b.match(f.at+1, 1); f.at >= 0 && i >= 0 {
			f.at = i
		}
	case "backspace", "ctrl+h":
		if n := len(f.query); n > 0 {
			f.query = f.query[:n-1]
		}
		f.at = b.match(len(b.hist)-1, -1)
	case "ctrl+u", "ctrl+w", "alt+backspace":
		f.query, f.at = nil, -1
	default:
		if typed == "" {
			return None, false
		}
		b.findType(typed)
	}
	return None, true
}

// findAccept puts the match into the box; it can be edited before it is sent.
func (b *Box) findAccept() {
	at := b.find.at
	b.find = nil
	if at >= 0 {
		b.recall(at)
		b.walk.fresh = false
	}
}

// findRows renders the search: the query, and below it the matching entry, from the matching line on.
func (b *Box) findRows(w, h int) {
	label := cells.Cut("search: ", w/2)
	room := max(1, w-cells.Width(label)-1)
	shown, used := b.find.query, 0
	for i := len(shown) - 1; i >= 0; i-- {
		if used+int(shown[i].w) > room {
			shown = shown[i+1:]
			break
		}
		used += int(shown[i].w)
	}
	var query strings.Builder
	for _, c := range shown {
		query.WriteString(c.show())
	}
	b.last.lines = append(b.last.lines, b.theme.Paint(themes.Accent, label)+b.theme.Paint(themes.Text, query.String()))
	b.last.x = min(cells.Width(label)+used, w-1)

	indent := b.indent(w)
	gap := strings.Repeat(" ", indent)
	add := func(line string) {
		if len(b.last.lines) < h {
			b.last.lines = append(b.last.lines, gap+line)
		}
	}
	if b.find.at < 0 {
		note := "type to search the history · ctrl+r older · enter use · esc cancel"
		if len(b.find.query) > 0 {
			note = "no earlier prompt matches"
		}
		add(b.theme.Paint(themes.Dim, cells.Cut(note, w-indent)))
		return
	}
	entry := b.hist[b.find.at]
	from, to := index(entry, joined(b.find.query))
	start := max(strings.LastIndex(entry[:from], "\n")+1, from-w/2)
	head := cells.CleanLine(strings.ToValidUTF8(entry[start:from], ""))
	hit := cells.CleanLine(entry[from:to])
	line := b.theme.Paint(themes.Text, head) + b.look.chosen.Render(hit)
	rest, more, _ := strings.Cut(clip(entry[to:], 4*w*findLines), "\n")
	add(cells.Cut(line+b.theme.Paint(themes.Text, cells.CleanLine(rest)), w-indent))
	for more != "" && len(b.last.lines) < h {
		rest, more, _ = strings.Cut(more, "\n")
		add(b.theme.Paint(themes.Dim, cells.Cut(cells.CleanLine(rest), w-indent)))
	}
}

// clip shortens s to n bytes or a few less, at a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
