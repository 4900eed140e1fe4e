package dialog

import (
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/ui/cells"
)

// Lane is a part of what a board lists.
type Lane struct {
	Name  string
	Short string // where the name has no room
	Count int    // -1: not known
	Role  themes.Role
}

// Line is a row of a board. Of each of its texts one line shows.
type Line struct {
	ID     int64 // of what it lists; 0: a heading, which the bar skips
	Lane   int   // of a row: the lane it belongs to, as its index
	Sign   string
	Role   themes.Role
	Mark   string // one cell: pinned, held silently; "": none
	Number string
	Who    string
	Flags  string // highlighted before the text: its priority, its tags
	Text   string
	At     time.Time // its age shows; zero: none
	Ahead  bool      // At is when it is due: how long until then shows
	Fold   int       // how many more are folded into it
	Open   bool      // they show below it
	Under  bool      // it is one of those
	Faint  bool      // it was put off
	Fresh  bool      // it was not seen yet
	Cost   int       // tokens that taking it costs
	Does   string    // what Enter does with it instead of taking it: it can't be picked
}

// clean makes all texts of a line displayable.
func (l *Line) clean() {
	for _, s := range []*string{&l.Sign, &l.Mark, &l.Number, &l.Who, &l.Flags, &l.Text, &l.Does} {
		*s = cells.CleanLine(*s)
	}
}

// Verb is something that can be done with a row.
type Verb struct {
	Key  string // or several, separated by blanks; the border shows the first
	Name string // of the wish
	Help string
	Hint string // in the lower border; "": only the list of keys shows it
	Many string // the hint where rows are picked, before how many; "": as ever
	Ask  string // what is to be typed for it; "": nothing
	All  bool   // what is typed is for all that are picked
	Bare bool   // it needs no row
}

// BoardAction is what the human wants done, for the board stays open: a verb's name.
type BoardAction struct {
	Verb string
	ID   int64   // the row under the bar; 0: none
	IDs  []int64 // the rows that are picked, else the one under the bar
	Text string  // what was typed
}

func (BoardAction) decision() {}

// Preview shows more of the row under the bar. Lines returns exactly h lines of at most w cells.
type Preview interface {
	Lines(w, h int) []string
	Scroll(lines int)
}

// Board is a full-screen list of which any number of rows may exist: it holds a
// window of them around the bar, beside or above a preview. What is typed at its
// foot belongs to it alone.
type Board struct {
	theme *themes.Theme
	now   func() time.Time
	title string
	empty string // what to do where there is nothing
	verbs []Verb
	picks bool // rows can be picked

	lanes  []Lane
	lane   int // the one that shows; -1: all
	lines  []Line
	above  bool // there are rows before the window
	below  bool // there are rows after it
	at     int64
	place  int // of the bar's line, as it was last known
	leaps  int
	owed   int // how much farther the bar would have moved than the window reaches
	picked map[int64]int
	folds  map[int64]bool // the threads that are unfolded, by the row they hang on
	folded int            // counts changes of folds

	find  *input
	seeks bool // find is open
	asking
	notice string
	bad    bool // the notice is of a failure

	beside
	scroll scroll
	cx, cy int
	cursor bool
	last   frames
}

// asking is the line in which words are typed for a verb.
type asking struct {
	ask  *input
	asks Verb // what is typed for; Name "": nothing
	of   int64
	ids  []int64 // and those that it is for
}

// beside is the preview of a row.
type beside struct {
	preview Preview
	shows   int64 // what preview is of
	covered int64 // what shows whole over the board
	peeks   bool  // it fills the board
}

// frames is where the last Lines drew what can be pointed at, in cells of the
// board.
type frames struct {
	list, preview area
	tabs          []tabAt
}

type area struct{ x, y, w, h int }

func (a area) has(x, y int) bool { return x >= a.x && x < a.x+a.w && y >= a.y && y < a.y+a.h }

type tabAt struct{ lane, from, to int }

// NewBoard makes an empty board; picks says whether rows can be picked. empty is the text when
// there is nothing to list.
func NewBoard(t *themes.Theme, now func() time.Time, title, empty string, verbs []Verb, picks bool) *Board {
	return &Board{
		theme: t, now: now, title: title, empty: empty, verbs: verbs, picks: picks, lane: -1,
		picked: map[int64]int{}, folds: map[int64]bool{}, find: newInput(),
	}
}

// SetTheme changes the colours.
func (b *Board) SetTheme(t *themes.Theme) { b.theme = t }

