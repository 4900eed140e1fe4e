package ui

import (
	"cmp"
	"slices"
	"time"

	"fantail/agents"
	"fantail/ui/composer"
	"fantail/ui/dialog"
	"fantail/ui/transcript"
)

// tab is the screen's part of one agent.
type tab struct {
	info agents.Info
	view *transcript.View
	box  *composer.Box // nil for an agent without a prompt box
	line *line         // the one-line box of such a tab, if open

	loaded  bool           // its newest page is shown
	asked   bool           // that page was asked for
	newest  int64          // the Seq of that page's newest entry
	latest  int64          // the highest Seq of the entries shown
	backlog []agents.Event // what came before the page

	question dialog.Question // for the agent's question, made when it is first shown
	about    int64           // the question it is for
	news     bool            // a message came since the tab was last looked at; see marks.go

	panes  panes
	active time.Time // the agent's last sign of life
}

// line is a one-line box in the tab of an agent without a prompt box.
type line struct {
	box   *composer.Box
	mail  bool // to the agent; else a command as main
	label string
}

// walkPause ends a walk through the recently used tabs.
const walkPause = time.Second

// tabs are the tabs: main and helpers first, then the others as they were
// opened; and the order of their use.
type tabs struct {
	all     []*tab
	open    []*tab // of all, those that have not ended
	ids     map[int64]*tab
	asking  map[*tab]bool
	good    int // of those that ended
	bad     int
	pending int // messages in all inboxes
	version int // counts changes of who there is, of names and of states
	folded  bool

	focus  *tab
	recent []*tab // most recently used first
	walk   int    // the place in recent of a walk that goes on
	walked time.Time
}

func (t *tabs) byID(id int64) *tab { return t.ids[id] }

func (t *tabs) byName(name string) *tab {
	for _, x := range t.all {
		if x.info.Name == name {
			return x
		}
	}
	return nil
}

// main is the tab of main.
func (t *tabs) main() *tab {
	for _, x := range t.all {
		if x.info.Kind == agents.Main {
			return x
		}
	}
	return nil
}

// childrenOf are the tabs of the agents whose work that one dispatched.
func (t *tabs) childrenOf(id int64) []*tab {
	var xs []*tab
	for _, x := range t.all {
		if x.info.Parent == id {
			xs = append(xs, x)
		}
	}
	return xs
}

// before is the order of tabs.
func before(x, y *tab) int {
	if a, b := x.info.Kind.HasPrompt(), y.info.Kind.HasPrompt(); a != b {
		if a {
			return -1
		}
		return 1
	}
	return cmp.Compare(x.info.ID, y.info.ID)
}

// put puts a tab into its place; take takes it out.
func put(xs []*tab, x *tab) []*tab {
	i, _ := slices.BinarySearchFunc(xs, x, before)
	return slices.Insert(xs, i, x)
}

func take(xs []*tab, x *tab) []*tab {
	if i := slices.Index(xs, x); i >= 0 {
		return slices.Delete(xs, i, i+1)
	}
	return xs
}

func (t *tabs) add(x *tab) {
	t.all = put(t.all, x)
	t.recent = append(t.recent, x)
	t.enter(x)
	if t.focus == nil {
		t.focus = x
	}
}

// enter counts a tab in; leave counts it out.
func (t *tabs) enter(x *tab) {
	if t.ids == nil {
		t.ids, t.asking = map[int64]*tab{}, map[*tab]bool{}
	}
	t.ids[x.info.ID] = x
	t.pending += x.info.Pending
	switch s := x.info.State; {
	case s == agents.Done:
		t.good++
	case s.Terminal():
		t.bad++
	default:
		t.open = put(t.open, x)
		if s == agents.Asking {
			t.asking[x] = true
		}
	}
}

func (t *tabs) leave(x *tab) {
	delete(t.ids, x.info.ID)
	delete(t.asking, x)
	t.pending -= x.info.Pending
	switch s := x.info.State; {
	case s == agents.Done:
		t.good--
	case s.Terminal():
		t.bad--
	default:
		t.open = take(t.open, x)
	}
}

// note replaces what is known of a tab's agent.
func (t *tabs) note(x *tab, i agents.Info) {
	was := x.info
	if was.State == i.State && was.ID == i.ID && was.Kind == i.Kind {
		t.pending += i.Pending - was.Pending
		x.info = i
		if was.Name != i.Name || was.Parent != i.Parent {
			t.version++
		}
		return
	}
	t.leave(x)
	if was.ID != i.ID || was.Kind != i.Kind {
		t.all = take(t.all, x)
		x.info = i
		t.all = put(t.all, x)
	}
	x.info = i
	t.enter(x)
	t.version++
}

func (t *tabs) remove(id int64) {
	x := t.ids[id]
	if x == nil {
		return
	}
	t.leave(x)
	t.version++
	t.all, t.recent = take(t.all, x), take(t.recent, x)
	if t.focus == x {
		t.focus = nil
		if len(t.recent) > 0 {
			t.focus = t.recent[0]
		}
	}
	t.walk = max(0, slices.Index(t.recent, t.focus))
}

// A row that has no room for all tabs folds those that have ended, but for the
// focused one, which then stands behind the others.

// count is how many tabs the row has.
func (t *tabs) count() int {
	switch {
	case !t.folded:
		return len(t.all)
	case t.focus != nil && t.focus.info.State.Terminal():
		return len(t.open) + 1
	}
	return len(t.open)
}

// inRow is the i-th tab of the row.
func (t *tabs) inRow(i int) *tab {
	switch {
	case !t.folded:
		return t.all[i]
	case i < len(t.open):
		return t.open[i]
	}
	return t.focus
}

// placeOf is where a tab of the row stands in it.
func (t *tabs) placeOf(x *tab) int {
	xs := t.all
	if t.folded {
		if xs = t.open; x.info.State.Terminal() {
			return len(xs)
		}
	}
	i, _ := slices.BinarySearchFunc(xs, x, before)
	return i
}

// to focuses a tab; it becomes the most recently used, before the one a walk
// ended on.
func (t *tabs) to(x *tab) {
	if t.walk != 0 {
		t.front(t.focus)
	}
	t.front(x)
	t.focus, t.walk = x, 0
}

// front makes a tab the most recently used.
func (t *tabs) front(x *tab) {
	if i := slices.Index(t.recent, x); i > 0 {
		copy(t.recent[1:], t.recent[:i])
		t.recent[0] = x
	}
}

// last is the tab used before the focused one; nil if there is none.
func (t *tabs) last() *tab {
	for _, x := range t.recent {
		if x != t.focus {
			return x
		}
	}
	return nil
}

// nth focuses the n-th tab from 1.
func (t *tabs) nth(n int) {
	if n >= 1 && n <= t.count() {
		t.to(t.inRow(n - 1))
	}
}

// next focuses the neighbour to the right (1) or left (-1).
func (t *tabs) next(by int) {
	if n := t.count(); n > 0 && t.focus != nil {
		t.to(t.inRow((t.placeOf(t.focus) + by + n) % n))
	}
}

// back walks the recently used tabs as windows do: the first press after a
// pause goes to the previous one, presses less than a second apart walk on. The
// order of use changes once the walk is over.
func (t *tabs) back(now time.Time, by int) {
	n := len(t.recent)
	if n < 2 {
		return
	}
	if now.Sub(t.walked) > walkPause {
		t.to(t.focus)
	}
	t.walked = now
	t.walk = (t.walk + by + n) % n
	t.focus = t.recent[t.walk]
}
