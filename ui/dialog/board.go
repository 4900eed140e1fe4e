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

// Lane is a group of the rows of a board.
type Lane struct {
	Name  string
	Short string // for narrow boards
	Count int    // -1: unknown
	Role  themes.Role
}

// Line is a row of a board. Each of its texts is shown on one line.
type Line struct {
	ID     int64 // of the listed thing; 0: a heading, which the bar skips
	Lane   int   // index of its lane
	Sign   string
	Role   themes.Role
	Mark   string // one cell: pinned or muted; "": none
	Number string
	Who    string
	Flags  string // highlighted before the text: priority and tags
	Text   string
	At     time.Time // its age is shown; zero: none
	Ahead  bool      // At is a due time, and the time until then is shown
	Fold   int       // number of rows folded into it
	Open   bool      // they are shown below it
	Under  bool      // it is one of them
	Faint  bool      // it was put off
	Fresh  bool      // it was not seen yet
	Cost   int       // tokens that taking it costs
	Does   string    // what Enter does instead of taking it, which also can't be picked; "": it takes it
}

// clean removes control characters from all texts of a line.
func (l *Line) clean() {
	for _, s := range []*string{&l.Sign, &l.Mark, &l.Number, &l.Who, &l.Flags, &l.Text, &l.Does} {
		*s = cells.CleanLine(*s)
	}
}

// Verb is an action on a row.
type Verb struct {
	Key  string // keys, separated by blanks; the border shows the first
	Name string // name of the action
	Help string
	Hint string // in the lower border; "": only in the list of keys
	Many string // hint while rows are picked, before their number; "": Hint
	Ask  string // label of the line to type in; "": nothing is typed
	All  bool   // the typed text is for all picked rows
	Bare bool   // it needs no row
}

// BoardAction is an action that the human wants. The board stays open. Verb is the verb's name.
type BoardAction struct {
	Verb string
	ID   int64   // row under the bar; 0: none
	IDs  []int64 // picked rows, else the one under the bar
	Text string  // typed text
}

func (BoardAction) decision() {}

// Preview shows more of the row under the bar. Lines returns exactly h lines of at most w cells.
type Preview interface {
	Lines(w, h int) []string
	Scroll(lines int)
}

// Board is a list that fills the screen. The list may have any number of rows: the board holds a
// window of them around the bar, beside or above a preview. Text typed in its last line belongs to
// the board alone.
type Board struct {
	theme *themes.Theme
	now   func() time.Time
	title string
	empty string // hint for an empty list
	verbs []Verb
	picks bool // rows can be picked

	lanes []Lane
	lane  int // lane shown; -1: all
	lines []Line
	read  bool // they were shown once
	small bool // it is, while it has no rows

	above  bool // rows precede the window
	below  bool // rows follow the window
	at     int64
	place  int // last known index of the bar's line
	leaps  int
	owed   int // rows that the bar still has to move beyond the window
	picked map[int64]int
	folds  map[int64]bool // unfolded threads, by their first row
	folded int            // counts changes of folds

	find  *input
	seeks bool // find is open
	asking
	notice string
	bad    bool // the notice reports a failure

	beside
	scroll scroll
	cx, cy int
	cursor bool
	last   frames
}

// asking is the line in which text for a verb is typed.
type asking struct {
	ask  *input
	asks Verb // verb of the typed text; Name "": none
	of   int64
	ids  []int64 // rows that it is for
}

// beside is the preview of a row.
type beside struct {
	preview Preview
	shows   int64 // row of preview
	covered int64 // row shown in full over the board
	peeks   bool  // it fills the board
}

// frames are the areas drawn last that can be clicked, in cells of the board.
type frames struct {
	list, preview area
	tabs          []tabAt
}

type area struct{ x, y, w, h int }

func (a area) has(x, y int) bool { return x >= a.x && x < a.x+a.w && y >= a.y && y < a.y+a.h }

type tabAt struct{ lane, from, to int }

// NewBoard makes an empty board. picks reports whether rows can be picked. empty is the text of an
// empty list.
func NewBoard(t *themes.Theme, now func() time.Time, title, empty string, verbs []Verb, picks bool) *Board {
	return &Board{
		theme: t, now: now, title: title, empty: empty, verbs: verbs, picks: picks, lane: -1,
		picked: map[int64]int{}, folds: map[int64]bool{}, find: newInput(),
	}
}

// SetTheme changes the colours.
func (b *Board) SetTheme(t *themes.Theme) { b.theme = t }

// Entitle sets the title and the text of an empty list.
func (b *Board) Entitle(title, empty string) { b.title, b.empty = cells.CleanLine(title), empty }

// Stand puts the bar on a row of the next window.
func (b *Board) Stand(id int64) { b.at, b.place = id, 0 }

// Peek shows the preview.
func (b *Board) Peek() { b.peeks = b.peeks || b.last.preview.h == 0 && b.At() != 0 }

// Lanes replaces the lanes and their counts.
func (b *Board) Lanes(ls []Lane) { b.lanes = ls }

