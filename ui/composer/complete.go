package composer

import (
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"

	"fantail/themes"
	"fantail/ui/cells"
)

// list is the completion of the word at the cursor.
type list struct {
	trigger  string
	from     int // the word is cells[from:cursor], without its trigger
	word     string
	hits     []hit
	at       int  // the chosen one
	moved    bool // the human chose it
	top      int
	refused  int // the word that begins at refused-1 was closed by Esc; 0: none
	lines    []string
	w, limit int // what lines were rendered for
}

// hit is a candidate that matches the word.
type hit struct {
	Item
	label string // clean
	marks []int  // places in label that matched, in bytes
	rank  int    // exact, prefix, fuzzy
	score int
}

// listRows is how many candidates show at once.
const listRows = 8

func (l *list) open() bool { return len(l.hits) > 0 }

func (l *list) close() { *l = list{} }

// Refresh looks the candidates up again, once the source has new ones.
func (b *Box) Refresh() {
	b.complete()
	b.touch()
}

// complete looks at the word before the cursor and opens, changes or closes the list.
func (b *Box) complete() {
	if b.source == nil {
		return
	}
	trigger, line, from, ok := b.trigger()
	if !ok {
		b.list.close()
		return
	}
	refused := b.list.refused
	if refused == from+1 {
		return
	}
	word := joined(b.text.cells[from:b.text.at])
	hits := rank(b.source(trigger, line, word), word)
	if trigger != "/" && len(hits) == 1 && hits[0].Insert == word {
		hits = nil // it is complete already; for a command the help is still useful
	}
	b.list = list{trigger: trigger, from: from, word: word, hits: hits}
}

// trigger returns what the word before the cursor can be completed with. Chips are no words.
func (b *Box) trigger() (trigger, line string, from int, ok bool) {
	cells, at := b.text.cells, b.text.at
	from = at
	for from > 0 && !cells[from-1].space() {
		from--
		if cells[from].chip > 0 {
			return "", "", 0, false
		}
	}
	start := b.text.lineStart(at)
	before := func() string { return joined(cells[start:at]) }
	// An `@` starts a path, and a `#` a document, after a blank or an opening mark.
	for i := from; i < at; i++ {
		if s := cells[i].s; (s == "@" || s == "#") && (i == from || strings.Contains("([{\"'`=,", cells[i-1].s)) {
			return s, before(), i + 1, true
		}
	}
	if start > 0 || len(cells) == 0 || cells[0].s != "/" || at == 0 {
		return "", "", 0, false
	}
	if from == 0 {
		return "/", before(), 1, true
	}
	return " ", before(), from, true
}

// rank returns the items that match the word, the best first: the word itself, then those that begin with it, then by
// the score of the fuzzy match.
func rank(items []Item, word string) []hit {
	if word == "" {
		hits := make([]hit, len(items))
		for i, it := range items {
			hits[i] = newHit(it, nil)
		}
		return hits
	}
	found := fuzzy.FindFromNoSort(word, inserts(items))
	hits := make([]hit, len(found))
	for i, m := range found {
		it := items[m.Index]
		h := newHit(it, m.MatchedIndexes)
		h.score = m.Score
		switch {
		case strings.EqualFold(strings.TrimRight(it.Insert, " "), word):
			h.rank = 0
		case len(it.Insert) >= len(word) && strings.EqualFold(it.Insert[:len(word)], word):
			h.rank = 1
		default:
			h.rank = 2
		}
		hits[i] = h
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		if a.rank != b.rank {
			return a.rank - b.rank
		}
		return b.score - a.score
	})
	return hits
}

type inserts []Item

func (s inserts) String(i int) string { return s[i].Insert }
func (s inserts) Len() int            { return len(s) }

// newHit labels an item. Matches are marked if the label contains the inserted text, and only in a label that needed
// no cleaning.
func newHit(it Item, marks []int) hit {
	if it.Label == "" {
		it.Label = it.Insert
	}
	h := hit{Item: it, label: cells.CleanLine(it.Label)}
	shift := strings.Index(it.Label, it.Insert)
	if len(marks) == 0 || shift < 0 || h.label != it.Label {
		return h
	}
	h.marks = make([]int, len(marks))
	for i, m := range marks {
		h.marks[i] = m + shift
	}
	return h
}

// listKey is Key for an open list. It returns false if the key is for the text.
func (b *Box) listKey(key string) bool {
	l := &b.list
	n := len(l.hits)
	switch key {
	case "up", "ctrl+p":
		l.at, l.moved = (l.at+n-1)%n, true
	case "down", "ctrl+n":
		l.at, l.moved = (l.at+1)%n, true
	case "tab":
		b.accept()
	case "enter":
		if !b.enterAccepts() {
			return false
		}
		b.accept()
	case "esc":
		from := l.from
		l.close()
		l.refused = from + 1
	default:
		return false
	}
	l.lines = nil
	return true
}