// Entitle says what the board shows, and what to do where there is nothing.
func (b *Board) Entitle(title, empty string) { b.title, b.empty = cells.CleanLine(title), empty }

// Stand puts the bar on a row of what Show brings next.
func (b *Board) Stand(id int64) { b.at, b.place = id, 0 }

// Peek brings the preview into sight.
func (b *Board) Peek() { b.peeks = b.peeks || b.last.preview.h == 0 && b.At() != 0 }

// Lanes replaces the lanes and their counts.
func (b *Board) Lanes(ls []Lane) { b.lanes = ls }

// Show replaces the window; above and below say whether there are rows before and after it. The bar
// stays on its row, or else in its place.
func (b *Board) Show(lines []Line, above, below bool) {
	was := b.bar()
	over := was - b.scroll.top
	for i := range lines {
		lines[i].clean()
	}
	b.lines, b.above, b.below = lines, above, below
	at := b.bar()
	if at < 0 {
		at = min(max(b.place, 0), len(lines)-1)
		if at >= 0 && lines[at].ID == 0 {
			at = b.next(at, 1)
		}
		b.at = 0
		if at >= 0 {
			b.at = lines[at].ID
		}
	}
	b.place = max(at, 0)
	if was >= 0 && at >= 0 && b.scroll.top > 0 {
		b.scroll.top = max(0, at-over) // what is beside the bar stays beside it
	}
	if owed := b.owed; owed != 0 {
		b.owed = 0
		b.move(owed)
	}
	for i := range lines {
		if _, ok := b.picked[lines[i].ID]; ok {
			b.picked[lines[i].ID] = lines[i].Cost
		}
	}
}

// At is the row under the bar, 0 if there is none.
func (b *Board) At() int64 {
	if b.bar() < 0 {
		return 0
	}
	return b.at
}

// Lane is the lane that shows, -1 for all.
func (b *Board) Lane() int { return b.lane }

// Search is what is searched for.
func (b *Board) Search() string { return strings.TrimSpace(b.find.value()) }

// Unfolded are the rows whose threads are unfolded, and a number that changes when
// they do.
func (b *Board) Unfolded() (ids []int64, version int) {
	return slices.Sorted(maps.Keys(b.folds)), b.folded
}

// near is how near the bar must be to the end of the window for more to be wanted.
const near = 60

// Wants reports that the bar nears the beginning or the end of the window, and that there are rows
// beyond.
func (b *Board) Wants() (above, below bool) {
	at := b.bar()
	return b.above && at < near, b.below && at >= len(b.lines)-near
}

// Peeks reports whether the preview is in sight.
func (b *Board) Peeks() bool { return b.peeks || b.last.preview.h > 0 }

// Cover names the row that shows in full over the board, and so need not show twice; 0: none.
func (b *Board) Cover(id int64) { b.covered = id }

// Previews is what the preview is of.
func (b *Board) Previews() int64 { return b.shows }

// Preview replaces the preview; its row has been seen.
func (b *Board) Preview(id int64, p Preview) {
	b.shows, b.preview = id, p
	for i := range b.lines {
		if b.lines[i].ID == id {
			b.lines[i].Fresh = false
		}
	}
}

// Say shows at the foot what became of a wish, until the next key; Fail why it could not be
// carried out.
func (b *Board) Say(text string)  { b.notice, b.bad = text, false }
func (b *Board) Fail(text string) { b.notice, b.bad = text, true }

// Unpick lets go of rows that were picked.
func (b *Board) Unpick(ids ...int64) {
	for _, id := range ids {
		delete(b.picked, id)
	}
}

// Picked are the rows that are picked.
func (b *Board) Picked() []int64 { return slices.Sorted(maps.Keys(b.picked)) }

// Resume asks again for what was typed for a verb and could not be done. false: it
// can't, for something else is being typed.
func (b *Board) Resume(w BoardAction) bool {
	if w.Text == "" {
		return true
	}
	for _, v := range b.verbs {
		if v.Name == w.Verb && v.Ask != "" && b.asks.Name == "" && !b.seeks {
			b.askFor(v, w)
			b.ask.insert(w.Text)
			return true
		}
	}
	return false
}

func (b *Board) bar() int {
	if b.place < len(b.lines) && b.place >= 0 && b.lines[b.place].ID == b.at && b.at != 0 {
		return b.place
	}
	return slices.IndexFunc(b.lines, func(l Line) bool { return l.ID == b.at && l.ID != 0 })
}

