// Package tabs holds the agents as the screen knows them, one tab each, and draws the frame of the transcript: the row
// of tabs, the rules above and below, the status line.
//
// Does: order the tabs and record the order of their use, apply the feed's events to them, show an agent's four views,
// fit its state and its mail into a few cells. A new fact about one agent is a field of [Tab]; a new part of the
// status line is a slot in status.go.
//
// Does not: read anything (it says what is missing, and the caller provides it), take keys, know a pool.
package tabs

import (
	"cmp"
	"slices"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/themes"
	"fantail/ui/composer"
	"fantail/ui/dialog"
	"fantail/ui/transcript"
)

// Tab is the screen's part of one agent.
type Tab struct {
	of   *Tabs
	Info event.Info
	View *transcript.View
	Box  *composer.Box // nil for an agent without a prompt box
	Line *Line         // the one-line box of such a tab, if open

	Loaded  bool          // its newest page shows
	Asked   bool          // that page has been asked for
	Newest  int64         // the Seq of that page's newest entry
	latest  int64         // the highest Seq of the entries shown
	backlog []event.Event // events that came before the page

	Question dialog.Question // the dialog for the agent's question, made when it first shows
	About    int64           // the id of that question
	Opened   bool            // it once opened in the box's place by itself
	PutOff   bool            // the human postponed it there
	News     bool            // a message came since the tab was last viewed; see marks.go

	Panes  panes
	Active time.Time // the agent's last sign of life
	pulse  pulse
}

// Line is a one-line box in the tab of an agent without a prompt box.
type Line struct {
	Box   *composer.Box
	For   For
	Label string
}

// For says what is done with the text typed in a [Line].
type For int

// A command as main; an instruction for the agent; a prompt with which the ended agent is resumed.
const (
	Command For = iota
	Tell
	Resume
)

// walkPause ends a walk through the recently used tabs.
const walkPause = time.Second

// Look is how the tabs are drawn.
type Look struct {
	Theme *themes.Theme
	Now   func() time.Time
	ASCII bool // the terminal has ASCII only
	Msgs  bool // the status line says `2 msgs` instead of `2 pending`
	Still bool // nothing moves but clocks
}

// Tabs is all tabs (main and helpers first, then the others in the order in which they opened) and the order of their
// use.
type Tabs struct {
	Look

	All     []*Tab
	Open    []*Tab // those of All that have not ended
	ids     map[int64]*Tab
	asking  map[*Tab]bool
	Good    int // of those that ended
	Bad     int
	Pending int // messages in all inboxes, without questions
	Version int // counts changes of the agents, their names and states
	folded  bool
	whole   map[*Tab]tabCell // cells with whole names, of the row that is laid out

	Focus  *Tab
	recent []*Tab // most recently used first
	walk   int    // where in recent the current walk is
	walked time.Time
}

// Make makes the tab of an agent, without adding it.
func (t *Tabs) Make(i event.Info) *Tab {
	return &Tab{of: t, Info: i, View: t.view()}
}

// view makes a view of a transcript.
func (t *Tabs) view() *transcript.View {
	v := transcript.New(t.Theme, t.Now)
	if t.Still {
		v.Calm()
	}
	return v
}

// SetTheme recolours everything the tabs show.
func (t *Tabs) SetTheme(theme *themes.Theme) {
	t.Theme = theme
	for _, x := range t.All {
		for _, v := range []*transcript.View{x.View, x.Panes.prompt, x.Panes.output, x.Panes.info} {
			if v != nil {
				v.SetTheme(theme)
			}
		}
		if x.Box != nil {
			x.Box.SetTheme(theme)
		}
		if x.Line != nil {
			x.Line.Box.SetTheme(theme)
		}
		if x.Question != nil {
			x.Question.SetTheme(theme)
		}
	}
}

// Stays returns a function that reports whether a tab is still the focused one.
func (t *Tabs) Stays(tab *Tab) func() bool {
	return func() bool { return t.Focus == tab }
}

// Typing returns the box that has the keyboard: the tab's prompt box, or the one-line box opened in a tab without one;
// nil: neither.
func (t *Tab) Typing() *composer.Box {
	if t.Line != nil {
		return t.Line.Box
	}
	return t.Box
}

// Typing returns the box that has the keyboard in the focused tab.
func (t *Tabs) Typing() *composer.Box {
	if t.Focus == nil {
		return nil
	}
	return t.Focus.Typing()
}