// Show replaces the window. above and below report whether rows precede and follow it. The bar
// stays on its row, else at its place.
func (b *Board) Show(lines []Line, above, below bool) {
	was := b.bar()
	over := was - b.scroll.top
	for i := range lines {
		lines[i].clean()
	}
	b.lines, b.above, b.below, b.read = lines, above, below, true
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
		b.scroll.top = max(0, at-over) // the bar's distance from the top stays the same
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

// Shrinks makes the board a small box while it has no rows.
func (b *Board) Shrinks() *Board {
	b.small = true
	return b
}

// Bare reports whether the board is small now.
func (b *Board) Bare() bool {
	return b.small && b.read && len(b.lines) == 0 && b.lane < 0 && b.Search() == ""
}

// At returns the row under the bar; 0: none.
func (b *Board) At() int64 {
	if b.bar() < 0 {
		return 0
	}
	return b.at
}

// Lane returns the lane shown; -1: all.
func (b *Board) Lane() int { return b.lane }

// Search returns the search text.
func (b *Board) Search() string { return strings.TrimSpace(b.find.value()) }

// Unfolded returns the rows whose threads are unfolded, and a number that changes whenever they do.
func (b *Board) Unfolded() (ids []int64, version int) {
	return slices.Sorted(maps.Keys(b.folds)), b.folded
}

// near is how close to the end of the window the bar must be for more rows to be read.
const near = 60

// Wants reports whether the bar is near the beginning or the end of the window and more rows follow
// there.
func (b *Board) Wants() (above, below bool) {
	at := b.bar()
	return b.above && at < near, b.below && at >= len(b.lines)-near
}

// Peeks reports whether the preview is visible.
func (b *Board) Peeks() bool { return b.peeks || b.last.preview.h > 0 }

// Cover names the row that is shown in full over the board, so that the board need not repeat it;
// 0: none.
func (b *Board) Cover(id int64) { b.covered = id }

// Previews returns the row of the preview.
func (b *Board) Previews() int64 { return b.shows }

// Preview replaces the preview and marks its row as seen.
func (b *Board) Preview(id int64, p Preview) {
	b.shows, b.preview = id, p
	for i := range b.lines {
		if b.lines[i].ID == id {
			b.lines[i].Fresh = false
		}
	}
}

// Say shows the result of an action in the last line, until the next key. Fail shows why an action
// failed.
func (b *Board) Say(text string)  { b.notice, b.bad = text, false }
func (b *Board) Fail(text string) { b.notice, b.bad = text, true }

// Unpick unpicks rows.
func (b *Board) Unpick(ids ...int64) {
	for _, id := range ids {
		delete(b.picked, id)
	}
}

// Picked returns the picked rows.
func (b *Board) Picked() []int64 { return slices.Sorted(maps.Keys(b.picked)) }

// Resume asks again for the text of an action that failed. It returns false if it can't, because
// something else is being typed.
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

// next returns the first row from index i in the direction step that the bar may be on, else the
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

// move moves the bar by rows. The part beyond the window is done when more rows arrive.
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

// Key passes a key to the open line, else to the list.
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
		b.peeks = true // show it first, so that it is seen before it is taken
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

// back closes what is open over the list, else ends what narrows it, else closes the board.
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

// keyFind edits the search text. Keys that don't edit text move the bar as usual.
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

// leap puts the bar on the first or last row of the list.
func (b *Board) leap(way int) {
	b.move(way * len(b.lines))
	b.owed = 0
	if way < 0 && b.above || way > 0 && b.below {
		b.leaps = way
	}
}

// Leaps returns which end of the list the bar should be on that is outside the window: -1, 1, or 0
// for none.
func (b *Board) Leaps() int { return b.leaps }

// Landed puts the bar on that end of the window.
func (b *Board) Landed() {
	way := b.leaps
	b.leaps = 0
	b.move(way * len(b.lines))
	b.owed = 0
}

// keyPreview scrolls the preview. p has it fill the board, until Esc.
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

// keyLane shows a lane: by its number, 0 for all, or the next one.
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

// turn shows another lane from its beginning.
func (b *Board) turn(lane int) {
	if lane != b.lane {
		b.lane, b.at, b.place, b.scroll.top, b.peeks, b.owed = lane, 0, 0, 0, false, 0
	}
}

// pick picks or unpicks the row under the bar and moves to the next row.
func (b *Board) pick() {
	at := b.bar()
	if at < 0 || !b.picks {
		return
	}
	if does := b.lines[at].Does; does != "" {
		b.Say("This message can't be selected. Press enter to " + does + " it")
		return
	}
	if _, ok := b.picked[b.at]; ok {
		delete(b.picked, b.at)
	} else {
		b.picked[b.at] = b.lines[at].Cost
	}
	b.move(1)
}

// fold folds or unfolds the thread under the bar.
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

// Paste inserts a text into the open line.
func (b *Board) Paste(s string) {
	switch {
	case b.asks.Name != "":
		b.ask.insert(s)
	case b.seeks:
		b.find.insert(s)
	}
}

func (b *Board) Cursor() (x, y int, ok bool) { return b.cx, b.cy, b.cursor }

// Wheel scrolls what is under the pointer: the preview, else the list.
func (b *Board) Wheel(x, y, lines int) {
	if b.preview != nil && b.last.preview.has(x, y) {
		b.preview.Scroll(lines)
		return
	}
	b.move(lines)
}

// Click puts the bar on the clicked row, or shows the clicked lane.
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