// next is the first row in that direction, from a place on, that the bar may be on; else the
// nearest one in the other direction.
func (b *Board) next(i, step int) int {
	for _, s := range []int{step, -step} {
		for j := i; j >= 0 && j < len(b.lines); j += s {
			if b.lines[j].ID != 0 {
				return j
			}
		}
	}
	return -1
}

// move moves the bar by rows. What the window does not reach is made up for when
// more of it comes.
func (b *Board) move(by int) {
	step := 1
	if by < 0 {
		step = -1
	}
	to := b.bar() + by
	if by*b.owed < 0 {
		b.owed = 0
	}
	switch last := len(b.lines) - 1; {
	case to < 0 && b.above:
		b.owed += to
	case to > last && b.below:
		b.owed += to - last
	}
	if at := b.next(max(0, min(len(b.lines)-1, to)), step); at >= 0 {
		b.at, b.place = b.lines[at].ID, at
	}
}

// Key takes a key: for the line that is open at the foot, else for the list.
func (b *Board) Key(k tea.KeyPressMsg) Decision {
	b.notice = ""
	switch {
	case b.asks.Name != "":
		return b.keyAsk(k)
	case b.seeks:
		if d, ok := b.keyFind(k); ok {
			return d
		}
	}
	key := k.Keystroke()
	if k.Text != "" && k.Mod&^tea.ModShift == 0 {
		key = k.Text
	}
	if key == "enter" && b.At() != 0 && len(b.picked) == 0 && !b.Peeks() {
		b.peeks = true // what is taken is seen first
		return nil
	}
	for _, v := range b.verbs {
		if slices.Contains(strings.Fields(v.Key), key) {
			return b.do(v)
		}
	}
	if b.keyMove(key) || b.keyPreview(key) || b.keyLane(key) {
		return nil
	}
	switch key {
	case "esc":
		return b.back()
	case "/":
		b.seeks, b.peeks = true, false
	case " ", "space":
		b.pick()
	case "right", "l", "left", "h":
		b.fold(key == "right" || key == "l")
	}
	return nil
}

// back closes what is open over the list, then what narrows it, then the board.
func (b *Board) back() Decision {
	switch {
	case b.peeks:
		b.peeks = false
	case len(b.picked) > 0:
		clear(b.picked)
	case b.Search() != "":
		b.find = newInput()
	default:
		return Cancelled{}
	}
	return nil
}

func (b *Board) do(v Verb) Decision {
	w := BoardAction{Verb: v.Name, ID: b.At(), IDs: b.Picked()}
	if len(w.IDs) == 0 && w.ID != 0 {
		w.IDs = []int64{w.ID}
	}
	switch {
	case len(w.IDs) == 0 && !v.Bare:
		return nil
	case v.Ask != "":
		b.askFor(v, w)
		return nil
	}
	return w
}

func (b *Board) askFor(v Verb, w BoardAction) {
	b.asks, b.of, b.ids, b.ask = v, w.ID, []int64{w.ID}, newInput()
	if v.All {
		b.of, b.ids = w.IDs[0], w.IDs
	}
}

func (b *Board) keyAsk(k tea.KeyPressMsg) Decision {
	switch k.Keystroke() {
	case "esc":
		b.asks = Verb{}
	case "enter":
		text := strings.TrimSpace(b.ask.value())
		if text == "" {
			return nil
		}
		w := BoardAction{Verb: b.asks.Name, ID: b.of, IDs: b.ids, Text: text}
		b.asks = Verb{}
		return w
	default:
		b.ask.key(k)
	}
	return nil
}

// keyFind edits what is searched for. Keys that are not for a line of text move
// the bar as ever.
func (b *Board) keyFind(k tea.KeyPressMsg) (Decision, bool) {
	switch k.Keystroke() {
	case "esc":
		b.seeks, b.find = false, newInput()
	case "enter":
		b.seeks = false
	case "up", "down", "pgup", "pgdown", "shift+up", "shift+down", "tab", "shift+tab":
		return nil, false
	default:
		b.find.key(k)
	}
	return nil, true
}