// Acting returns the tab of the agent that commands act for: the focused one if the human talks to it, otherwise main.
func (t *Tabs) Acting() *Tab {
	if t.Focus != nil && t.Focus.Info.Kind.HasPrompt() {
		return t.Focus
	}
	return t.Main()
}

func (t *Tabs) ByID(id int64) *Tab { return t.ids[id] }

func (t *Tabs) ByName(name string) *Tab {
	for _, x := range t.All {
		if x.Info.Name == name {
			return x
		}
	}
	return nil
}

// Main returns the tab of main.
func (t *Tabs) Main() *Tab {
	for _, x := range t.All {
		if x.Info.Kind.Nature().Stays {
			return x
		}
	}
	return nil
}

// childrenOf returns the tabs of the agents that this one dispatched.
func (t *Tabs) childrenOf(id int64) []*Tab {
	var xs []*Tab
	for _, x := range t.All {
		if x.Info.Parent == id {
			xs = append(xs, x)
		}
	}
	return xs
}

// LastLines returns the end of an agent's transcript.
func (t *Tabs) LastLines(id int64, w, h int) []string {
	if x := t.ByID(id); x != nil && h > 0 {
		return x.View.Tail(w, h)
	}
	return nil
}

// LiveBelow returns the names of the living agents below that one, as of the last events.
func (t *Tabs) LiveBelow(name string) []string {
	x := t.ByName(name)
	if x == nil || x.Info.State.Terminal() {
		return nil
	}
	in, names := map[int64]bool{x.Info.ID: true}, []string(nil)
	for grew := true; grew; {
		grew = false
		for _, b := range t.All {
			if in[b.Info.Parent] && !in[b.Info.ID] {
				in[b.Info.ID], grew = true, true
				if !b.Info.State.Terminal() {
					names = append(names, b.Info.Name)
				}
			}
		}
	}
	return names
}

// before returns the order of tabs.
func before(x, y *Tab) int {
	if a, b := x.Info.Kind.HasPrompt(), y.Info.Kind.HasPrompt(); a != b {
		if a {
			return -1
		}
		return 1
	}
	return cmp.Compare(x.Info.ID, y.Info.ID)
}

// put puts a tab in its place; take takes it out.
func put(xs []*Tab, x *Tab) []*Tab {
	i, _ := slices.BinarySearchFunc(xs, x, before)
	return slices.Insert(xs, i, x)
}

func take(xs []*Tab, x *Tab) []*Tab {
	if i := slices.Index(xs, x); i >= 0 {
		return slices.Delete(xs, i, i+1)
	}
	return xs
}

func (t *Tabs) Add(x *Tab) {
	t.All = put(t.All, x)
	t.recent = append(t.recent, x)
	t.countIn(x)
	if t.Focus == nil {
		t.Focus = x
	}
}

// countIn counts a tab in, countOut out.
func (t *Tabs) countIn(x *Tab) {
	if t.ids == nil {
		t.ids, t.asking = map[int64]*Tab{}, map[*Tab]bool{}
	}
	t.ids[x.Info.ID] = x
	t.Pending += x.Info.Pending
	switch s := x.Info.State; {
	case s == event.Done:
		t.Good++
	case s.Terminal():
		t.Bad++
	default:
		t.Open = put(t.Open, x)
		if s == event.Asking {
			t.asking[x] = true
		}
	}
}

func (t *Tabs) countOut(x *Tab) {
	delete(t.ids, x.Info.ID)
	delete(t.asking, x)
	t.Pending -= x.Info.Pending
	switch s := x.Info.State; {
	case s == event.Done:
		t.Good--
	case s.Terminal():
		t.Bad--
	default:
		t.Open = take(t.Open, x)
	}
}

// Note updates the state of a tab's agent.
func (t *Tabs) Note(x *Tab, i event.Info) {
	was := x.Info
	if was.State == i.State && was.ID == i.ID && was.Kind == i.Kind {
		t.Pending += i.Pending - was.Pending
		x.Info = i
		if was.Name != i.Name || was.Parent != i.Parent {
			t.Version++
		}
		return
	}
	t.countOut(x)
	if was.ID != i.ID || was.Kind != i.Kind {
		t.All = take(t.All, x)
		x.Info = i
		t.All = put(t.All, x)
	}
	x.Info = i
	t.countIn(x)
	t.Version++
}

func (t *Tabs) Remove(id int64) {
	x := t.ids[id]
	if x == nil {
		return
	}
	t.countOut(x)
	t.Version++
	t.All, t.recent = take(t.All, x), take(t.recent, x)
	if t.Focus == x {
		t.Focus = nil
		if len(t.recent) > 0 {
			t.Focus = t.recent[0]
		}
	}
	t.walk = max(0, slices.Index(t.recent, t.Focus))
}