// enterAccepts reports whether Enter is for the list. A word that is complete needs no completion. A command is completed
// only if it was chosen: an unknown one must not become its neighbour. An argument is completed only if it was begun or
// chosen: otherwise `/receive ` could not be sent while agents are offered.
func (b *Box) enterAccepts() bool {
	l := &b.list
	h := l.hits[l.at]
	if l.moved {
		return true
	}
	if strings.TrimRight(h.Insert, " ") == l.word {
		return false
	}
	switch l.trigger {
	case "/":
		return false
	case " ":
		return l.word != "" && h.rank <= 1
	}
	return true
}

// accept replaces the word by the chosen candidate. It adds a blank unless the candidate expects more.
func (b *Box) accept() {
	l := b.list
	s := l.hits[l.at].Insert
	end := b.text.at
	if l.trigger != " " {
		for end < len(b.text.cells) && !b.text.cells[end].space() && b.text.cells[end].chip == 0 {
			end++
		}
	}
	waits := strings.HasSuffix(s, "=") || strings.HasSuffix(s, "/") || strings.HasSuffix(s, " ")
	b.text.open = false
	b.settle()
	b.text.splice(l.from, end, split(s))
	b.text.at = l.from + len(split(s))
	b.list.close()
	switch next := b.text.at; {
	case waits:
		b.complete()
	case next < len(b.text.cells) && b.text.cells[next].space():
		b.text.at++
	default:
		b.text.insert(" ")
		if l.trigger == "/" {
			b.complete()
		}
	}
}

// reopen shows a list that Esc closed. It returns false if there is nothing to complete.
func (b *Box) reopen() bool {
	b.list.refused = 0
	b.complete()
	return b.list.open()
}

// Popup returns the lines of the completion list, nil if it is closed: at most 8 lines and at most max, all of the
// same width.
func (b *Box) Popup(w, max int) []string {
	l := &b.list
	if !l.open() || w < 4 || max <= 0 {
		return nil
	}
	if l.lines == nil || l.w != w || l.limit != max {
		l.w, l.limit = w, max
		l.lines = b.listLines(w, min(max, listRows))
	}
	return l.lines
}

func (b *Box) listLines(w, h int) []string {
	l := &b.list
	h = min(h, len(l.hits))
	l.top = max(min(l.top, l.at, len(l.hits)-h), l.at-h+1, 0)
	shown := l.hits[l.top : l.top+h]
	label, help, sizes := 0, 0, shown
	if l.trigger == "/" { // there are few, and none may move the others while the list scrolls
		sizes = l.hits
	}
	for _, h := range sizes {
		label = max(label, cells.Width(h.label))
		help = max(help, cells.Width(cells.CleanLine(h.Help)))
		if h.Args != "" {
			help = w
		}
	}
	width := min(w, 2+label+1)
	if help > 0 {
		label = min(label, max(w/2-2, 12))
		width = min(w, 2+label+2+help+1)
	}
	lines := make([]string, h)
	for i, hit := range shown {
		mark := "│"
		switch {
		case i == 0 && l.top > 0:
			mark = "↑"
		case i == h-1 && l.top+h < len(l.hits):
			mark = "↓"
		}
		chosen := l.top+i == l.at
		name := min(label, width-3)
		body := cells.Cut(b.listLabel(hit, chosen), name)
		rest := strings.Repeat(" ", max(0, name-cells.Width(body)))
		if help > 0 {
			rest += "  " + cells.CleanLine(hit.Help)
			if chosen && hit.Args != "" {
				rest += "   " + cells.CleanLine(hit.Args)
			}
		}
		rest = cells.Fit(rest, max(0, width-2-cells.Width(body)))
		if chosen {
			body = b.look.chosen.Render(" ") + body + b.look.chosen.Render(rest)
		} else {
			body = " " + body + b.theme.Paint(themes.Dim, rest)
		}
		lines[i] = b.theme.Paint(themes.Border, mark) + body
	}
	return lines
}

// listLabel renders a label with its matches marked.
func (b *Box) listLabel(h hit, chosen bool) string {
	plain := func(s string) string {
		if chosen {
			return b.look.chosen.Render(s)
		}
		return b.theme.Paint(themes.Text, s)
	}
	match := func(s string) string {
		if chosen {
			return b.look.chosenMatch.Render(s)
		}
		return b.theme.Paint(themes.Accent, s)
	}
	if len(h.marks) == 0 {
		return plain(h.label)
	}
	var out strings.Builder
	at := 0
	for i := 0; i < len(h.marks); {
		from := h.marks[i]
		to := from
		for i < len(h.marks) && h.marks[i] == to {
			to += runeLen(h.label[to:])
			i++
		}
		if from > at {
			out.WriteString(plain(h.label[at:from]))
		}
		out.WriteString(match(h.label[from:to]))
		at = to
	}
	if at < len(h.label) {
		out.WriteString(plain(h.label[at:]))
	}
	return out.String()
}