func (b *Board) keyMove(key string) bool {
	page := max(1, b.scroll.view-1)
	switch key {
	case "up", "k", "ctrl+p":
		b.move(-1)
	case "down", "j", "ctrl+n":
		b.move(1)
	case "g", "home", "ctrl+home":
		b.leap(-1)
	case "G", "end", "ctrl+end":
		b.leap(1)
	case "ctrl+u":
		b.move(-page)
	case "ctrl+d":
		b.move(page)
	case "pgup", "pgdown":
		if b.Peeks() {
			return false
		}
		if key == "pgup" {
			page = -page
		}
		b.move(page)
	default:
		return false
	}
	return true
}

// leap puts the bar on the first row of all, or the last.
func (b *Board) leap(way int) {
	b.move(way * len(b.lines))
	b.owed = 0
	if way < 0 && b.above || way > 0 && b.below {
		b.leaps = way
	}
}

// Leaps tells which end of all rows the bar wants to be on that the window does
// not reach: -1, 1, or 0 for none.
func (b *Board) Leaps() int { return b.leaps }

// Landed puts the bar on the end of the window that it wanted to be on.
func (b *Board) Landed() {
	way := b.leaps
	b.leaps = 0
	b.move(way * len(b.lines))
	b.owed = 0
}

// keyPreview scrolls the preview; p lets it fill the board, until Esc.
func (b *Board) keyPreview(key string) bool {
	lines := 0
	switch key {
	case "shift+up", "ctrl+up":
		lines = -1
	case "shift+down", "ctrl+down":
		lines = 1
	case "pgup":
		lines = -max(1, b.last.preview.h-2)
	case "pgdown":
		lines = max(1, b.last.preview.h-2)
	case "p":
		b.peeks = b.At() != 0
		return true
	default:
		return false
	}
	if b.preview != nil && b.shows == b.At() {
		b.preview.Scroll(lines)
	}
	return true
}

// keyLane goes to a lane: by its number, 0 for all, or on to the next.
func (b *Board) keyLane(key string) bool {
	n := len(b.lanes)
	switch {
	case key == "tab":
		b.turn((b.lane+2)%(n+1) - 1)
	case key == "shift+tab":
		b.turn((b.lane+n+1)%(n+1) - 1)
	case len(key) == 1 && key[0] >= '0' && int(key[0]-'0') <= n:
		b.turn(int(key[0]-'0') - 1)
	default:
		return false
	}
	return true
}

// turn shows another lane, from its beginning.
func (b *Board) turn(lane int) {
	if lane != b.lane {
		b.lane, b.at, b.place, b.scroll.top, b.peeks, b.owed = lane, 0, 0, 0, false, 0
	}
}

// pick picks the row under the bar, or lets go of it, and goes on to the next.
func (b *Board) pick() {
	at := b.bar()
	if at < 0 || !b.picks {
		return
	}
	if does := b.lines[at].Does; does != "" {
		b.Say("Enter " + does + " it; it can't be picked")
		return
	}
	if _, ok := b.picked[b.at]; ok {
		delete(b.picked, b.at)
	} else {
		b.picked[b.at] = b.lines[at].Cost
	}
	b.move(1)
}

// fold unfolds the thread under the bar, or folds it.
func (b *Board) fold(open bool) {
	at := b.bar()
	if at < 0 {
		return
	}
	for !open && at > 0 && b.lines[at].Under {
		at--
	}
	switch l := b.lines[at]; {
	case open && l.Fold > 0:
		b.folds[l.ID] = true
		b.folded++
	case !open && l.Fold > 0:
		delete(b.folds, l.ID)
		b.folded++
		b.at, b.place = l.ID, at
	}
}

// Paste goes into the line that is open.
func (b *Board) Paste(s string) {
	switch {
	case b.asks.Name != "":
		b.ask.insert(s)
	case b.seeks:
		b.find.insert(s)
	}
}

func (b *Board) Cursor() (x, y int, ok bool) { return b.cx, b.cy, b.cursor }

// Wheel scrolls what the pointer is over: the preview, else the list by its rows.
func (b *Board) Wheel(x, y, lines int) {
	if b.preview != nil && b.last.preview.has(x, y) {
		b.preview.Scroll(lines)
		return
	}
	b.move(lines)
}

// Click puts the bar on the row, or goes to the lane, that was clicked.
func (b *Board) Click(x, y int) {
	b.notice = ""
	for _, t := range b.last.tabs {
		if y == 1 && x >= t.from && x < t.to {
			b.turn(t.lane)
			return
		}
	}
	if i := b.scroll.top + y - b.last.list.y; b.last.list.has(x, y) && i < len(b.lines) && b.lines[i].ID != 0 {
		b.at, b.place = b.lines[i].ID, i
	}
}