// count returns how many tabs the row has.
func (t *Tabs) count() int {
	switch {
	case !t.folded:
		return len(t.All)
	case t.Focus != nil && t.Focus.Info.State.Terminal():
		return len(t.Open) + 1
	}
	return len(t.Open)
}

// inRow returns the i-th tab of the row.
func (t *Tabs) inRow(i int) *Tab {
	switch {
	case !t.folded:
		return t.All[i]
	case i < len(t.Open):
		return t.Open[i]
	}
	return t.Focus
}

// placeOf returns a tab's place in the row.
func (t *Tabs) placeOf(x *Tab) int {
	xs := t.All
	if t.folded {
		if xs = t.Open; x.Info.State.Terminal() {
			return len(xs)
		}
	}
	i, _ := slices.BinarySearchFunc(xs, x, before)
	return i
}

// Number returns the number with which Alt goes to a tab; 0: none does.
func (t *Tabs) Number(x *Tab) int {
	if n := t.placeOf(x) + 1; n <= 9 {
		return n
	}
	return 0
}

// To focuses a tab; it becomes the most recently used, followed by the one where a walk ended.
func (t *Tabs) To(x *Tab) {
	if t.walk != 0 {
		t.front(t.Focus)
	}
	t.front(x)
	t.Focus, t.walk = x, 0
}

// front makes a tab the most recently used.
func (t *Tabs) front(x *Tab) {
	if i := slices.Index(t.recent, x); i > 0 {
		copy(t.recent[1:], t.recent[:i])
		t.recent[0] = x
	}
}

// Last returns the tab used before the focused one; nil if there is none.
func (t *Tabs) Last() *Tab {
	for _, x := range t.recent {
		if x != t.Focus {
			return x
		}
	}
	return nil
}

// Nth focuses the n-th tab from 1.
func (t *Tabs) Nth(n int) {
	if n >= 1 && n <= t.count() {
		t.To(t.inRow(n - 1))
	}
}

// Next focuses the neighbour to the right (1) or left (-1).
func (t *Tabs) Next(by int) {
	if n := t.count(); n > 0 && t.Focus != nil {
		t.To(t.inRow((t.placeOf(t.Focus) + by + n) % n))
	}
}

// Back walks the recently used tabs as window managers do: the first press after a pause goes to the previous tab,
// presses less than a second apart walk on. The order of use changes only when the walk is over.
func (t *Tabs) Back(now time.Time, by int) {
	n := len(t.recent)
	if n < 2 {
		return
	}
	if now.Sub(t.walked) > walkPause {
		t.To(t.Focus)
	}
	t.walked = now
	t.walk = (t.walk + by + n) % n
	t.Focus = t.recent[t.walk]
}

// Apply adds an event to the transcript. Events that come before the tab's newest page was read wait for it; entries
// in the page are not shown twice.
func (t *Tab) Apply(e event.Event) {
	if !t.Loaded {
		if t.Asked {
			t.backlog = append(t.backlog, e)
		} else if _, ok := e.(event.Delta); ok {
			t.backlog = append(t.backlog, e)
		} else if x, ok := e.(event.Appended); ok && x.Live {
			t.backlog = nil // the page will hold it
		} else if _, ok := e.(event.Void); ok {
			t.backlog = nil
		}
		return
	}
	switch e := e.(type) {
	case event.Appended:
		es := e.Entries
		for len(es) > 0 && es[0].Seq <= t.Newest {
			es = es[1:]
		}
		for _, x := range es {
			t.latest = max(t.latest, x.Seq)
		}
		if e.Live {
			t.View.Record(es)
			t.Panes.record(es)
			return
		}
		t.View.Append(es)
		t.Panes.extend(es)
	case event.Delta:
		t.View.Delta(e)
		t.Panes.stream(e)
	case event.Void:
		t.View.Void()
		t.Panes.void()
	}
}

// ShowPage shows the newest page of the transcript, then what came meanwhile.
func (t *Tab) ShowPage(es []history.Entry) {
	t.Loaded = true
	backlog := t.backlog
	t.backlog = nil
	back := transcript.Aside(t.View)
	t.Apply(event.Appended{Agent: t.Info.ID, Entries: es})
	back()
	if n := len(es); n > 0 {
		t.Newest = es[n-1].Seq
	}
	for _, e := range backlog {
		t.Apply(e)
	}
}
